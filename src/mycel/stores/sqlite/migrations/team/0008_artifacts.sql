-- What an agent produced. Its texts stand in the content of the memory alone; the offsets count characters of it.
CREATE TABLE artifacts (
  number INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  type TEXT NOT NULL,
  path TEXT NOT NULL,
  size_bytes INTEGER,
  checksum TEXT,
  description_end INTEGER,
  text_start INTEGER
) STRICT;
CREATE INDEX artifacts_by_path ON artifacts (path);
CREATE INDEX artifacts_by_type ON artifacts (type);
CREATE INDEX artifacts_by_agent ON artifacts (agent_id);
