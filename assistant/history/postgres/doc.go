// Package postgres implements history.Store with a PostgreSQL database, version 14 or newer, which several people,
// machines and programs can share. It is an engine of package sqlstore.
//
// # Terms
//
// An address is a postgres:// URL without a password. The author of a pair is the author that a served session
// passed, else Options.User, else the database role. All authors share the pairs, sessions, topics and saved filters;
// drafts, settings and remembered lines belong to a single author.
//
// # Transactions
//
// Each method is one transaction. If the connection breaks before the commit, the method is retried for a few seconds.
// If it breaks during the commit, the store asks the server for the outcome of the transaction, so that nothing that
// was reported as stored is lost and nothing is stored twice. A method that fails, or gets no answer from the server
// for a few seconds, returns a *history.StorageError; until the server answers again, further operations wait for a
// shorter time. A commit is durable on the server before it is reported.
//
// Every change first increments meta.rev and so locks that row until it commits; pairs therefore become visible in the
// order of their seqs. Each change notifies the other programs, which then know that Revision has increased. A store
// keeps one connection for listening. On this connection it holds an advisory lock, which shows that the store is still
// open: the next Open marks a pair in state sending as interrupted if no connection holds the lock of the store that
// sent it.
//
// # Connections
//
// A store has at most Options.Connections, one of which listens. Behind a pooler that shares connections between
// transactions, which is recognised, no connection keeps any state: every transaction begins with the settings of the
// address, no statement is prepared, and the store listens at Options.Listen, or asks for changes once a second and
// shows in the table store, instead of with a lock, that it is open.
//
// # Search
//
// A filter line is evaluated as in SQLite, by history.Search and filter.Where. Texts are found with LIKE in a
// lower-case copy, which has a trigram index if the extension pg_trgm is installed. Regular expressions are matched
// in this process, on the pairs that match the other terms of the line, because the syntax of PostgreSQL differs from
// RE2.
//
// # Log of windows
//
// A program that serves a window adds the changes of the window to the table change; see history.WindowLog. A change is
// identified by its number and time in the journal of the window and by the path of the journal, so that adding it
// twice has no effect, even if the host has been renamed. An advisory lock makes the numbers in the table increase in
// the order of the commits, so that a reader that continues after a number misses no change.
//
// # Schema
//
// The tables are in the schema winnow, or in the first schema of search_path in the address. The folder migrations
// contains the numbered migrations; each one runs in a transaction under an advisory lock.
//
// # Caveats
//
// Connections to other machines use TLS; sslmode=disable is allowed only for a socket and this machine. If a
// program behind a pooler is killed, its unfinished pair is marked as interrupted only after half a minute. PostgreSQL
// cannot store zero bytes or invalid UTF-8: such texts are stored in the column exact, and their own columns contain
// replacement characters. After a failover that lost transactions, the answer of the server about a broken commit may
// be wrong.
package postgres
