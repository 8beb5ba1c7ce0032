-- Who is looking at a candidate, and for whom it is out of the inbox; both end by themselves.
CREATE TABLE review_claims (
  memory_id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  until bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id)
);
CREATE INDEX review_claims_of ON review_claims (team_id, member_id);

CREATE TABLE review_snoozes (
  memory_id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  until bigint NOT NULL,
  team_id text COLLATE "C" NOT NULL DEFAULT current_team(),
  PRIMARY KEY (team_id, memory_id, member_id)
);
CREATE INDEX review_snoozes_of ON review_snoozes (team_id, member_id, until);

ALTER TABLE review_claims ENABLE ROW LEVEL SECURITY;
ALTER TABLE review_claims FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON review_claims TO CURRENT_USER USING (true);
CREATE POLICY own_team ON review_claims TO mycel_service USING (team_id = current_team());
GRANT SELECT, INSERT, UPDATE, DELETE ON review_claims TO mycel_service;
ALTER TABLE review_snoozes ENABLE ROW LEVEL SECURITY;
ALTER TABLE review_snoozes FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON review_snoozes TO CURRENT_USER USING (true);
CREATE POLICY own_team ON review_snoozes TO mycel_service USING (team_id = current_team());
GRANT SELECT, INSERT, UPDATE, DELETE ON review_snoozes TO mycel_service;
