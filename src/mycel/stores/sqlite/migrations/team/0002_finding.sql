-- Vectors of the present texts, one row per passage. Ids only grow, so that a reader with a cursor misses none.
CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  number INTEGER NOT NULL,
  passage INTEGER NOT NULL,
  version INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  text_hash BLOB NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX embeddings_of ON embeddings (number, passage);

-- How far a model has come: through the memories that stood when it began, up to `last_number`, then along the log.
CREATE TABLE embedding_progress (
  model TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a search was asked, what it answered and by which numbers, so that it can be explained later.
ALTER TABLE recalls ADD COLUMN request TEXT NOT NULL DEFAULT '{}';
ALTER TABLE recalls ADD COLUMN degraded TEXT;
ALTER TABLE recall_hits ADD COLUMN breakdown TEXT NOT NULL DEFAULT '{}';
ALTER TABLE recall_hits ADD COLUMN why TEXT NOT NULL DEFAULT '';
CREATE INDEX recalls_by_time ON recalls (recalled_at);

-- The purged memory's row number: what holds copies by number learns from it what to drop.
ALTER TABLE receipts ADD COLUMN number INTEGER;
CREATE INDEX receipts_by_number ON receipts (number) WHERE number IS NOT NULL;
CREATE INDEX memories_by_category ON memories (category, created_at) WHERE category IS NOT NULL;
