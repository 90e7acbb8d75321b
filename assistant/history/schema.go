package history

import "fmt"

// applicationID marks a database file as winnow's, "wnnw" in ASCII. SQLite
// keeps it in the header of the file.
const applicationID = 0x776e6e77

// A step brings the schema from the version before it to its own. It runs in
// one transaction with the change of the version number.
type step struct {
	version int
	ddl     string
}

// The steps in order; a new database runs them all. A step that was released is
// never edited: a file made by it may be anywhere.
var steps = []step{{1, ddlFirst}, {2, ddlSearch}, {3, ddlRequests}, {4, ddlSessionState}}

// schemaVersion is what this program writes and the newest it reads.
func schemaVersion() int { return steps[len(steps)-1].version }

// ddlFirst holds the stream of pairs and what a user interface remembers.
//
// Every change of a pair carries the number of the commit that made it (rev),
// so that another process finds what changed by asking for newer numbers.
// Sessions, topics and models are rows of their own and pairs name their number:
// a million pairs repeat no long name, and a topic moves without touching a pair.
const ddlFirst = `
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
`

// ddlSearch adds the full-text index, saved filters, and a sum over each body
// that tells whether its bytes are still those that were written.
//
// The index holds no text of its own. It is filled after the fact, by the
// writer when it is idle: a pair in unindexed is searched in its body until then.
const ddlSearch = `
ALTER TABLE body ADD COLUMN sum INTEGER;
CREATE VIRTUAL TABLE words USING fts5 (
	user, answer, content='', contentless_delete=1, detail=full, tokenize='trigram case_sensitive 1'
);
CREATE TABLE unindexed (seq INTEGER PRIMARY KEY);
INSERT INTO unindexed SELECT seq FROM body;
CREATE TABLE saved_filter (name TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
`

// ddlRequests adds the requests of pairs as they were sent. The index holds
// all that is asked when the oldest are dropped.
const ddlRequests = `
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
`

// ddlSessionState adds what a session needs to go on where it was left.
const ddlSessionState = `
ALTER TABLE session ADD COLUMN queued TEXT NOT NULL DEFAULT ''; -- JSON of the prompt that waits to be sent; '' is none
ALTER TABLE session ADD COLUMN state  TEXT NOT NULL DEFAULT ''; -- JSON of the program's; '' is none
`

// migrate runs the steps that a database of this version lacks, each in a
// transaction of its own: a crash leaves the version before the step, whole.
func migrate(w *writer, from int, after func(version int)) error {
	for _, s := range steps {
		if s.version <= from {
			continue
		}
		err := w.inTx(func(t *tx) error {
			for _, q := range []string{
				s.ddl,
				fmt.Sprintf("PRAGMA user_version = %d", s.version),
				fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			} {
				if _, err := w.conn.ExecContext(w.ctx, q); err != nil {
					return err
				}
			}
			if after != nil {
				after(s.version) // before the transaction is durable: where a test pulls the plug
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("history: bring the database to version %d: %w", s.version, err)
		}
	}
	return nil
}
