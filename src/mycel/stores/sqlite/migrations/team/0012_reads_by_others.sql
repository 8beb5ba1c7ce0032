-- Reads by anybody but the author, which are what the ranking looks at. Who the earlier ones were by is not known.
ALTER TABLE memory_usage ADD COLUMN others_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_usage ADD COLUMN others_last_at INTEGER;
UPDATE memory_usage SET others_count = access_count, others_last_at = last_accessed_at;
