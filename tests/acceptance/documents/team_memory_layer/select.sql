SELECT id, team_id, type, title, content, path, tags, source, visibility, allowed_roles, created_at, updated_at, expires_at,
  embedding FROM memory_items WHERE team_id = current_setting('mycel.team') AND path LIKE '/projects/pricing%';
SELECT title FROM memory_items WHERE fts @@ to_tsquery('english', 'discussed & option') AND type = 'decision' AND tags @> ARRAY['pricing'];
SELECT title FROM memory_items WHERE source ->> 'threadId' = 'thread-xxx' AND (expires_at IS NULL OR expires_at > NOW());
SELECT title FROM memory_items WHERE embedding IS NOT NULL
  ORDER BY embedding <=> (SELECT embedding FROM memory_items WHERE title = 'Chose Option A pricing strategy') LIMIT 10;
SELECT count(*) FROM memory_items WHERE expires_at IS NOT NULL AND expires_at < NOW();
