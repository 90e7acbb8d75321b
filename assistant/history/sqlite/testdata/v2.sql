-- A database as version 2 wrote it. Never edited: files like it may be anywhere.

CREATE TABLE counter (one INTEGER PRIMARY KEY CHECK (one = 1), rev INTEGER NOT NULL);
INSERT INTO counter VALUES (1, 1);

CREATE TABLE session (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	folder  TEXT NOT NULL DEFAULT '',
	window  TEXT NOT NULL DEFAULT '',
	model   TEXT NOT NULL DEFAULT '',
	page    TEXT NOT NULL DEFAULT '',
	started INTEGER NOT NULL,           -- Unix milliseconds
	used    INTEGER NOT NULL,           -- Unix milliseconds, for people
	touched INTEGER NOT NULL DEFAULT 0  -- rev, for order
);
CREATE INDEX session_folder ON session (folder, touched);
CREATE TABLE model (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE topic (
	n      INTEGER PRIMARY KEY,
	parent INTEGER NOT NULL,            -- 0 is the root
	name   TEXT NOT NULL,
	UNIQUE (parent, name)
);

CREATE TABLE pair (                         -- narrow: what a filter asks of every pair
	seq         INTEGER PRIMARY KEY AUTOINCREMENT,
	rev         INTEGER NOT NULL,
	session     INTEGER NOT NULL,
	topic       INTEGER NOT NULL,
	model       INTEGER NOT NULL,
	star        INTEGER NOT NULL,
	flag        INTEGER NOT NULL,
	state       INTEGER NOT NULL,
	sec         INTEGER NOT NULL,       -- created_at
	nsec        INTEGER NOT NULL,
	zone        INTEGER NOT NULL,       -- seconds east of UTC
	attachments INTEGER NOT NULL,
	sends       INTEGER NOT NULL,
	parts       BLOB NOT NULL,          -- runes of each part of a request, as varints
	cut         TEXT,                   -- the name of the cut that took it
	owner       TEXT,                   -- the process that is sending it
	id          TEXT NOT NULL UNIQUE
);
CREATE INDEX pair_session ON pair (session, seq);
CREATE INDEX pair_rev ON pair (rev);
CREATE INDEX pair_cut ON pair (cut) WHERE cut IS NOT NULL;
CREATE INDEX pair_owner ON pair (owner) WHERE owner IS NOT NULL;
CREATE TABLE gone (rev INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (rev, seq)) WITHOUT ROWID;

CREATE TABLE body (                         -- wide: what is shown and sent
	seq           INTEGER PRIMARY KEY,
	user          TEXT NOT NULL,
	answer        TEXT NOT NULL,
	reasoning     TEXT NOT NULL,
	error_code    TEXT NOT NULL,
	error_message TEXT NOT NULL,
	more          TEXT NOT NULL         -- JSON of the fields that have no column
);
CREATE TABLE attachment (
	seq INTEGER NOT NULL, n INTEGER NOT NULL,
	name TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL,
	PRIMARY KEY (seq, n)
) WITHOUT ROWID;
CREATE TABLE tool_call (
	seq INTEGER NOT NULL, n INTEGER NOT NULL,
	id TEXT NOT NULL, name TEXT NOT NULL,
	arguments BLOB, result BLOB,        -- as received; NULL is none
	response INTEGER NOT NULL, took INTEGER NOT NULL, silent INTEGER NOT NULL,
	PRIMARY KEY (seq, n)
) WITHOUT ROWID;
CREATE TABLE payload (
	seq INTEGER NOT NULL, n INTEGER NOT NULL,
	id TEXT NOT NULL, type TEXT NOT NULL, data BLOB, summary TEXT NOT NULL, decision TEXT NOT NULL,
	PRIMARY KEY (seq, n)
) WITHOUT ROWID;

CREATE TABLE intent (n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE draft (key TEXT PRIMARY KEY, text TEXT NOT NULL, stash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sent (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE filter_line (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

PRAGMA application_id = 2003725943;
PRAGMA journal_mode = WAL;
INSERT INTO session (n, id, folder, started, used, touched) VALUES (1, 'old', '/f', 1772600000000, 1772600000000, 2);
INSERT INTO model VALUES (1, 'openai/gpt-4o');
INSERT INTO topic VALUES (1, 0, 'AI'), (2, 1, 'Agents');
INSERT INTO pair (seq, rev, session, topic, model, star, flag, state, sec, nsec, zone, attachments, sends, parts, id) VALUES
	(1, 2, 1, 2, 1, 3, 1, 2, 1772600000, 5, 3600, 1, 1, x'0503', 'first'),
	(2, 3, 1, 0, 1, 0, 0, 2, 1772600100, 0, 0, 0, 1, x'0503', 'second');
INSERT INTO body VALUES (1, 'hello', 'yes', 'hm', '', '', '{"page":"rules"}'), (2, 'world', 'no!', '', '', '', '');
INSERT INTO attachment VALUES (1, 0, 'a.txt', 'text/plain', 3);
INSERT INTO tool_call VALUES (1, 0, 'c1', 'add', x'7b7d', x'7b2273756363657373223a747275652c226d657373616765223a226f6b227d', 0, 7, 0);
INSERT INTO draft VALUES ('d', 'typed', '["put away"]');
UPDATE counter SET rev = 3;

ALTER TABLE body ADD COLUMN sum INTEGER;
CREATE VIRTUAL TABLE words USING fts5 (
	user, answer, content='', contentless_delete=1, detail=full, tokenize='trigram case_sensitive 1'
);
CREATE TABLE unindexed (seq INTEGER PRIMARY KEY);
INSERT INTO unindexed SELECT seq FROM body;
CREATE TABLE saved_filter (name TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 2;
UPDATE body SET sum = 508358355 WHERE seq = 2;
INSERT INTO saved_filter VALUES ('good', 's3');
