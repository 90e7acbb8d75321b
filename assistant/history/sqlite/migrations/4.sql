-- Version 4: the queued message and the state of a session.
ALTER TABLE session ADD COLUMN queued TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN state TEXT NOT NULL DEFAULT '';
