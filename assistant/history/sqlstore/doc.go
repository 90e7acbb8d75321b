// Package sqlstore contains the part of a history.Store that is common to all SQL databases: the use cases, written
// once on top of a small transaction type. The engines are the packages sqlite and postgres.
//
// # Types
//
// A Store implements most of history.Store. Each engine embeds a Store in its own type, which implements Engine: it runs
// the transactions and writes the texts of pairs and their index. A Dialect contains the SQL that differs between
// engines. A Tx is a running transaction. A Change is a transaction that changes pairs, topics or saved filters, and
// increments meta.rev.
//
// # Statements
//
// Every argument is written as ?; a Conn replaces each ? with a number if its database requires that. In a shared database,
// each user has their own drafts, settings, sent messages and filter lines, and a pair has an author and a version.
//
// # Errors
//
// Deleting or marking a pair whose Seq is not in the database, or changing its answers, fails with assistant.ErrNoPair;
// the error names who deleted the pair, if that is known. Restore ignores missing pairs.
//
// # Caveats
//
// A function passed to Read or Write may run more than once, so each run must assign all of its results again.
package sqlstore
