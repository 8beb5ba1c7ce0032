-- When a memory holds in the world. `valid_from` and `valid_to` are when a version is believed.
ALTER TABLE memories ADD COLUMN holds_from bigint, ADD COLUMN holds_until bigint;
ALTER TABLE memory_versions ADD COLUMN holds_from bigint, ADD COLUMN holds_until bigint;
ALTER TABLE passages ADD COLUMN holds_from bigint, ADD COLUMN holds_until bigint;

CREATE OR REPLACE FUNCTION passages_of_new_memories() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO passages (
    number, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type, scope,
    project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, team_id,
    holds_from, holds_until)
  SELECT
    number, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type, scope,
    project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, team_id,
    holds_from, holds_until
  FROM written;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION passages_of_changed_memory() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
BEGIN
  UPDATE passages SET (
    deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles, type, scope,
    project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by,
    holds_from, holds_until
  ) = (
    new.deleted_at, new.expires_at, new.created_at, new.valid_from, new.visibility, new.status, new.agent_id,
    new.allowed_roles, new.type, new.scope, new.project_id, new.repo_id, new.path, new.category, new.key, new.session_id,
    new.task_id, new.source_id, new.made_by, new.holds_from, new.holds_until
  ) WHERE team_id = new.team_id AND number = new.number;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION passage_with_vector() RETURNS trigger LANGUAGE plpgsql
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
      direction, team_id, holds_from, holds_until)
    SELECT
      number, new.passage, deleted_at, expires_at, created_at, valid_from, visibility, status, agent_id, allowed_roles,
      type, scope, project_id, repo_id, path, category, key, session_id, task_id, source_id, made_by, id, new.model,
      1 / l2_norm(pointed), pointed, team_id, holds_from, holds_until
    FROM passages WHERE team_id = new.team_id AND number = new.number AND passage = 0;
  END IF;
  RETURN NULL;
END $$;
