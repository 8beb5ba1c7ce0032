-- What agents were given, as they saw it, and which memories were in it.
CREATE TABLE injections (
  id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  occasion text COLLATE "C" NOT NULL,
  given_at bigint NOT NULL,
  session_id text COLLATE "C",
  task_id text COLLATE "C",
  text text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);
CREATE INDEX injections_of_member ON injections (team_id, member_id, id);
CREATE INDEX injections_of_session ON injections (team_id, session_id, id) WHERE session_id IS NOT NULL;

CREATE TABLE injection_memories (
  memory_id text COLLATE "C" NOT NULL,
  injection_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id, injection_id)
);
CREATE INDEX memories_of_injection ON injection_memories (team_id, injection_id);

-- One row for every change of something that is no memory; those of memories stand in `changes`.
CREATE TABLE actions (
  id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  changed_at bigint NOT NULL,
  subject text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C",
  own bigint NOT NULL,
  before text COLLATE "C" NOT NULL,
  after text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, id)
);
CREATE INDEX actions_by_memory ON actions (team_id, memory_id) WHERE memory_id IS NOT NULL;

CREATE INDEX recalls_of_member ON recalls (team_id, member_id, recalled_at);
CREATE INDEX sources_of_member ON sources (team_id, agent_id, created_at);

-- One row for every change of teams, members, tokens and policies. `team` is whose affair it is.
CREATE TABLE organisation_actions (
  id text COLLATE "C" PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  changed_at bigint NOT NULL,
  subject text COLLATE "C" NOT NULL,
  before text COLLATE "C" NOT NULL,
  after text COLLATE "C" NOT NULL
);
CREATE INDEX organisation_actions_of_team ON organisation_actions (team, id);

ALTER TABLE injections ENABLE ROW LEVEL SECURITY;
ALTER TABLE injections FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON injections TO CURRENT_USER USING (true);
CREATE POLICY own_team ON injections TO mycel_service USING (team_id = current_team());
GRANT SELECT, INSERT, UPDATE, DELETE ON injections TO mycel_service;
ALTER TABLE injection_memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE injection_memories FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON injection_memories TO CURRENT_USER USING (true);
CREATE POLICY own_team ON injection_memories TO mycel_service USING (team_id = current_team());
GRANT SELECT, INSERT, UPDATE, DELETE ON injection_memories TO mycel_service;
ALTER TABLE actions ENABLE ROW LEVEL SECURITY;
ALTER TABLE actions FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON actions TO CURRENT_USER USING (true);
CREATE POLICY own_team ON actions TO mycel_service USING (team_id = current_team());
GRANT SELECT, INSERT, UPDATE, DELETE ON actions TO mycel_service;
ALTER TABLE organisation_actions ENABLE ROW LEVEL SECURITY;
ALTER TABLE organisation_actions FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON organisation_actions TO CURRENT_USER USING (true);
CREATE POLICY organisation ON organisation_actions TO mycel_service USING (current_team() = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON organisation_actions TO mycel_service;
