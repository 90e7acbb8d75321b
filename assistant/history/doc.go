// Package history stores message pairs and finds them by filter lines.
//
// # Types
//
// A Store holds pairs and what a user interface remembers; Open returns the one
// on SQLite, and package historytest tests any implementation. Row, PackedRequest and
// Search are what all of them need; package transfer exports and imports.
//
// All pairs of all sessions and models make one stream, ordered by Seq, which the
// store assigns and never reuses; no clock takes part. A Session is a conversation, a
// Topic a node of a tree, a Draft the text of an input box. A cut pair was rolled
// back: it is not in view, search, requests and exports until it is uncut. A sent
// request is the JSON document that went to an endpoint: the newest are stored
// with their pair, compressed, and never exported.
//
// # Writing
//
// Every method of a Store may be called from any goroutine, except from a callback of
// the store. One connection of a process writes. When Commit or another writing method
// returns nil, its changes are fsynced. When a batch fails, on a full disk for
// example, nothing has changed, neither on disk nor in memory, and it can be
// committed again. Options.Redact removes secrets from every text first.
//
// Several processes may use one database. Each holds a lock for as long as it
// runs; a pair in state sending belongs to one of them, and the next Open after
// its death ends the pair as an error with code interrupted.
//
// # Search
//
// A filter line becomes one SQL condition (filter.Where), which is evaluated in spans
// of the stream, the newest first. Texts are found by a full-text index of trigrams,
// which the store fills in small transactions in the background. For pairs that are
// not in it yet, and for needles of fewer than three characters, the texts are read.
//
// # Files
//
// schema.sql is the schema; migrations/ bring older ones to it, after a backup.
// The folder PATH.run contains the locks of the processes that have the database
// open, and a file with the state they left it in. Open checks a database that was
// not closed by Close before it writes anything. A damaged one is renamed
// unchanged, and the rows that SQL can read are copied into a new one; Report
// counts them. Where nothing can be written, the store is read-only.
//
// # Caveats
//
// Changes that were only in a -wal file that somebody removed are lost: Report
// says LostWAL, but not how many. The checksum of a pair covers all but its
// marks; a byte that flipped is found when the pair is read, and its Notice says
// so. The file must be on a file system with working locks. On Windows file modes have no effect.
package history
