-- Where the memories of a source belong, who said what in it, and how far it has been looked at.
ALTER TABLE sources ADD COLUMN title TEXT;
ALTER TABLE sources ADD COLUMN project_id TEXT;
ALTER TABLE sources ADD COLUMN repo_id TEXT;
ALTER TABLE sources ADD COLUMN task_id TEXT;
ALTER TABLE sources ADD COLUMN thread_id TEXT;
ALTER TABLE sources ADD COLUMN turns TEXT;
ALTER TABLE sources ADD COLUMN trust TEXT NOT NULL DEFAULT 'normal';
ALTER TABLE sources ADD COLUMN extracted_to INTEGER NOT NULL DEFAULT 0;
-- The same material twice is one source, and so is a session that reports again.
CREATE INDEX sources_by_hash ON sources (sha256, agent_id);
CREATE INDEX sources_by_uri ON sources (uri) WHERE uri IS NOT NULL;
CREATE INDEX sources_by_thread ON sources (thread_id, agent_id) WHERE thread_id IS NOT NULL;
CREATE INDEX sources_by_session ON sources (session_id, agent_id) WHERE session_id IS NOT NULL;

ALTER TABLE ingestion_events ADD COLUMN steps TEXT NOT NULL DEFAULT '';
ALTER TABLE ingestion_events ADD COLUMN takeovers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ingestion_events ADD COLUMN due_at INTEGER;
ALTER TABLE ingestion_events ADD COLUMN lease TEXT;
CREATE INDEX ingestion_events_waiting ON ingestion_events (due_at) WHERE state IN ('pending', 'failed');
CREATE INDEX ingestion_events_running ON ingestion_events (lease_until) WHERE state = 'running';

-- One row per run of consolidation, and one per memory it touched: as it was before, and after.
CREATE TABLE reports (
  id TEXT PRIMARY KEY,
  made_by TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  undone_by TEXT,
  undone_at INTEGER,
  kept TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE report_actions (
  report_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  other_id TEXT,
  why TEXT NOT NULL,
  PRIMARY KEY (report_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX report_actions_of ON report_actions (memory_id);
CREATE INDEX report_actions_against ON report_actions (other_id) WHERE other_id IS NOT NULL;

CREATE TABLE report_changes (
  report_id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  before_version INTEGER NOT NULL,
  after_version INTEGER NOT NULL,
  PRIMARY KEY (report_id, memory_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE report_links (
  report_id TEXT NOT NULL,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  PRIMARY KEY (report_id, from_id, to_id, relation)
) STRICT, WITHOUT ROWID;

CREATE INDEX memories_contested ON memories (number) WHERE instr(metadata, '"mycel_contested"') > 0;

-- How far the engine has come: the last change consolidated, the last night's maintenance.
CREATE TABLE progress (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is sent to other teams. Its event is armed again by every later version, in the transaction that makes it.
CREATE TABLE cascades (
  memory_id TEXT PRIMARY KEY,
  event_id TEXT NOT NULL,
  direction TEXT NOT NULL,
  started_by TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  withdrawn_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX cascades_by_event ON cascades (event_id);

CREATE TABLE deliveries (
  memory_id TEXT NOT NULL,
  team TEXT NOT NULL,
  version INTEGER NOT NULL,
  delivered_at INTEGER NOT NULL,
  PRIMARY KEY (memory_id, team)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER cascade_later_version AFTER UPDATE OF version ON memories
WHEN EXISTS (SELECT 1 FROM cascades WHERE memory_id = new.id)
BEGIN
  UPDATE ingestion_events SET state = 'pending', due_at = new.valid_from, lease = NULL, lease_until = NULL, tries = 0
  WHERE id = (SELECT event_id FROM cascades WHERE memory_id = new.id);
END;

CREATE TRIGGER cascade_purge AFTER DELETE ON memories
WHEN EXISTS (SELECT 1 FROM cascades WHERE memory_id = old.id)
BEGIN
  UPDATE ingestion_events SET state = 'pending', due_at = 0, lease = NULL, lease_until = NULL, tries = 0
  WHERE id = (SELECT event_id FROM cascades WHERE memory_id = old.id);
END;
