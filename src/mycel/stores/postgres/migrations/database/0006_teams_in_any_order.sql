-- Whoever arranges an organisation may name a team before the one above it; what counts is how it ends.
ALTER TABLE teams ALTER CONSTRAINT teams_parent_fkey DEFERRABLE INITIALLY DEFERRED;
