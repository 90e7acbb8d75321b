// Package sqlstore is the part of a history.Store that is the same in every SQL
// database: the use cases, written once over a small transaction type. The engines
// are packages sqlite and postgres.
//
// # Types
//
// A Store implements most of history.Store. It is embedded in the store of an
// Engine, which opens the database and runs transactions, and writes what only it
// has: the texts of a pair and what is indexed of them. A Dialect is the SQL that
// differs. A Tx is a running transaction; a Change is one that changes pairs, topics
// or saved filters, and counts meta.rev.
//
// # Statements
//
// Every argument is a ?; a Conn numbers them where its database wants that. In a
// database that users share, each has drafts, settings and remembered lines of
// their own, and a pair has an author and a version.
//
// # Errors
//
// A change by Seq of a pair that the database does not have fails with
// assistant.ErrNoPair, and says who deleted it where that is known. Restore only
// restores the marks of pairs that still exist.
//
// # Caveats
//
// A function that is given to Read or Write may run more than once, so it assigns
// its results again each time.
package sqlstore
