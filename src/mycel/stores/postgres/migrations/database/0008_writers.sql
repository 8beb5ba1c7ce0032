-- Old and new nodes run side by side while a workspace is upgraded. A step that those who do not know it would write past
-- raises `oldest_writer` to its own number; from then on their writes are refused here, whatever they have checked.
ALTER TABLE schema_version ADD COLUMN oldest_writer integer NOT NULL DEFAULT 0;

CREATE FUNCTION require_writer(known integer) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF known < (SELECT oldest_writer FROM mycel.schema_version) THEN
    RAISE EXCEPTION 'a node of an older schema' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
END $$;
