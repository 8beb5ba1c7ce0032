-- Locks the team where it still stands as it was read: then a node can send all it has to write together with the lock,
-- which is held for as long as the server needs, and not while the node finds the time to go on.
CREATE FUNCTION require_head(committed bigint, last_number bigint, last_sequence bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM mycel.heads
  WHERE team_id = mycel.current_team() AND committed_at = committed AND number = last_number AND sequence = last_sequence
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the team was written to meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;
