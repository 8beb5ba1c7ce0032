-- FTS5 counts words over a whole table, so `memory_words` now holds only what everybody in the team may read. The words
-- of the rest stand here, with who may read them: `audience` has a term for the author and for each role. What is
-- deleted is in neither.
CREATE VIRTUAL TABLE restricted_words USING fts5 (
  title, summary, content, tags, audience,
  content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._/-:+#@'"
);
CREATE VIRTUAL TABLE restricted_vocabulary USING fts5vocab (restricted_words, row);

-- The analyser joined the terms with spaces, so joining them again gives the very text that was indexed.
CREATE VIRTUAL TABLE memory_terms USING fts5vocab (memory_words, instance);
INSERT INTO restricted_words (rowid, title, summary, content, tags, audience)
SELECT m.number, ifnull(w.title, ''), ifnull(w.summary, ''), ifnull(w.content, ''), ifnull(w.tags, ''),
  concat_ws(' ', 'any', 'a' || hex(m.agent_id),
    CASE m.visibility WHEN 'role' THEN 'role' END,
    CASE m.visibility WHEN 'role' THEN (
      SELECT group_concat('r' || hex(value), ' ') FROM json_each(ifnull(m.allowed_roles, '[]'))) END)
FROM memories m LEFT JOIN (
  SELECT t.doc AS number,
    group_concat(t.term, ' ' ORDER BY t.offset) FILTER (WHERE t.col = 'title') AS title,
    group_concat(t.term, ' ' ORDER BY t.offset) FILTER (WHERE t.col = 'summary') AS summary,
    group_concat(t.term, ' ' ORDER BY t.offset) FILTER (WHERE t.col = 'content') AS content,
    group_concat(t.term, ' ' ORDER BY t.offset) FILTER (WHERE t.col = 'tags') AS tags
  FROM memory_terms t CROSS JOIN memories r ON r.number = t.doc
  WHERE r.visibility <> 'team' AND r.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM memories WHERE visibility <> 'team' AND deleted_at IS NULL)
  GROUP BY t.doc
) w ON w.number = m.number
WHERE m.visibility <> 'team' AND m.deleted_at IS NULL;
DROP TABLE memory_terms;

DELETE FROM memory_words
WHERE rowid IN (SELECT number FROM memories WHERE visibility <> 'team' OR deleted_at IS NOT NULL);
