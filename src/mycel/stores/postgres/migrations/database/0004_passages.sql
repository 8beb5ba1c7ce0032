-- As `json_each`, of numbers.
CREATE FUNCTION json_numbers(list text) RETURNS TABLE (value bigint)
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN json_array_elements_text(list::json)::bigint;

-- What searching by meaning reads: a row for every passage that has a vector, and for every memory that has none yet, with
-- all that filters and access rules look at, so that nothing has to be joined. Triggers keep it.
CREATE TABLE passages (
  -- First what nearly every search looks at: the less of a row has to be taken apart, the faster it is passed over.
  number bigint NOT NULL,
  passage bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  valid_from bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  visibility text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  deleted_at bigint,
  expires_at bigint,
  inverse_norm real,
  model text COLLATE "C",
  direction halfvec,
  allowed_roles text COLLATE "C",
  type text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  project_id text COLLATE "C",
  repo_id text COLLATE "C",
  path text COLLATE "C" NOT NULL,
  category text COLLATE "C",
  key text COLLATE "C",
  session_id text COLLATE "C",
  task_id text COLLATE "C",
  source_id text COLLATE "C",
  made_by text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Drawn by the id: some of the lots are a fair sample of any team.
  lot smallint NOT NULL GENERATED ALWAYS AS ((hashtext(id) & 1023)::smallint) STORED,
  PRIMARY KEY (team_id, number, passage)
  -- Vectors stay in their rows for as long as a page holds them.
) WITH (toast_tuple_target = 8160);
-- Its condition always holds, and keeps it from being used where nobody asks for lots.
CREATE INDEX passages_by_lot ON passages (team_id, lot) WHERE lot < 1024;

CREATE FUNCTION passages_of_new_memories() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO passages (
    number, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type, scope,
    project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, team_id)
  SELECT
    number, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type, scope,
    project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, team_id
  FROM written;
  RETURN NULL;
END $$;
CREATE TRIGGER passages_inserted AFTER INSERT ON memories REFERENCING NEW TABLE AS written
FOR EACH STATEMENT EXECUTE FUNCTION passages_of_new_memories();

-- What triggers look up goes by keys, whatever a plan made of an empty table was kept for.
CREATE FUNCTION passages_of_changed_memory() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
  UPDATE passages SET (
    deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type, scope,
    project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by
  ) = (
    new.deleted_at, new.expires_at, new.created_at, new.valid_from, new.visibility, new.status, new.agent_id,
    new.allowed_roles, new.type, new.scope, new.project_id, new.repo_id, new.path, new.category, new.key, new.session_id,
    new.task_id, new.source_id, new.made_by
  ) WHERE team_id = new.team_id AND number = new.number;
  RETURN NULL;
END $$;
CREATE TRIGGER passages_changed AFTER UPDATE ON memories
FOR EACH ROW EXECUTE FUNCTION passages_of_changed_memory();

CREATE FUNCTION passages_of_gone_memory() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
  DELETE FROM passages WHERE team_id = old.team_id AND number = old.number;
  RETURN NULL;
END $$;
CREATE TRIGGER passages_deleted AFTER DELETE ON memories
FOR EACH ROW EXECUTE FUNCTION passages_of_gone_memory();

CREATE FUNCTION passage_with_vector() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
  pointed halfvec := direction_of(new.vector);
BEGIN
  UPDATE passages SET model = new.model, inverse_norm = 1 / l2_norm(pointed), direction = pointed
  WHERE team_id = new.team_id AND number = new.number AND passage = new.passage;
  IF NOT FOUND THEN
    INSERT INTO passages (
      number, passage, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type,
      scope, project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, model, inverse_norm,
      direction, team_id)
    SELECT
      number, new.passage, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles,
      type, scope, project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, new.model,
      1 / l2_norm(pointed), pointed, team_id
    FROM passages WHERE team_id = new.team_id AND number = new.number AND passage = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER passage_embedded AFTER INSERT ON embeddings
FOR EACH ROW EXECUTE FUNCTION passage_with_vector();

CREATE FUNCTION passage_without_vector() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
  IF old.passage = 0 THEN
    UPDATE passages SET model = NULL, inverse_norm = NULL, direction = NULL
    WHERE team_id = old.team_id AND number = old.number AND passage = 0;
  ELSE
    DELETE FROM passages WHERE team_id = old.team_id AND number = old.number AND passage = old.passage;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER passage_unembedded AFTER DELETE ON embeddings
FOR EACH ROW EXECUTE FUNCTION passage_without_vector();

INSERT INTO passages
SELECT
  m.number, coalesce(e.passage, 0), m.created_at, m.valid_from, m.team_id, m.visibility, m.status, m.agent_id,
  m.deleted_at, m.expires_at, 1 / l2_norm(e.direction), e.model, e.direction, m.allowed_roles, m.type, m.scope, m.project_id, m.repo_id,
  m.path, m.category, m.key, m.session_id, m.task_id, m.source_id, m.made_by, m.id
FROM memories m LEFT JOIN embeddings e ON e.team_id = m.team_id AND e.number = m.number;
ALTER TABLE embeddings DROP COLUMN direction;

-- The team is asked for once in a statement, not once for every row that is scanned.
ALTER TABLE passages ENABLE ROW LEVEL SECURITY;
ALTER TABLE passages FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON passages TO mycel_service USING (team_id = (SELECT current_team()));
DO $$ BEGIN
  EXECUTE format('CREATE POLICY owner_sees_all ON passages TO %I USING (true)', current_user);
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON passages TO mycel_service;
