-- Words are searched in an index of the whole team in memory. What it is made of stands here, of every memory that
-- there is: a number for each of its terms and how often it stands there, so that nothing is analysed twice.
CREATE TABLE memory_terms (
  number INTEGER PRIMARY KEY,
  terms BLOB NOT NULL
) STRICT;

INSERT INTO memory_terms (number, terms)
SELECT m.number, pack_terms(m.title, ifnull(m.summary, ''), m.content,
  concat_ws(' ', (SELECT group_concat(value, ' ') FROM json_each(m.tags)), m.category, m.key))
FROM memories m;

DROP TABLE memory_vocabulary;
DROP TABLE restricted_vocabulary;
DROP TABLE memory_words;
DROP TABLE restricted_words;
