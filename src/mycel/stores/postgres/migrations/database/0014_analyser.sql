-- Which analyser made the terms of a memory; those of an earlier one, also of nodes of the last release that go on writing,
-- are made again while everything goes on. The index holds these alone, so that a write adds nothing to it.
ALTER TABLE memory_terms ADD COLUMN analyser integer NOT NULL DEFAULT 1;
CREATE INDEX memory_terms_outdated ON memory_terms (team_id, number) WHERE analyser < 2;
