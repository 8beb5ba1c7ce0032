-- Times are microseconds since 1970, UTC. Lists and objects are JSON, NULL when empty.

-- What filters look at comes first and the texts last: a scan then stays off their overflow pages.
CREATE TABLE memories (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  visibility TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  allowed_roles TEXT,
  status TEXT NOT NULL,
  deleted_at INTEGER,
  expires_at INTEGER,
  type TEXT NOT NULL,
  scope TEXT NOT NULL,
  project_id TEXT,
  repo_id TEXT,
  path TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  category TEXT,
  key TEXT,
  session_id TEXT,
  task_id TEXT,
  observed_at INTEGER,
  version INTEGER NOT NULL,
  confidence REAL NOT NULL,
  trust TEXT NOT NULL,
  source_kind TEXT NOT NULL,
  made_by TEXT NOT NULL,
  source_id TEXT,
  source_ref TEXT,
  evidence_ref TEXT,
  tags TEXT,
  title TEXT NOT NULL,
  summary TEXT,
  metadata TEXT,
  rationale TEXT,
  alternatives TEXT,
  content TEXT NOT NULL,
  valid_from INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  reason TEXT
) STRICT;
CREATE INDEX memories_by_time ON memories (created_at);
CREATE INDEX memories_by_path ON memories (path);
CREATE INDEX memories_by_project ON memories (project_id, type) WHERE project_id IS NOT NULL;
CREATE INDEX memories_by_repo ON memories (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX memories_by_type ON memories (type, created_at);
CREATE INDEX memories_by_author ON memories (agent_id, created_at);
CREATE INDEX memories_by_status ON memories (status, created_at) WHERE status <> 'active';
CREATE INDEX memories_deleted ON memories (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_by_session ON memories (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_by_task ON memories (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX memories_by_source ON memories (source_id) WHERE source_id IS NOT NULL;
-- One accepted value per key. What not everyone sees is unique per author only: a collision would reveal it.
CREATE UNIQUE INDEX memories_by_key ON memories (
  key, ifnull(project_id, ''), ifnull(category, ''), visibility,
  ifnull(allowed_roles, ''), CASE visibility WHEN 'team' THEN '' ELSE agent_id END
) WHERE key IS NOT NULL AND status = 'active' AND deleted_at IS NULL;

CREATE TABLE memory_tags (
  tag TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (tag, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tags_of ON memory_tags (number);

-- Past states; the present one is in `memories`. Same columns, then when it ended.
CREATE TABLE memory_versions (
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  visibility TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  allowed_roles TEXT,
  status TEXT NOT NULL,
  deleted_at INTEGER,
  expires_at INTEGER,
  type TEXT NOT NULL,
  scope TEXT NOT NULL,
  project_id TEXT,
  repo_id TEXT,
  path TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  category TEXT,
  key TEXT,
  session_id TEXT,
  task_id TEXT,
  observed_at INTEGER,
  version INTEGER NOT NULL,
  confidence REAL NOT NULL,
  trust TEXT NOT NULL,
  source_kind TEXT NOT NULL,
  made_by TEXT NOT NULL,
  source_id TEXT,
  source_ref TEXT,
  evidence_ref TEXT,
  tags TEXT,
  title TEXT NOT NULL,
  summary TEXT,
  metadata TEXT,
  rationale TEXT,
  alternatives TEXT,
  content TEXT NOT NULL,
  valid_from INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  reason TEXT,
  valid_to INTEGER NOT NULL,
  PRIMARY KEY (id, version)
) STRICT, WITHOUT ROWID;

-- Fed by the analyser, which joins its tokens with spaces; so nothing but a space separates here.
CREATE VIRTUAL TABLE memory_words USING fts5 (
  title, summary, content, tags,
  content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._/-:+#@'"
);
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_words, row);

-- Sequences have no gaps: one writer at a time, and the last row is never deleted.
CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY,
  operation TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  committed_at INTEGER NOT NULL,
  path TEXT NOT NULL,
  visibility TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  allowed_roles TEXT,
  old_path TEXT,
  old_visibility TEXT,
  old_agent_id TEXT,
  old_allowed_roles TEXT,
  other_id TEXT
) STRICT;

CREATE INDEX changes_purged ON changes (memory_id) WHERE operation = 'purge';

CREATE TABLE memory_links (
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (from_id, to_id, relation)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_links_to ON memory_links (to_id);

-- Apart from the record, so that reading one never rewrites it.
CREATE TABLE memory_usage (
  memory_id TEXT PRIMARY KEY,
  access_count INTEGER NOT NULL,
  last_accessed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ratings (
  memory_id TEXT NOT NULL,
  member_id TEXT NOT NULL,
  useful INTEGER NOT NULL,
  recall_id TEXT,
  rated_at INTEGER NOT NULL,
  PRIMARY KEY (memory_id, member_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  member_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  requested_at INTEGER NOT NULL,
  PRIMARY KEY (member_id, operation, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (requested_at);
CREATE INDEX requests_of_memory ON requests (memory_id);

CREATE TABLE sources (
  id TEXT PRIMARY KEY,
  visibility TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  allowed_roles TEXT,
  kind TEXT NOT NULL,
  session_id TEXT,
  uri TEXT,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX sources_by_time ON sources (created_at);

CREATE TABLE ingestion_events (
  id TEXT PRIMARY KEY,
  trigger TEXT NOT NULL,
  source_id TEXT,
  scope TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  state TEXT NOT NULL,
  tries INTEGER NOT NULL,
  outcome TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  lease_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX ingestion_events_by_state ON ingestion_events (state, created_at);
CREATE INDEX ingestion_events_of_source ON ingestion_events (source_id);

-- Only those registered by hand: what memories mention is read from them, as far as the reader may see them.
CREATE TABLE projects (
  name TEXT PRIMARY KEY,
  description TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE repos (
  name TEXT PRIMARY KEY,
  project_id TEXT,
  folder TEXT,
  remote TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE saved_views (
  member_id TEXT NOT NULL,
  name TEXT NOT NULL,
  query TEXT,
  filters TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (member_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE recalls (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL,
  query TEXT NOT NULL,
  recalled_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE recall_hits (
  recall_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  score REAL NOT NULL,
  relevance REAL NOT NULL,
  PRIMARY KEY (recall_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX recall_hits_of_memory ON recall_hits (memory_id);

-- The tombstone of a purged memory, and how far its erasure has come.
CREATE TABLE receipts (
  id TEXT PRIMARY KEY,
  memory_id TEXT NOT NULL UNIQUE,
  purged_by TEXT NOT NULL,
  purged_at INTEGER NOT NULL,
  memory_created_at INTEGER NOT NULL,
  scrubbed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE backups (
  location TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;
