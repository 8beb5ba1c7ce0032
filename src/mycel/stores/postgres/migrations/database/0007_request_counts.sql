-- How often busy members asked each node in the last second, so that their limit holds for all nodes together. Nobody
-- misses it after a crash.
CREATE UNLOGGED TABLE request_counts (
  node text NOT NULL,
  member_id text NOT NULL,
  requests bigint NOT NULL,
  counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (node, member_id)
);
ALTER TABLE request_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE request_counts FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_sees_all ON request_counts TO CURRENT_USER USING (true);
CREATE POLICY organisation ON request_counts TO mycel_service USING (current_team() = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON request_counts TO mycel_service;
