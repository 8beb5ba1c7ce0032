CREATE TABLE knowledge (
  id          TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(8)))),
  project     TEXT NOT NULL,
  category    TEXT NOT NULL,        -- 'convention', 'architecture', 'decision', 'fact'
  key         TEXT NOT NULL,
  value       TEXT NOT NULL,
  source      TEXT,                 -- agent ID or 'user' or 'orchestrator'
  confidence  REAL DEFAULT 1.0,    -- 0.0 to 1.0
  created_at  TEXT DEFAULT (datetime('now')),
  updated_at  TEXT DEFAULT (datetime('now')),
  UNIQUE(project, category, key)
);

CREATE INDEX idx_knowledge_project ON knowledge(project);
CREATE INDEX idx_knowledge_category ON knowledge(project, category);

CREATE TABLE episodes (
  id          TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(8)))),
  task_id     TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  action      TEXT NOT NULL,         -- 'attempted', 'completed', 'failed', 'retried'
  approach    TEXT NOT NULL,         -- description of what was tried
  outcome     TEXT,                  -- description of what happened
  duration_ms INTEGER,
  tokens_in   INTEGER,
  tokens_out  INTEGER,
  created_at  TEXT DEFAULT (datetime('now')),
  FOREIGN KEY (task_id) REFERENCES tasks(id)
);

CREATE INDEX idx_episodes_task ON episodes(task_id);
CREATE INDEX idx_episodes_agent ON episodes(agent_id);
CREATE INDEX idx_episodes_action ON episodes(action);

CREATE TABLE artifacts (
  id          TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(8)))),
  task_id     TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  type        TEXT NOT NULL,         -- 'file', 'patch', 'test', 'document', 'config'
  path        TEXT NOT NULL,         -- relative path within workspace
  description TEXT,
  size_bytes  INTEGER,
  checksum    TEXT,                  -- SHA-256 of content at creation time
  created_at  TEXT DEFAULT (datetime('now')),
  FOREIGN KEY (task_id) REFERENCES tasks(id)
);

CREATE INDEX idx_artifacts_task ON artifacts(task_id);
CREATE INDEX idx_artifacts_type ON artifacts(type);
CREATE INDEX idx_artifacts_path ON artifacts(path);
