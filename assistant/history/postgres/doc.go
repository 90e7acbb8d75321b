// Package postgres is a history.Store in a PostgreSQL database, version 14 or newer,
// which several people, machines and programs share. It is an engine of package
// sqlstore.
//
// # Terms
//
// An address is a postgres:// URL without a password. The author of a pair is
// the one that a served session gave it, else Options.User, else the database role.
// Pairs, sessions, topics and saved filters belong to all; drafts, settings and
// remembered lines to one author.
//
// # Transactions
//
// Each method is one transaction. When the connection breaks before the commit, the
// method runs again for a few seconds; when it breaks during the commit, the server
// is asked what became of the transaction, so that nothing is lost that was reported
// as stored and nothing is stored twice. What cannot be done is a
// *history.StorageError, also when the server does not answer for a few seconds; the
// next operations then wait less, until it answers again. A commit is durable on the
// server before it is reported.
//
// Every change first increments meta.rev, and so holds its row until it commits:
// pairs become visible in the order of their seqs. Each change notifies the other
// programs, which learn by it that Revision has grown. A store holds one connection
// to listen, and on it an advisory lock that says that it lives: a pair in state
// sending whose store has no lock is ended as interrupted by the next Open.
//
// # Search
//
// A filter line is evaluated as in SQLite, by history.Search and filter.Where. Texts
// are found by LIKE in a copy in lower case, which an index of trigrams serves where
// the extension pg_trgm is. Regular expressions are tested in this process, on the
// pairs that the other terms of the line leave, because PostgreSQL's differ from RE2.
//
// # Log of windows
//
// A program that serves a window adds what changes it to the table change; see
// history.WindowLog. A change is known by its number and time in the journal of the window
// and the path of its file, so that adding it again does nothing, also under another name
// of the host. Its numbers here grow in the order of commits, as an advisory lock orders
// those who add: who reads on from a number misses none.
//
// # Schema
//
// The tables are in the schema winnow, or the first one of search_path in the
// address. migrations/ are the numbered migrations; each is a transaction under an
// advisory lock.
//
// # Caveats
//
// Connections to other machines use TLS; sslmode=disable is for a socket and this
// machine. Behind a pooler that shares connections between transactions, the store
// neither listens nor holds its lock. PostgreSQL stores no zero bytes and no invalid
// UTF-8: such texts are stored in the column exact, and their columns hold a
// replacement for them. After a failover that lost transactions, what the server
// says of a commit that broke is not certain.
package postgres
