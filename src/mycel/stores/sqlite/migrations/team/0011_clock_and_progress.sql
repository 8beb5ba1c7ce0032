-- Two workers that began with a model at once could leave a mark beyond its own end, or one that had jumped over
-- memories. Where either shows, embedding goes through all of them once more; what has its vectors is only looked at.
CREATE TABLE sound_progress (
  model TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  CHECK (number <= last_number)
) STRICT, WITHOUT ROWID;
INSERT INTO sound_progress
SELECT p.model, p.number, p.last_number, p.sequence FROM embedding_progress p
WHERE p.number <= p.last_number AND NOT EXISTS (
  SELECT 1 FROM memories m WHERE NOT EXISTS (
    SELECT 1 FROM embeddings e WHERE e.number = m.number AND e.passage = 0 AND e.model = p.model));
DROP TABLE embedding_progress;
ALTER TABLE sound_progress RENAME TO embedding_progress;

-- What the clock said when a memory was last written, where its moment in the history had to run ahead of it: after one
-- write by a clock that was years ahead, how long something is kept can only be counted by this.
ALTER TABLE memories ADD COLUMN clock_at INTEGER;
CREATE INDEX episodes_to_prune_by_clock ON memories (clock_at)
WHERE type = 'episode' AND status <> 'archived' AND deleted_at IS NULL;

-- Due at once: the moment of a version may be years ahead of the clock by which events are due.
DROP TRIGGER cascade_later_version;
CREATE TRIGGER cascade_later_version AFTER UPDATE OF version ON memories
WHEN EXISTS (SELECT 1 FROM cascades WHERE memory_id = new.id)
BEGIN
  UPDATE ingestion_events SET state = 'pending', due_at = 0, lease = NULL, lease_until = NULL, tries = 0
  WHERE id = (SELECT event_id FROM cascades WHERE memory_id = new.id);
END;
