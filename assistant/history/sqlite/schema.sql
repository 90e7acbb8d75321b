-- The schema of a new database of winnow's history, version 10. The files in migrations/ bring
-- older databases to the same form. Each statement ends with a semicolon at the end of a line,
-- and no other line ends with one.

-- One row. rev increases with each change to pairs, topics and saved filters. version repeats
-- PRAGMA user_version, so that a flipped byte in the header is not mistaken for another version.
CREATE TABLE meta (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	rev     INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 0,
	clean   INTEGER NOT NULL DEFAULT 0  -- 0: not closed; 1: closed by the last process; 2: closed, but its pages still have to be checked
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
	used    INTEGER NOT NULL,           -- Unix milliseconds, for display only
	touched INTEGER NOT NULL DEFAULT 0, -- meta.rev of the last use, for sorting
	queued  TEXT NOT NULL DEFAULT '',   -- JSON of the queued message
	state   TEXT NOT NULL DEFAULT '',   -- JSON document of the program
	title   TEXT NOT NULL DEFAULT '',   -- set by the user; '': the first message is the title
	parent  TEXT NOT NULL DEFAULT '',   -- id of the session that this one branches from, or ''
	upto    INTEGER NOT NULL DEFAULT 0  -- seq of the last pair taken over from parent
);
CREATE INDEX session_folder ON session (folder, touched);
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';

CREATE TABLE model (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Paths such as 'AI > Agents'. All parents of a topic are rows, too.
CREATE TABLE topic (n INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);

-- The columns that filters use. The table is narrow, so that a million rows can be read quickly.
CREATE TABLE pair (
	seq         INTEGER PRIMARY KEY AUTOINCREMENT,
	session     INTEGER NOT NULL,
	topic       INTEGER NOT NULL,
	model       INTEGER NOT NULL,
	star        INTEGER NOT NULL,       -- 0 to 3
	flag        INTEGER NOT NULL,       -- 1: flagged (blue)
	state       INTEGER NOT NULL,       -- 0 idle, 1 sending, 2 complete, 3 error, 4 partial
	sec         INTEGER NOT NULL,       -- created_at
	nsec        INTEGER NOT NULL,
	zone        INTEGER NOT NULL,       -- seconds east of UTC
	attachments INTEGER NOT NULL,       -- number of attachments
	sends       INTEGER NOT NULL,       -- 1: contributes messages to a request
	parts       BLOB NOT NULL,          -- runes of each part of a request, as varints
	cut         TEXT,                   -- name of the cut that hides the pair, or NULL
	owner       TEXT,                   -- the process that is sending the pair, or NULL
	id          TEXT NOT NULL UNIQUE
);
CREATE INDEX pair_session ON pair (session, seq);
CREATE INDEX pair_cut ON pair (cut) WHERE cut IS NOT NULL;
CREATE INDEX pair_owner ON pair (owner) WHERE owner IS NOT NULL;

-- The texts of pairs.
CREATE TABLE body (
	seq           INTEGER PRIMARY KEY,
	user          TEXT NOT NULL,
	answer        TEXT NOT NULL,
	reasoning     TEXT NOT NULL,
	error_code    TEXT NOT NULL,
	error_message TEXT NOT NULL,
	more          TEXT NOT NULL,        -- JSON of the fields that have no column
	sum           INTEGER               -- CRC-32C of the pair except its marks, or NULL
);

-- The pictures of pairs, each stored once. author is 0, because a file has a single user.
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

-- The full-text index of body. It contains no copy of the texts.
CREATE VIRTUAL TABLE words USING fts5 (
	user, answer, content='', contentless_delete=1, detail=full, tokenize='trigram case_sensitive 1'
);

-- The requests of pairs as they were sent. The index contains all columns that are needed to find
-- the oldest requests when they are dropped.
CREATE TABLE request (
	n        INTEGER PRIMARY KEY,       -- order of sending
	seq      INTEGER NOT NULL,
	response INTEGER NOT NULL,
	attempt  INTEGER NOT NULL,
	trimmed  INTEGER NOT NULL,
	model    TEXT NOT NULL,
	sec      INTEGER NOT NULL,          -- when the request was sent
	nsec     INTEGER NOT NULL,
	zone     INTEGER NOT NULL,
	size     INTEGER NOT NULL,          -- bytes of the JSON document
	packed   INTEGER NOT NULL,          -- bytes of body
	body     BLOB NOT NULL,             -- the document, compressed with gzip
	answer   TEXT NOT NULL DEFAULT ''   -- id of the pair's answer that the request belongs to
);
CREATE INDEX request_seq ON request (seq, n, packed);

CREATE TABLE intent (n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE draft (key TEXT PRIMARY KEY, text TEXT NOT NULL, stash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sent (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE filter_line (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE saved_filter (name TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
