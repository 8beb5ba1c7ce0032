-- Which analyser made the terms of a memory; those of an earlier one are made again while everything goes on. The index
-- holds these alone, so that a write adds nothing to it and a search finds at once that there are none.
ALTER TABLE memory_terms ADD COLUMN analyser INTEGER NOT NULL DEFAULT 1;
CREATE INDEX memory_terms_outdated ON memory_terms (number) WHERE analyser < 2;
