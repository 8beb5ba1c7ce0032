SELECT id, agent_id, type, content, tags, created_at, updated_at FROM memories ORDER BY created_at DESC LIMIT 10
