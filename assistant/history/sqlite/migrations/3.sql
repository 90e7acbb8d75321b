-- Version 3: the requests of pairs as they were sent.
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
	body     BLOB NOT NULL              -- the document, gzip
);
CREATE INDEX request_seq ON request (seq, n, packed);
