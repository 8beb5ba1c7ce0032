-- What binds is asked for by its type or category, before every task: a few of very many.
CREATE INDEX passages_by_type ON passages (team_id, type);
CREATE INDEX passages_by_category ON passages (team_id, category) WHERE category IS NOT NULL;
