-- The ledger: what an episode has beside its memory, whose content holds its texts.
-- `ledger` is who counts it: 'team' everybody, 'some' only who sees the memory, 'out' nobody.
CREATE TABLE episodes (
  number INTEGER PRIMARY KEY,
  task_id TEXT,
  agent_id TEXT NOT NULL,
  action TEXT NOT NULL,
  logged_at INTEGER NOT NULL,
  ledger TEXT NOT NULL,
  project_id TEXT,
  wording INTEGER NOT NULL,
  approach_group INTEGER NOT NULL,
  duration_ms INTEGER,
  tokens_in INTEGER,
  tokens_out INTEGER,
  approach_end INTEGER NOT NULL,
  outcome_start INTEGER,
  pruned INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX episodes_of_task ON episodes (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX episodes_of_agent ON episodes (agent_id, action);
CREATE INDEX episodes_by_action ON episodes (action);
CREATE INDEX episodes_by_wording ON episodes (wording);
-- Everything that success rates read, in the order in which they are told: counting a million then reads no table.
CREATE INDEX episodes_rated_by_agent ON episodes (
  ledger, agent_id, action, logged_at, project_id, duration_ms, tokens_in, tokens_out);
CREATE INDEX episodes_rated_by_approach ON episodes (
  ledger, approach_group, action, logged_at, agent_id, project_id, duration_ms, tokens_in, tokens_out);
CREATE INDEX episodes_rated_by_time ON episodes (
  ledger, logged_at, action, agent_id, project_id, duration_ms, tokens_in, tokens_out);

-- One row per wording of an approach. Its group is that of the first one that means the same; `model` says by whose
-- vectors, and is empty while nobody has looked. Only the first of a group needs its vector.
CREATE TABLE approaches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  wording INTEGER NOT NULL UNIQUE,
  approach_group INTEGER NOT NULL,
  model TEXT NOT NULL,
  vector BLOB
) STRICT;
CREATE INDEX approaches_of_group ON approaches (approach_group);
CREATE INDEX approaches_by_model ON approaches (model);
CREATE INDEX approaches_first ON approaches (model, id) WHERE vector IS NOT NULL;

-- What is left of episodes that were pruned: counts by month, of those that everybody could count.
CREATE TABLE episode_months (
  month TEXT NOT NULL,
  project_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  approach_group INTEGER NOT NULL,
  action TEXT NOT NULL,
  episodes INTEGER NOT NULL,
  timed INTEGER NOT NULL,
  timed_ms INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  told INTEGER NOT NULL,
  PRIMARY KEY (month, project_id, agent_id, approach_group, action)
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_months_untold ON episode_months (month, project_id) WHERE told = 0;

-- What maintenance archives. A finished task leaves the search when its time is up but stays in the ledger.
DROP INDEX memories_by_expiry;
CREATE INDEX memories_by_expiry ON memories (expires_at)
  WHERE expires_at IS NOT NULL AND status <> 'archived' AND deleted_at IS NULL AND made_by <> 'task_completion';
CREATE INDEX episodes_to_prune ON memories (created_at)
  WHERE type = 'episode' AND status <> 'archived' AND deleted_at IS NULL;
