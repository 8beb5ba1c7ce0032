-- What was purged from a session's sources: to be recognised in its later reports, not to be read.
CREATE TABLE purged_passages (
  source_id TEXT NOT NULL,
  words INTEGER NOT NULL,
  letters INTEGER NOT NULL,
  key BLOB NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (source_id, digest)
) STRICT, WITHOUT ROWID;
