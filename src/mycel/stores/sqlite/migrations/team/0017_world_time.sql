-- When a memory holds in the world. `valid_from` and `valid_to` are when a version is believed.
ALTER TABLE memories ADD COLUMN holds_from INTEGER;
ALTER TABLE memories ADD COLUMN holds_until INTEGER;
ALTER TABLE memory_versions ADD COLUMN holds_from INTEGER;
ALTER TABLE memory_versions ADD COLUMN holds_until INTEGER;
