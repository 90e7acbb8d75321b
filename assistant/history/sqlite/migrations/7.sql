-- Version 7: pictures.
CREATE TABLE picture (author INTEGER NOT NULL, hash TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (author, hash));
CREATE TABLE pair_picture (seq INTEGER NOT NULL, author INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (seq, hash)) WITHOUT ROWID;
CREATE INDEX pair_picture_hash ON pair_picture (hash);
UPDATE meta SET version = 7;
