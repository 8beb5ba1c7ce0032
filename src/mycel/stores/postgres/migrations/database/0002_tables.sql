-- Every table of a team is keyed by the team first. `team_id` is filled in from the setting of the transaction, and the
-- policies at the end of this file let nobody see or write another team's rows: so no query has to name it.

CREATE TABLE teams (
  name text COLLATE "C" PRIMARY KEY,
  parent text COLLATE "C" REFERENCES teams (name),
  created_at bigint NOT NULL,
  policy text
);

CREATE TABLE members (
  id text COLLATE "C" PRIMARY KEY,
  team text COLLATE "C" NOT NULL REFERENCES teams (name),
  role text NOT NULL,
  kind text NOT NULL,
  trust text NOT NULL,
  created_at bigint NOT NULL,
  removed_at bigint
);
CREATE INDEX members_of_team ON members (team);

CREATE TABLE tokens (
  id text COLLATE "C" PRIMARY KEY,
  secret_hash text NOT NULL UNIQUE,
  member_id text COLLATE "C" NOT NULL REFERENCES members (id),
  label text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  parent_id text COLLATE "C" REFERENCES tokens (id)
);
CREATE INDEX tokens_of_member ON tokens (member_id);
CREATE INDEX tokens_of_parent ON tokens (parent_id);

-- One row says how often the organisation has changed.
CREATE TABLE organisation (revision bigint NOT NULL);
INSERT INTO organisation VALUES (0);

-- One row per team that has ever written, locked by whoever writes: the last change, its moment, the last number given
-- to a memory, how often it was written to, and how often it was noted who has read what.
CREATE TABLE heads (
  sequence bigint NOT NULL DEFAULT 0,
  committed_at bigint NOT NULL DEFAULT 0,
  number bigint NOT NULL DEFAULT 0,
  writes bigint NOT NULL DEFAULT 0,
  readings bigint NOT NULL DEFAULT 0,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id)
);

CREATE FUNCTION next_sequence() RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
  UPDATE heads SET sequence = sequence + 1 WHERE team_id = current_team() RETURNING sequence;
END;

-- The present. Times are microseconds since 1970, UTC. Lists and objects are JSON, NULL when empty.
CREATE TABLE memories (
  number bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  visibility text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  allowed_roles text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  deleted_at bigint,
  expires_at bigint,
  type text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  project_id text COLLATE "C",
  repo_id text COLLATE "C",
  path text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  category text COLLATE "C",
  key text COLLATE "C",
  session_id text COLLATE "C",
  task_id text COLLATE "C",
  observed_at bigint,
  version bigint NOT NULL,
  confidence double precision NOT NULL,
  trust text COLLATE "C" NOT NULL,
  source_kind text COLLATE "C" NOT NULL,
  made_by text COLLATE "C" NOT NULL,
  source_id text COLLATE "C",
  source_ref text COLLATE "C",
  evidence_ref text COLLATE "C",
  tags text COLLATE "C",
  title text COLLATE "C" NOT NULL,
  summary text COLLATE "C",
  metadata text COLLATE "C",
  rationale text COLLATE "C",
  alternatives text COLLATE "C",
  content text COLLATE "C" NOT NULL,
  valid_from bigint NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  clock_at bigint,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, number),
  UNIQUE (team_id, id)
);
CREATE INDEX episodes_to_prune ON memories (team_id, created_at)
  WHERE type = 'episode' AND status <> 'archived' AND deleted_at IS NULL;
CREATE INDEX episodes_to_prune_by_clock ON memories (team_id, clock_at)
  WHERE type = 'episode' AND status <> 'archived' AND deleted_at IS NULL;
CREATE INDEX memories_by_author ON memories (team_id, agent_id, created_at);
CREATE INDEX memories_by_category ON memories (team_id, category, created_at) WHERE category IS NOT NULL;
CREATE INDEX memories_by_expiry ON memories (team_id, expires_at)
  WHERE expires_at IS NOT NULL AND status <> 'archived' AND deleted_at IS NULL AND made_by <> 'task_completion';
CREATE UNIQUE INDEX memories_by_key ON memories (team_id, key, coalesce(project_id, ''), coalesce(category, ''), visibility,
  coalesce(allowed_roles, ''), (CASE visibility WHEN 'team' THEN '' ELSE agent_id END)
  ) WHERE key IS NOT NULL AND status = 'active' AND deleted_at IS NULL;
CREATE INDEX memories_by_end ON memories (team_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_by_path ON memories (team_id, path);
CREATE INDEX memories_by_project ON memories (team_id, project_id, type) WHERE project_id IS NOT NULL;
CREATE INDEX memories_by_repo ON memories (team_id, repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX memories_by_session ON memories (team_id, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_by_source ON memories (team_id, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX memories_by_status ON memories (team_id, status, created_at) WHERE status <> 'active';
CREATE INDEX memories_by_task ON memories (team_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX memories_by_time ON memories (team_id, created_at);
CREATE INDEX memories_by_type ON memories (team_id, type, created_at);
CREATE INDEX memories_contested ON memories (team_id, number) WHERE instr(metadata, '"mycel_contested"') > 0;
CREATE INDEX memories_deleted ON memories (team_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX memories_hiding_source ON memories (team_id, source_id, visibility, agent_id, allowed_roles)
  WHERE source_id IS NOT NULL AND visibility <> 'team';
CREATE INDEX memories_taught ON memories (team_id, created_at)
  WHERE made_by = 'inject_learning' AND status = 'active' AND deleted_at IS NULL;
CREATE INDEX memories_waiting ON memories (team_id, created_at) WHERE status = 'inbox' AND deleted_at IS NULL;

CREATE TABLE memory_tags (
  tag text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, tag, number)
);
CREATE INDEX memory_tags_of ON memory_tags (team_id, number);

-- The terms of a memory as numbers, each mixed with its team so that no two teams share a list in the index below, and
-- how often each stands there.
CREATE TABLE memory_terms (
  number bigint NOT NULL,
  tokens integer NOT NULL,
  terms bigint[] NOT NULL,
  counts bytea NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, number)
);
CREATE INDEX memory_terms_by_term ON memory_terms USING gin (terms);

-- The memories of the team that hold any of the terms, and how often they hold each. No condition of a reader can be
-- looked up in an index below a policy unless it is known to leak nothing, which that on arrays is not: hence a function
-- of the owner, which asks for the team by itself.
CREATE FUNCTION memories_with(wanted bigint[])
RETURNS TABLE (number bigint, tokens integer, counts smallint[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 200 SET search_path FROM CURRENT
BEGIN ATOMIC
  SELECT t.number, t.tokens, ARRAY(
    SELECT coalesce(get_byte(t.counts, array_position(t.terms, w.term) - 1), 0)::smallint
    FROM unnest(wanted) WITH ORDINALITY AS w (term, place) ORDER BY w.place)
  FROM memory_terms t WHERE t.terms && wanted AND t.team_id = current_team();
END;

-- Past states; the present one is in `memories`. Same columns, then when it ended.
CREATE TABLE memory_versions (
  number bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  visibility text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  allowed_roles text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  deleted_at bigint,
  expires_at bigint,
  type text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  project_id text COLLATE "C",
  repo_id text COLLATE "C",
  path text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  category text COLLATE "C",
  key text COLLATE "C",
  session_id text COLLATE "C",
  task_id text COLLATE "C",
  observed_at bigint,
  version bigint NOT NULL,
  confidence double precision NOT NULL,
  trust text COLLATE "C" NOT NULL,
  source_kind text COLLATE "C" NOT NULL,
  made_by text COLLATE "C" NOT NULL,
  source_id text COLLATE "C",
  source_ref text COLLATE "C",
  evidence_ref text COLLATE "C",
  tags text COLLATE "C",
  title text COLLATE "C" NOT NULL,
  summary text COLLATE "C",
  metadata text COLLATE "C",
  rationale text COLLATE "C",
  alternatives text COLLATE "C",
  content text COLLATE "C" NOT NULL,
  valid_from bigint NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  valid_to bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id, version)
);

-- Sequences have no gaps: the team's counter is raised in the transaction that writes, and is locked until it ends.
CREATE TABLE changes (
  sequence bigint NOT NULL DEFAULT next_sequence(),
  operation text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  committed_at bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  visibility text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  allowed_roles text COLLATE "C",
  old_path text COLLATE "C",
  old_visibility text COLLATE "C",
  old_agent_id text COLLATE "C",
  old_allowed_roles text COLLATE "C",
  other_id text COLLATE "C",
  type text COLLATE "C",
  project_id text COLLATE "C",
  old_type text COLLATE "C",
  old_project_id text COLLATE "C",
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, sequence)
);
CREATE INDEX changes_purged ON changes (team_id, memory_id) WHERE operation = 'purge';

CREATE TABLE memory_links (
  from_id text COLLATE "C" NOT NULL,
  to_id text COLLATE "C" NOT NULL,
  relation text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, from_id, to_id, relation)
);
CREATE INDEX memory_links_superseding ON memory_links (team_id, from_id, to_id) WHERE relation = 'supersedes';
CREATE INDEX memory_links_to ON memory_links (team_id, to_id);

-- Apart from the record, so that reading one never rewrites it.
CREATE TABLE memory_usage (
  memory_id text COLLATE "C" NOT NULL,
  access_count bigint NOT NULL,
  last_accessed_at bigint NOT NULL,
  others_count bigint NOT NULL DEFAULT 0,
  others_last_at bigint,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id)
);

CREATE TABLE ratings (
  memory_id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  useful boolean NOT NULL,
  recall_id text COLLATE "C",
  rated_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id, member_id)
);

CREATE TABLE requests (
  member_id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  requested_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, member_id, operation, key)
);
CREATE INDEX requests_by_time ON requests (team_id, requested_at);
CREATE INDEX requests_of_memory ON requests (team_id, memory_id);

CREATE TABLE sources (
  id text COLLATE "C" NOT NULL,
  visibility text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  allowed_roles text COLLATE "C",
  kind text COLLATE "C" NOT NULL,
  session_id text COLLATE "C",
  uri text COLLATE "C",
  sha256 text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  title text COLLATE "C",
  project_id text COLLATE "C",
  repo_id text COLLATE "C",
  task_id text COLLATE "C",
  thread_id text COLLATE "C",
  trust text COLLATE "C" NOT NULL DEFAULT 'normal',
  extracted_to bigint NOT NULL DEFAULT 0,
  turns text COLLATE "C",
  text text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);
CREATE INDEX sources_by_hash ON sources (team_id, sha256, agent_id);
CREATE INDEX sources_by_session ON sources (team_id, session_id, agent_id) WHERE session_id IS NOT NULL;
CREATE INDEX sources_by_thread ON sources (team_id, thread_id, agent_id) WHERE thread_id IS NOT NULL;
CREATE INDEX sources_by_time ON sources (team_id, created_at);
CREATE INDEX sources_by_uri ON sources (team_id, uri) WHERE uri IS NOT NULL;
CREATE INDEX sources_not_for_all ON sources (team_id, id, visibility, agent_id, allowed_roles) WHERE visibility <> 'team';

-- What was purged from a session's sources: to be recognised in its later reports, not to be read.
CREATE TABLE purged_passages (
  source_id text COLLATE "C" NOT NULL,
  words bigint NOT NULL,
  letters bigint NOT NULL,
  key bytea NOT NULL,
  digest bytea NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, source_id, digest)
);

CREATE TABLE ingestion_events (
  id text COLLATE "C" NOT NULL,
  trigger text COLLATE "C" NOT NULL,
  source_id text COLLATE "C",
  scope text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tries bigint NOT NULL,
  outcome text COLLATE "C",
  error text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  lease_until bigint,
  steps text COLLATE "C" NOT NULL DEFAULT '',
  takeovers bigint NOT NULL DEFAULT 0,
  due_at bigint,
  lease text COLLATE "C",
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);
CREATE INDEX ingestion_events_by_state ON ingestion_events (team_id, state, created_at);
CREATE INDEX ingestion_events_of_source ON ingestion_events (team_id, source_id, state);
CREATE INDEX ingestion_events_running ON ingestion_events (team_id, lease_until) WHERE state = 'running';
CREATE INDEX ingestion_events_waiting ON ingestion_events (team_id, due_at) WHERE state IN ('pending', 'failed');

-- How many events are in which state, by author where they have no source. Triggers keep it.
CREATE TABLE event_counts (
  agent_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  events bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, agent_id, state)
);

-- Only those registered by hand: what memories mention is read from them.
CREATE TABLE projects (
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  created_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, name)
);

CREATE TABLE repos (
  name text COLLATE "C" NOT NULL,
  project_id text COLLATE "C",
  folder text COLLATE "C",
  remote text COLLATE "C",
  created_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, name)
);

CREATE TABLE saved_views (
  member_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  query text COLLATE "C",
  filters text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, member_id, name)
);

CREATE TABLE recalls (
  id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  query text COLLATE "C" NOT NULL,
  recalled_at bigint NOT NULL,
  request text COLLATE "C" NOT NULL DEFAULT '{}',
  degraded text COLLATE "C",
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);
CREATE INDEX recalls_by_time ON recalls (team_id, recalled_at);

CREATE TABLE recall_hits (
  recall_id text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  score double precision NOT NULL,
  relevance double precision NOT NULL,
  breakdown text COLLATE "C" NOT NULL DEFAULT '{}',
  why text COLLATE "C" NOT NULL DEFAULT '',
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, recall_id, position)
);
CREATE INDEX recall_hits_of_memory ON recall_hits (team_id, memory_id);

-- The tombstone of a purged memory, and how far its erasure has come.
CREATE TABLE receipts (
  id text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  purged_by text COLLATE "C" NOT NULL,
  purged_at bigint NOT NULL,
  memory_created_at bigint NOT NULL,
  scrubbed_at bigint,
  number bigint,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id),
  UNIQUE (team_id, memory_id)
);
CREATE INDEX receipts_by_number ON receipts (team_id, number) WHERE number IS NOT NULL;

CREATE TABLE backups (
  location text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  finished_at bigint,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, location)
);

-- Vectors of the present texts, one row per passage.
CREATE TABLE embeddings (
  id bigint GENERATED BY DEFAULT AS IDENTITY,
  number bigint NOT NULL,
  passage bigint NOT NULL,
  version bigint NOT NULL,
  model text COLLATE "C" NOT NULL,
  dimensions bigint NOT NULL,
  text_hash bytea NOT NULL,
  start bigint NOT NULL,
  "end" bigint NOT NULL,
  vector bytea NOT NULL,
  direction halfvec NOT NULL GENERATED ALWAYS AS (direction_of(vector)) STORED,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX embeddings_of ON embeddings (team_id, number, passage);

-- How far a model has come: through the memories that stood when it began, up to `last_number`, then along the log.
CREATE TABLE embedding_progress (
  model text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  last_number bigint NOT NULL,
  sequence bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, model),
  CHECK (number <= last_number)
);

-- One row per run of consolidation, and one per memory it touched: as it was before, and after.
CREATE TABLE reports (
  id text COLLATE "C" NOT NULL,
  made_by text COLLATE "C" NOT NULL,
  made_at bigint NOT NULL,
  undone_by text COLLATE "C",
  undone_at bigint,
  kept text COLLATE "C",
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);

CREATE TABLE report_actions (
  report_id text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  other_id text COLLATE "C",
  why text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, report_id, position)
);
CREATE INDEX report_actions_against ON report_actions (team_id, other_id) WHERE other_id IS NOT NULL;
CREATE INDEX report_actions_of ON report_actions (team_id, memory_id);

CREATE TABLE report_changes (
  report_id text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  before_version bigint NOT NULL,
  after_version bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, report_id, memory_id)
);

CREATE TABLE report_links (
  report_id text COLLATE "C" NOT NULL,
  from_id text COLLATE "C" NOT NULL,
  to_id text COLLATE "C" NOT NULL,
  relation text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, report_id, from_id, to_id, relation)
);

-- How far the engine has come: the last change consolidated, the last night's maintenance.
CREATE TABLE progress (
  name text COLLATE "C" NOT NULL,
  value bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, name)
);

-- What is sent to other teams. Its event is armed again by every later version, in the transaction that makes it.
CREATE TABLE cascades (
  memory_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  direction text COLLATE "C" NOT NULL,
  started_by text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  withdrawn_at bigint,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id)
);
CREATE UNIQUE INDEX cascades_by_event ON cascades (team_id, event_id);

CREATE TABLE deliveries (
  memory_id text COLLATE "C" NOT NULL,
  team text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  delivered_at bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id, team)
);

-- What an episode has beside its memory. `ledger` is who counts it: 'team' everybody, 'some' who sees the memory, 'out' nobody.
CREATE TABLE episodes (
  number bigint NOT NULL,
  task_id text COLLATE "C",
  agent_id text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  logged_at bigint NOT NULL,
  ledger text COLLATE "C" NOT NULL,
  project_id text COLLATE "C",
  wording bigint NOT NULL,
  approach_group bigint NOT NULL,
  duration_ms bigint,
  tokens_in bigint,
  tokens_out bigint,
  approach_end integer NOT NULL,
  outcome_start integer,
  pruned bigint NOT NULL DEFAULT 0,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, number)
);
CREATE INDEX episodes_by_action ON episodes (team_id, action);
CREATE INDEX episodes_by_wording ON episodes (team_id, wording);
CREATE INDEX episodes_of_agent ON episodes (team_id, agent_id, action);
CREATE INDEX episodes_of_task ON episodes (team_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX episodes_rated_by_agent ON episodes (team_id, ledger, agent_id, action, logged_at, project_id, duration_ms, tokens_in, tokens_out);
CREATE INDEX episodes_rated_by_approach ON episodes (team_id, ledger, approach_group, action, logged_at, agent_id, project_id, duration_ms, tokens_in, tokens_out);
CREATE INDEX episodes_rated_by_time ON episodes (team_id, ledger, logged_at, action, agent_id, project_id, duration_ms, tokens_in, tokens_out);

-- One row per wording of an approach; its group is that of the first one that means the same.
CREATE TABLE approaches (
  id bigint GENERATED BY DEFAULT AS IDENTITY,
  wording bigint NOT NULL,
  approach_group bigint NOT NULL,
  model text COLLATE "C" NOT NULL,
  vector bytea,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id),
  UNIQUE (team_id, wording)
);
CREATE INDEX approaches_by_model ON approaches (team_id, model);
CREATE INDEX approaches_first ON approaches (team_id, model, id) WHERE vector IS NOT NULL;
CREATE INDEX approaches_of_group ON approaches (team_id, approach_group);

-- What is left of episodes that were pruned: counts by month, of those that everybody could count.
CREATE TABLE episode_months (
  month text COLLATE "C" NOT NULL,
  project_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  approach_group bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  episodes bigint NOT NULL,
  timed bigint NOT NULL,
  timed_ms bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  told bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, month, project_id, agent_id, approach_group, action)
);
CREATE INDEX episode_months_untold ON episode_months (team_id, month, project_id) WHERE told = 0;

-- What an agent produced. Its texts stand in the content of the memory alone.
CREATE TABLE artifacts (
  number bigint NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  size_bytes bigint,
  checksum text COLLATE "C",
  description_end integer,
  text_start integer,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, number)
);
CREATE INDEX artifacts_by_agent ON artifacts (team_id, agent_id);
CREATE INDEX artifacts_by_path ON artifacts (team_id, path);
CREATE INDEX artifacts_by_type ON artifacts (team_id, type);

-- As `domain.cascade` says: a later version or a purge has the cascade carried out anew.
CREATE FUNCTION arm_cascade() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE ingestion_events SET state = 'pending', due_at = 0, lease = NULL, lease_until = NULL, tries = 0
  WHERE team_id = old.team_id
    AND id = (SELECT event_id FROM cascades WHERE team_id = old.team_id AND memory_id = old.id);
  RETURN NULL;
END $$;
CREATE TRIGGER cascade_later_version AFTER UPDATE OF version ON memories FOR EACH ROW EXECUTE FUNCTION arm_cascade();
CREATE TRIGGER cascade_purge AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION arm_cascade();

CREATE FUNCTION count_event() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF tg_op <> 'INSERT' THEN
    UPDATE event_counts SET events = events - 1
    WHERE team_id = old.team_id AND state = old.state
      AND agent_id = CASE WHEN old.source_id IS NULL THEN old.agent_id ELSE '' END;
  END IF;
  IF tg_op <> 'DELETE' THEN
    INSERT INTO event_counts
    VALUES (CASE WHEN new.source_id IS NULL THEN new.agent_id ELSE '' END, new.state, 1, new.team_id)
    ON CONFLICT (team_id, agent_id, state) DO UPDATE SET events = event_counts.events + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER event_counted AFTER INSERT OR DELETE OR UPDATE OF state, source_id, agent_id ON ingestion_events
FOR EACH ROW EXECUTE FUNCTION count_event();
