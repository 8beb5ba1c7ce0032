-- The words of keys and categories stand among those of the tags. What has either is indexed anew, from its texts.
DELETE FROM memory_words
WHERE rowid IN (SELECT number FROM memories WHERE key IS NOT NULL OR category IS NOT NULL);
DELETE FROM restricted_words
WHERE rowid IN (SELECT number FROM memories WHERE key IS NOT NULL OR category IS NOT NULL);

CREATE TEMP VIEW labelled AS
SELECT m.number, m.visibility, index_text(m.title) AS title, index_text(ifnull(m.summary, '')) AS summary,
  index_text(m.content) AS content,
  index_text(concat_ws(' ', (SELECT group_concat(value, ' ') FROM json_each(m.tags)), m.category, m.key)) AS tags,
  concat_ws(' ', 'any', 'a' || hex(m.agent_id),
    CASE m.visibility WHEN 'role' THEN 'role' END,
    CASE m.visibility WHEN 'role' THEN (
      SELECT group_concat('r' || hex(value), ' ') FROM json_each(ifnull(m.allowed_roles, '[]'))) END) AS audience
FROM memories m WHERE (m.key IS NOT NULL OR m.category IS NOT NULL) AND m.deleted_at IS NULL;

INSERT INTO memory_words (rowid, title, summary, content, tags)
SELECT number, title, summary, content, tags FROM labelled WHERE visibility = 'team';
INSERT INTO restricted_words (rowid, title, summary, content, tags, audience)
SELECT number, title, summary, content, tags, audience FROM labelled WHERE visibility <> 'team';
DROP VIEW labelled;

-- Keys are embedded with their values: embedding goes once more through all from the first to the last that has one.
-- What has the vectors of its text is only looked at.
UPDATE embedding_progress SET
  number = min(number, (SELECT min(number) - 1 FROM memories WHERE key IS NOT NULL)),
  last_number = max(last_number, (SELECT max(number) FROM memories WHERE key IS NOT NULL))
WHERE EXISTS (SELECT 1 FROM memories WHERE key IS NOT NULL);

-- An episode of which nobody said how it was done has no approach, and so no wording. Groups that began with such a
-- title are looked for anew among the approaches that are left.
UPDATE approaches SET model = '', vector = NULL WHERE approach_group IN (
  SELECT wording FROM episodes WHERE approach_end = 0
  EXCEPT SELECT wording FROM episodes WHERE approach_end > 0);
DELETE FROM approaches WHERE wording IN (
  SELECT wording FROM episodes WHERE approach_end = 0
  EXCEPT SELECT wording FROM episodes WHERE approach_end > 0);
UPDATE episodes SET wording = 0, approach_group = 0 WHERE approach_end = 0;
