ALTER TABLE members ADD COLUMN title text;
