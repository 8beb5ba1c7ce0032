-- Who is looking at a candidate, and for whom it is out of the inbox; both end by themselves.
CREATE TABLE review_claims (
  memory_id TEXT PRIMARY KEY NOT NULL,
  member_id TEXT NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX review_claims_of ON review_claims (member_id);

CREATE TABLE review_snoozes (
  memory_id TEXT NOT NULL,
  member_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (memory_id, member_id)
) WITHOUT ROWID;
CREATE INDEX review_snoozes_of ON review_snoozes (member_id, until);
