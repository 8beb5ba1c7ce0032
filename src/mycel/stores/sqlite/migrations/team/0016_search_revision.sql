-- What moves the rank of a memory and stands in no log: readings and ratings. Answers of searches are kept beside it.
CREATE TABLE search_revision (signals INTEGER NOT NULL) STRICT;
INSERT INTO search_revision VALUES (0);
CREATE TRIGGER usage_begins AFTER INSERT ON memory_usage BEGIN UPDATE search_revision SET signals = signals + 1; END;
CREATE TRIGGER usage_goes_on AFTER UPDATE ON memory_usage BEGIN UPDATE search_revision SET signals = signals + 1; END;
CREATE TRIGGER rating_is_given AFTER INSERT ON ratings BEGIN UPDATE search_revision SET signals = signals + 1; END;
CREATE TRIGGER rating_is_changed AFTER UPDATE ON ratings BEGIN UPDATE search_revision SET signals = signals + 1; END;
-- Which expires next, of all: whatever its status, somebody may ask for it.
CREATE INDEX memories_by_end ON memories (expires_at) WHERE expires_at IS NOT NULL;
