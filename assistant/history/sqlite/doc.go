// Package sqlite stores message pairs in an SQLite database. It is an engine of package sqlstore; Open returns a
// history.Store.
//
// # Writing
//
// A process writes through a single connection. When a method returns, its changes have been fsynced. Options.Redact
// removes secrets from every text before it is stored.
//
// Several processes may use the same database. Each one holds a lock while it runs. A pair in state sending belongs to
// one process; if that process dies, the next Open marks the pair as interrupted.
//
// # Search
//
// Texts are found with a full-text index of trigrams, which each commit updates. Search terms with fewer than three
// characters are searched for in the texts themselves.
//
// # Files
//
// schema.sql is the current schema; the files in migrations upgrade older schemas, after a backup. The folder PATH.run
// contains the locks of the processes that have the database open. A new database is renamed to its final name only
// when it is complete.
//
// The column meta.clean records whether the last process closed the database; if that process did not close it, Open
// checks the database before writing anything. A damaged database is renamed unchanged, and the rows that SQL can still
// read are copied to a new one; Report counts them. Any other error during this copy leaves everything unchanged. If
// nothing can be written, the store is read-only.
//
// # Caveats
//
// If a -wal file is removed, the changes that were only in that file are lost: Report sets LostWAL, but the store
// cannot count the lost changes. The file system must support locks. On Windows, file modes have no effect.
package sqlite
