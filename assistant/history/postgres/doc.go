// Package postgres implements history.Store with a PostgreSQL database that several people, machines and programs can
// share. It requires PostgreSQL 14 or newer, and is an engine of package sqlstore.
//
// # Terms
//
// An address is a postgres:// URL without a password. The author of a pair is the user of a served session, or else
// Options.User, or else the database role. All authors share the pairs, sessions, topics and saved filters; drafts,
// settings and remembered lines belong to a single author.
//
// # Transactions
//
// Each method is one transaction. If the connection breaks before the commit, the method is retried for a few seconds.
// If it breaks during the commit, the store asks the server for the outcome of the transaction, so that nothing that
// was reported as stored is lost and nothing is stored twice. A method that cannot reach the server, or gets no answer
// for a few seconds, returns a *history.StorageError; until the server answers again, further methods wait for a shorter
// time. A commit is durable on the server before it is reported.
//
// Every change first increments meta.rev, which locks that row until the commit; pairs therefore become visible in the
// order of their seqs. Each change notifies the other programs that Revision has increased. A store listens for these
// notifications on a connection of its own. On this connection it also holds an advisory lock, which shows that the
// store is open: the next Open marks a pair in state sending as interrupted if no connection holds the lock of the
// store that sent the pair.
//
// # Connections
//
// A store has at most Options.Connections connections, one of which listens. The store detects a pooler that shares
// connections between transactions. Behind such a pooler, no connection keeps any state: every transaction begins by
// applying the settings of the address, and no statement is prepared. The store listens at Options.Listen; without that
// address, it polls for changes once a second and, instead of holding a lock, renews its row in the table store to show
// that it is open.
//
// # Search
//
// A filter line is evaluated as in SQLite, by history.Search and filter.Where. Texts are found with LIKE in a
// lower-case copy, which has a trigram index if the extension pg_trgm is installed. Regular expressions are matched in
// this process, on the pairs that match the other terms of the line, because the syntax of PostgreSQL differs from RE2.
//
// # Log of windows
//
// A program that serves a window records each change in the table named change; see history.WindowLog. A change is
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
// Connections to other machines use TLS; sslmode=disable is allowed only for a socket or this machine. If a program
// behind a pooler is killed, its unfinished pair is marked as interrupted only after half a minute. PostgreSQL cannot
// store NUL bytes or invalid UTF-8: a text that contains them is stored in the column exact, and its own column has
// replacement characters. After a failover that lost transactions, the server may report the wrong outcome of a broken
// commit.
package postgres
