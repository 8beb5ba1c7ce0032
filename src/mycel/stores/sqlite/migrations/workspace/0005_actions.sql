-- One row for every change of teams, members, tokens and policies. `team` is whose affair it is.
CREATE TABLE organisation_actions (
  id TEXT PRIMARY KEY NOT NULL,
  team TEXT NOT NULL,
  operation TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  subject TEXT NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX organisation_actions_of_team ON organisation_actions (team, id);
