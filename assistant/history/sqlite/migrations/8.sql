-- Version 8: a pair may have several answers, and meta.clean records whether the database was closed.
ALTER TABLE meta ADD COLUMN clean INTEGER NOT NULL DEFAULT 0;
ALTER TABLE request ADD COLUMN answer TEXT NOT NULL DEFAULT '';
UPDATE meta SET version = 8;
