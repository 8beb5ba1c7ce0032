ALTER TABLE tokens ADD COLUMN parent_id TEXT REFERENCES tokens (id);
CREATE INDEX tokens_of_parent ON tokens (parent_id);
