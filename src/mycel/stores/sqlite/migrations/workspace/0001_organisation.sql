CREATE TABLE teams (
  name TEXT PRIMARY KEY,
  parent TEXT REFERENCES teams (name),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  id TEXT PRIMARY KEY,
  team TEXT NOT NULL REFERENCES teams (name),
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  trust TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX members_of_team ON members (team);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  member_id TEXT NOT NULL REFERENCES members (id),
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of_member ON tokens (member_id);
