-- Version 10: a session may have a title and may branch from another session; a pair may be partial.
ALTER TABLE session ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN upto INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';
UPDATE meta SET version = 10;
