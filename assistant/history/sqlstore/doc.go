// Package sqlstore contains the part of a history.Store that is common to all SQL databases: the use cases, written
// once on top of a small transaction type. The engines are packages sqlite and postgres.
//
// # Types
//
// A Store implements most of history.Store. It is embedded in the store of an Engine, which opens the database, runs
// transactions, and writes what is specific to this database: the texts of a pair and their index. A Dialect is the SQL
// that differs between engines. A Tx is a running transaction; a Change is a transaction that changes pairs, topics or
// saved filters, and increments meta.rev.
//
// # Statements
//
// Every argument is a ?; a Conn replaces the ? with numbers if its database requires numbers. In a shared database,
// each user has their own drafts, settings and remembered lines, and a pair has an author and a version.
//
// # Errors
//
// Changing a pair by Seq that the database does not contain fails with assistant.ErrNoPair, and the error names who
// deleted the pair if that is known. Restore only restores the marks of pairs that still exist.
//
// # Caveats
//
// A function passed to Read or Write may run more than once, so it must assign its results again each time.
package sqlstore
