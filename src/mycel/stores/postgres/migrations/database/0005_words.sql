-- The numbers of a memory's terms as bytes too, which travel to whoever scores them without being taken apart.
ALTER TABLE memory_terms ADD COLUMN numbers bytea NOT NULL DEFAULT '';
UPDATE memory_terms SET numbers = coalesce(
  (SELECT string_agg(int8send(t.term), '' ORDER BY t.place) FROM unnest(terms) WITH ORDINALITY AS t (term, place)), '');
ALTER TABLE memory_terms SET (toast_tuple_target = 8160);

-- Below a policy an index is used only for conditions known to leak nothing, and that on arrays is not among them. A view
-- of the owner asks for the team by itself, and leaves the choice of an index to the planner.
DROP FUNCTION memories_with(bigint[]);
CREATE VIEW searched_terms AS
  SELECT number, tokens, terms, numbers, counts FROM memory_terms WHERE team_id = (SELECT current_team());
GRANT SELECT ON searched_terms TO mycel_service;

-- How many memories that are not deleted are for whom, and how long they are together: figures over what one reader sees
-- are sums of a few of these. Triggers keep it.
CREATE TABLE audiences (
  visibility text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  allowed_roles text COLLATE "C" NOT NULL,
  documents bigint NOT NULL,
  tokens bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, visibility, agent_id, allowed_roles)
);

-- Who wrote what everybody sees makes no difference to anybody.
CREATE FUNCTION audience_author(visibility text, agent_id text) RETURNS text
  LANGUAGE sql IMMUTABLE RETURN CASE visibility WHEN 'team' THEN '' ELSE agent_id END;
CREATE FUNCTION audience_roles(visibility text, allowed_roles text) RETURNS text
  LANGUAGE sql IMMUTABLE RETURN CASE visibility WHEN 'role' THEN coalesce(allowed_roles, '') ELSE '' END;

-- Planned every time: a plan made while the table was empty reads all of it for every row.
CREATE FUNCTION terms_inserted() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  INSERT INTO audiences
  SELECT m.visibility, audience_author(m.visibility, m.agent_id), audience_roles(m.visibility, m.allowed_roles), count(*),
    sum(greatest(t.tokens, 1)), t.team_id
  FROM written t CROSS JOIN LATERAL (
    SELECT visibility, agent_id, allowed_roles FROM memories
    WHERE team_id = t.team_id AND number = t.number AND deleted_at IS NULL OFFSET 0) m
  GROUP BY 1, 2, 3, t.team_id
  ON CONFLICT (team_id, visibility, agent_id, allowed_roles) DO UPDATE
  SET documents = audiences.documents + excluded.documents, tokens = audiences.tokens + excluded.tokens;
  RETURN NULL;
END $$;

CREATE FUNCTION count_documents(
  team text, seen_by text, author text, roles text, more_documents bigint, more_tokens bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE audiences SET documents = documents + more_documents, tokens = tokens + more_tokens
  WHERE team_id = team AND visibility = seen_by AND agent_id = audience_author(seen_by, author)
    AND allowed_roles = audience_roles(seen_by, roles);
  IF NOT FOUND AND more_documents > 0 THEN
    INSERT INTO audiences
    VALUES (
      seen_by, audience_author(seen_by, author), audience_roles(seen_by, roles), more_documents, more_tokens, team);
  END IF;
END $$;

CREATE FUNCTION terms_changed() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  PERFORM count_documents(
    team_id, visibility, agent_id, allowed_roles, CASE tg_op WHEN 'UPDATE' THEN 0 ELSE -1 END,
    CASE tg_op WHEN 'UPDATE' THEN greatest(new.tokens, 1) ELSE 0 END - greatest(old.tokens, 1))
  FROM memories WHERE team_id = old.team_id AND number = old.number AND deleted_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER terms_inserted AFTER INSERT ON memory_terms REFERENCING NEW TABLE AS written
FOR EACH STATEMENT EXECUTE FUNCTION terms_inserted();
CREATE TRIGGER terms_changed AFTER UPDATE OR DELETE ON memory_terms
FOR EACH ROW EXECUTE FUNCTION terms_changed();

CREATE FUNCTION memory_counted() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
  length bigint;
BEGIN
  SELECT greatest(tokens, 1) INTO length FROM memory_terms WHERE team_id = old.team_id AND number = old.number;
  IF length IS NOT NULL AND old.deleted_at IS NULL THEN
    PERFORM count_documents(old.team_id, old.visibility, old.agent_id, old.allowed_roles, -1, -length);
  END IF;
  IF length IS NOT NULL AND tg_op = 'UPDATE' AND new.deleted_at IS NULL THEN
    PERFORM count_documents(new.team_id, new.visibility, new.agent_id, new.allowed_roles, 1, length);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER memory_changed_audience AFTER UPDATE ON memories FOR EACH ROW
WHEN ((old.visibility, old.agent_id, old.allowed_roles, old.deleted_at IS NULL)
  IS DISTINCT FROM (new.visibility, new.agent_id, new.allowed_roles, new.deleted_at IS NULL))
EXECUTE FUNCTION memory_counted();
CREATE TRIGGER memory_left_audience AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION memory_counted();

DO $$ BEGIN
  EXECUTE format('CREATE POLICY owner_sees_all ON audiences TO %I USING (true)', current_user);
END $$;
ALTER TABLE audiences ENABLE ROW LEVEL SECURITY;
ALTER TABLE audiences FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON audiences TO mycel_service USING (team_id = current_team());
GRANT SELECT, INSERT, UPDATE, DELETE ON audiences TO mycel_service;
INSERT INTO audiences
SELECT m.visibility, audience_author(m.visibility, m.agent_id), audience_roles(m.visibility, m.allowed_roles), count(*),
  sum(greatest(t.tokens, 1)), m.team_id
FROM memories m JOIN memory_terms t ON t.team_id = m.team_id AND t.number = m.number
WHERE m.deleted_at IS NULL GROUP BY 1, 2, 3, m.team_id;
