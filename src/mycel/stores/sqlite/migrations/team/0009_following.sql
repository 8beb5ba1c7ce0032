-- Type and project, so that the log can be followed by them. What was purged before has left no trace of either.
ALTER TABLE changes ADD COLUMN type TEXT;
ALTER TABLE changes ADD COLUMN project_id TEXT;
ALTER TABLE changes ADD COLUMN old_type TEXT;
ALTER TABLE changes ADD COLUMN old_project_id TEXT;

-- Each entry with the version that the entry before it was about.
CREATE TEMP TABLE changes_known AS
WITH states AS (
  SELECT id, version, type, project_id FROM memories
  UNION ALL
  SELECT id, version, type, project_id FROM memory_versions
), steps AS (
  SELECT sequence, memory_id, version, lag(version) OVER (PARTITION BY memory_id ORDER BY sequence) AS old_version
  FROM changes
)
SELECT s.sequence, now.type, now.project_id, old.type AS old_type, old.project_id AS old_project_id
FROM steps s
JOIN states now ON now.id = s.memory_id AND now.version = s.version
LEFT JOIN states old ON old.id = s.memory_id AND old.version = s.old_version;

UPDATE changes SET type = known.type, project_id = known.project_id
FROM changes_known known WHERE known.sequence = changes.sequence;

-- Old values are kept together, where any of them differs.
UPDATE changes
SET old_visibility = ifnull(old_visibility, visibility), old_agent_id = ifnull(old_agent_id, agent_id),
  old_allowed_roles = iif(old_visibility IS NULL, allowed_roles, old_allowed_roles),
  old_path = ifnull(old_path, path), old_type = known.old_type, old_project_id = known.old_project_id
FROM changes_known known
WHERE known.sequence = changes.sequence AND known.old_type IS NOT NULL
  AND (changes.old_visibility IS NOT NULL OR known.old_type <> known.type
    OR known.old_project_id IS NOT known.project_id);

DROP TABLE changes_known;
