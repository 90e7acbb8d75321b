-- Version 2: the full-text index, saved filters, and a sum over each body.
ALTER TABLE body ADD COLUMN sum INTEGER;
CREATE VIRTUAL TABLE words USING fts5 (
	user, answer, content='', contentless_delete=1, detail=full, tokenize='trigram case_sensitive 1'
);
CREATE TABLE unindexed (seq INTEGER PRIMARY KEY);
INSERT INTO unindexed SELECT seq FROM body;
CREATE TABLE saved_filter (name TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
