-- How many events are in which state, by author where they have no source. Triggers keep it, so that nothing can forget.
CREATE TABLE event_counts (
  agent_id TEXT NOT NULL,
  state TEXT NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (agent_id, state)
) STRICT, WITHOUT ROWID;
INSERT INTO event_counts
SELECT iif(source_id IS NULL, agent_id, '') AS counted, state, count(*) FROM ingestion_events GROUP BY counted, state;

CREATE TRIGGER event_added AFTER INSERT ON ingestion_events
BEGIN
  INSERT INTO event_counts VALUES (iif(new.source_id IS NULL, new.agent_id, ''), new.state, 1)
  ON CONFLICT DO UPDATE SET events = events + 1;
END;

CREATE TRIGGER event_moved AFTER UPDATE OF state, source_id, agent_id ON ingestion_events
WHEN old.state <> new.state OR old.source_id IS NOT new.source_id OR old.agent_id <> new.agent_id
BEGIN
  UPDATE event_counts SET events = events - 1
  WHERE agent_id = iif(old.source_id IS NULL, old.agent_id, '') AND state = old.state;
  INSERT INTO event_counts VALUES (iif(new.source_id IS NULL, new.agent_id, ''), new.state, 1)
  ON CONFLICT DO UPDATE SET events = events + 1;
END;

CREATE TRIGGER event_removed AFTER DELETE ON ingestion_events
BEGIN
  UPDATE event_counts SET events = events - 1
  WHERE agent_id = iif(old.source_id IS NULL, old.agent_id, '') AND state = old.state;
END;

-- From the whole, what a reader may not see is taken away: it is little, and is found by these.
DROP INDEX ingestion_events_of_source;
CREATE INDEX ingestion_events_of_source ON ingestion_events (source_id, state);
CREATE INDEX sources_not_for_all ON sources (id, visibility, agent_id, allowed_roles) WHERE visibility <> 'team';
CREATE INDEX memories_hiding_source ON memories (source_id, visibility, agent_id, allowed_roles)
WHERE source_id IS NOT NULL AND visibility <> 'team';
