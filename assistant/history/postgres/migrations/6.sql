-- Version 6: a session has a title ('': its first message is the title) and may branch from
-- another session: parent is the id of that session, and upto the seq of the last pair taken
-- over from it. A pair may be partial (state 4).
ALTER TABLE session ADD COLUMN title text NOT NULL DEFAULT '', ADD COLUMN parent text NOT NULL DEFAULT '', ADD COLUMN upto bigint NOT NULL DEFAULT 0;
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';
