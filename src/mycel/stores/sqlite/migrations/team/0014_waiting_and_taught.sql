-- What waits is counted before every task, among however many that stand.
CREATE INDEX memories_waiting ON memories (created_at) WHERE status = 'inbox' AND deleted_at IS NULL;
-- What says that it replaces another is looked for with every look at the inbox; other links are many.
CREATE INDEX memory_links_superseding ON memory_links (from_id, to_id) WHERE relation = 'supersedes';
-- What a lead has taught stands in every context, however many lessons are newer.
CREATE INDEX memories_taught ON memories (created_at)
  WHERE made_by = 'inject_learning' AND status = 'active' AND deleted_at IS NULL;
