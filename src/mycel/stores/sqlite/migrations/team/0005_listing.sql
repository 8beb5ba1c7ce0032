-- The text last, after what was added later: a list of sources then stays off the pages that hold the texts.
CREATE TABLE sources_anew (
  id TEXT PRIMARY KEY,
  visibility TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  allowed_roles TEXT,
  kind TEXT NOT NULL,
  session_id TEXT,
  uri TEXT,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  title TEXT,
  project_id TEXT,
  repo_id TEXT,
  task_id TEXT,
  thread_id TEXT,
  trust TEXT NOT NULL DEFAULT 'normal',
  extracted_to INTEGER NOT NULL DEFAULT 0,
  turns TEXT,
  text TEXT NOT NULL
) STRICT;
INSERT INTO sources_anew
SELECT id, visibility, agent_id, allowed_roles, kind, session_id, uri, sha256, created_at, title, project_id, repo_id,
  task_id, thread_id, trust, extracted_to, turns, text
FROM sources ORDER BY rowid;
DROP TABLE sources;
ALTER TABLE sources_anew RENAME TO sources;
CREATE INDEX sources_by_time ON sources (created_at);
CREATE INDEX sources_by_hash ON sources (sha256, agent_id);
CREATE INDEX sources_by_uri ON sources (uri) WHERE uri IS NOT NULL;
CREATE INDEX sources_by_thread ON sources (thread_id, agent_id) WHERE thread_id IS NOT NULL;
CREATE INDEX sources_by_session ON sources (session_id, agent_id) WHERE session_id IS NOT NULL;
