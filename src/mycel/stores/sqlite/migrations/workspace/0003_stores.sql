-- Which teams have had a store: its absence is a loss from then on, and no fresh start.
CREATE TABLE stores (
  team TEXT PRIMARY KEY,
  made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
