-- What agents were given, as they saw it, and which memories were in it.
CREATE TABLE injections (
  id TEXT PRIMARY KEY NOT NULL,
  member_id TEXT NOT NULL,
  occasion TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  session_id TEXT,
  task_id TEXT,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX injections_of_member ON injections (member_id, id);
CREATE INDEX injections_of_session ON injections (session_id, id) WHERE session_id IS NOT NULL;

CREATE TABLE injection_memories (
  memory_id TEXT NOT NULL,
  injection_id TEXT NOT NULL,
  PRIMARY KEY (memory_id, injection_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memories_of_injection ON injection_memories (injection_id);

-- One row for every change of something that is no memory; those of memories stand in `changes`.
CREATE TABLE actions (
  id TEXT PRIMARY KEY NOT NULL,
  operation TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  subject TEXT NOT NULL,
  memory_id TEXT,
  own INTEGER NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX actions_by_memory ON actions (memory_id) WHERE memory_id IS NOT NULL;

CREATE INDEX recalls_of_member ON recalls (member_id, recalled_at);
CREATE INDEX sources_of_member ON sources (agent_id, created_at);
