-- The second lock: whoever serves is shown the rows of the team that its transaction names, and of no other. The
-- organisation is for transactions that name no team but `*`. The owner, who migrates, sees all.
DO $$
DECLARE
  name text;
BEGIN
  FOR name IN
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> 'schema_version'
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY owner_sees_all ON %I TO %I USING (true)', name, current_user);
    IF EXISTS (
      SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(name)) AND attname = 'team_id'
    ) THEN
      EXECUTE format('CREATE POLICY own_team ON %I TO mycel_service USING (team_id = current_team())', name);
    ELSE
      EXECUTE format($policy$CREATE POLICY organisation ON %I TO mycel_service USING (current_team() = '*')$policy$, name);
    END IF;
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO mycel_service', name);
  END LOOP;
  -- Which teams have written, and whether anything is new.
  CREATE POLICY organisation ON heads FOR SELECT TO mycel_service USING (current_team() = '*');
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO mycel_service', current_schema());
  EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO mycel_service', current_schema());
  EXECUTE format('GRANT SELECT ON schema_version TO mycel_service');
END $$;
