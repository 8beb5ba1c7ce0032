-- What a team remembers, for reports in SQL: what stands and the whole team may read. Nobody gets more rights by it: whoever asks
-- does so by its own, below the policies of the tables. Whether a person or an agent wrote a memory is said by its source alone:
-- members are of the organisation, whose rows no team is shown.
CREATE VIEW memory_items WITH (security_invoker = true, security_barrier = true) AS
SELECT
  m.id::uuid AS id,
  m.team_id,
  CASE m.type WHEN 'thread_summary' THEN 'thread-summary' ELSE m.type END AS type,
  m.title,
  m.content,
  m.path,
  ARRAY(SELECT jsonb_array_elements_text(coalesce(m.tags, '[]')::jsonb)) AS tags,
  jsonb_strip_nulls(jsonb_build_object(
    'type', coalesce(m.metadata::jsonb -> 'mycel_source' ->> 'type', CASE
      WHEN 'import' IN (m.source_kind, m.made_by) THEN 'import'
      WHEN m.made_by IN ('extraction', 'session_summary', 'thread_summary', 'episode_summary') THEN 'auto' END),
    'authorId', coalesce(m.metadata::jsonb -> 'mycel_source' ->> 'author_id', m.agent_id),
    'threadId', m.source_ref::jsonb ->> 1,
    'messageId', m.source_ref::jsonb ->> 2)) AS source,
  m.visibility,
  ARRAY(SELECT jsonb_array_elements_text(coalesce(m.allowed_roles, '[]')::jsonb)) AS allowed_roles,
  to_timestamp(m.created_at / 1e6) AS created_at,
  to_timestamp(m.updated_at / 1e6) AS updated_at,
  to_timestamp(m.expires_at / 1e6) AS expires_at,
  direction_of(e.vector)::vector AS embedding,
  to_tsvector('english', m.title || ' ' || m.content) AS fts
FROM memories m LEFT JOIN embeddings e ON e.team_id = m.team_id AND e.number = m.number AND e.passage = 0
WHERE m.visibility = 'team' AND m.status = 'active' AND m.deleted_at IS NULL;
GRANT SELECT ON memory_items TO mycel_service;
