// Package sqlite stores message pairs in one SQLite database. It is an engine of
// package sqlstore; Open returns a history.Store.
//
// # Writing
//
// One connection of a process writes. What a method has written is fsynced when it
// returns. Options.Redact removes secrets from every text first.
//
// Several processes may use one database. Each holds a lock for as long as it
// runs; a pair in state sending belongs to one of them, and the next Open after
// its death ends the pair as an error with code interrupted.
//
// # Search
//
// Texts are found by a full-text index of trigrams, which each commit keeps up to date.
// For needles of fewer than three characters the texts are read.
//
// # Files
//
// schema.sql is the schema; migrations/ bring older ones to it, after a backup.
// The folder PATH.run contains the locks of the processes that have the database
// open. A new database gets its name when it is complete. The column meta.clean says
// whether the last process closed it; otherwise Open checks it before it writes
// anything. A damaged one is renamed unchanged, and the rows that SQL can read are
// copied into a new one; Report counts them. Any other error while they are read
// leaves everything as it was. Where nothing can be written, the store is read-only.
//
// # Caveats
//
// Changes that were only in a -wal file that somebody removed are lost: Report
// says LostWAL, but not how many. The file must be on a file system with working
// locks. On Windows file modes have no effect.
package sqlite
