-- The database of winnow's history, version 10. A new database is made of this
-- file; migrations/ brings older ones to the same form. Statements end with a
-- semicolon at the end of a line, and nothing else does.

-- One row. rev grows with each change of pairs, topics and saved filters.
-- version repeats PRAGMA user_version, so that a flipped byte in the header is
-- not taken for another version.
CREATE TABLE meta (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	rev     INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 0,
	clean   INTEGER NOT NULL DEFAULT 0  -- 1: nothing was written since the last process closed it; 2: the same, but its pages are to be checked
);
INSERT INTO meta VALUES (1, 1, 10, 1);

CREATE TABLE session (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	folder  TEXT NOT NULL DEFAULT '',
	window  TEXT NOT NULL DEFAULT '',
	model   TEXT NOT NULL DEFAULT '',
	page    TEXT NOT NULL DEFAULT '',
	started INTEGER NOT NULL,           -- Unix milliseconds
	used    INTEGER NOT NULL,           -- Unix milliseconds, for people
	touched INTEGER NOT NULL DEFAULT 0, -- meta.rev, for order
	queued  TEXT NOT NULL DEFAULT '',   -- JSON of the prompt that waits to be sent
	state   TEXT NOT NULL DEFAULT '',   -- JSON of the program
	title   TEXT NOT NULL DEFAULT '',   -- the user's; '': that of the first message
	parent  TEXT NOT NULL DEFAULT '',   -- id of the session that it branches from, '' for none
	upto    INTEGER NOT NULL DEFAULT 0  -- seq of the last pair that it takes over from parent
);
CREATE INDEX session_folder ON session (folder, touched);
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';

CREATE TABLE model (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- 'AI > Agents'; what is above a topic is there too.
CREATE TABLE topic (n INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);

-- What filters ask about. Narrow, so that a million rows are read at once.
CREATE TABLE pair (
	seq         INTEGER PRIMARY KEY AUTOINCREMENT,
	session     INTEGER NOT NULL,
	topic       INTEGER NOT NULL,
	model       INTEGER NOT NULL,
	star        INTEGER NOT NULL,       -- 0 to 3
	flag        INTEGER NOT NULL,       -- 1 is blue
	state       INTEGER NOT NULL,       -- 0 idle, 1 sending, 2 complete, 3 error, 4 partial
	sec         INTEGER NOT NULL,       -- created_at
	nsec        INTEGER NOT NULL,
	zone        INTEGER NOT NULL,       -- seconds east of UTC
	attachments INTEGER NOT NULL,       -- how many
	sends       INTEGER NOT NULL,       -- 1: contributes messages to a request
	parts       BLOB NOT NULL,          -- runes of each part of a request, as varints
	cut         TEXT,                   -- name of the cut that rolled it back, NULL for none
	owner       TEXT,                   -- the process that is sending it, NULL for none
	id          TEXT NOT NULL UNIQUE
);
CREATE INDEX pair_session ON pair (session, seq);
CREATE INDEX pair_cut ON pair (cut) WHERE cut IS NOT NULL;
CREATE INDEX pair_owner ON pair (owner) WHERE owner IS NOT NULL;

-- What is shown and sent.
CREATE TABLE body (
	seq           INTEGER PRIMARY KEY,
	user          TEXT NOT NULL,
	answer        TEXT NOT NULL,
	reasoning     TEXT NOT NULL,
	error_code    TEXT NOT NULL,
	error_message TEXT NOT NULL,
	more          TEXT NOT NULL,        -- JSON of the fields that have no column
	sum           INTEGER               -- CRC-32C of the other columns, see bodySum
);

-- The pictures of pairs, each once. author is 0: a file has one user.
CREATE TABLE picture (
	author INTEGER NOT NULL,
	hash   TEXT NOT NULL,               -- SHA-256 of data, in hexadecimal
	data   BLOB NOT NULL,
	PRIMARY KEY (author, hash)
);
CREATE TABLE pair_picture (
	seq    INTEGER NOT NULL,
	author INTEGER NOT NULL,
	hash   TEXT NOT NULL,
	PRIMARY KEY (seq, hash)
) WITHOUT ROWID;
CREATE INDEX pair_picture_hash ON pair_picture (hash);

-- The full-text index of body. It holds no text of its own.
CREATE VIRTUAL TABLE words USING fts5 (
	user, answer, content='', contentless_delete=1, detail=full, tokenize='trigram case_sensitive 1'
);

-- The requests of pairs as they were sent. The index holds all that is asked
-- when the oldest are dropped.
CREATE TABLE request (
	n        INTEGER PRIMARY KEY,       -- order of sending
	seq      INTEGER NOT NULL,
	response INTEGER NOT NULL,
	attempt  INTEGER NOT NULL,
	trimmed  INTEGER NOT NULL,
	model    TEXT NOT NULL,
	sec      INTEGER NOT NULL,          -- when it left
	nsec     INTEGER NOT NULL,
	zone     INTEGER NOT NULL,
	size     INTEGER NOT NULL,          -- bytes of the JSON document
	packed   INTEGER NOT NULL,          -- bytes of body
	body     BLOB NOT NULL,             -- the document, gzip
	answer   TEXT NOT NULL DEFAULT ''   -- the id of the answer to it, of those of the pair
);
CREATE INDEX request_seq ON request (seq, n, packed);

CREATE TABLE intent (n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE draft (key TEXT PRIMARY KEY, text TEXT NOT NULL, stash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sent (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE filter_line (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE saved_filter (name TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
