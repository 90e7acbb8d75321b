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
// Texts are found with a full-text index of trigrams, which each commit updates. Terms with fewer than three characters
// and regular expressions are matched against the texts themselves, as is the reasoning, which is not indexed.
//
// # Files
//
// schema.sql is the current schema; the files in migrations upgrade older schemas, after a backup. The folder PATH.run
// contains the locks of the processes that have the database open. A new database is renamed to its final name only
// when it is complete.
//
// The column meta.clean records whether the last process closed the database. If it did not, Open checks every page
// before writing anything; a large database is checked while in use. A damaged database is renamed unchanged, and the
// rows that SQL can still read are copied to a new one; Report counts them. If this copy fails for a reason other than
// damage, everything stays unchanged. If nothing can be written, the store is read-only.
//
// # Caveats
//
// If a -wal file is removed, the changes that were only in that file are lost: Report sets LostWAL, but the store
// cannot count the lost changes. The file system must support locks. On Windows, file modes have no effect.
package sqlite
