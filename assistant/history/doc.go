// Package history stores message pairs in one SQLite database, and finds, exports
// and imports them.
//
// # Nouns
//
// A Store holds pairs and what a user interface remembers; Open returns the one
// on SQLite, and package historytest says what any other promises. All pairs of all
// sessions and models make one stream, ordered by Seq, which the store assigns
// and never assigns twice; no clock takes part. A Session is a conversation, a
// Topic a node of a tree, a Draft the text of an input box. A cut pair was rolled
// back: it is out of view, search, requests and exports until it is uncut. A sent
// request is the JSON document that went to an endpoint: the newest are stored
// with their pair, compressed, and never exported. A Command is the :command of a
// filter line with all that it left open filled in.
//
// # Writing
//
// One connection of a process writes. What Commit and the other writing methods
// return nil for is fsynced. When a batch fails, on a full disk for example,
// nothing has changed, in memory neither, and it can be committed again.
// Options.Redact takes secrets out of every text first.
//
// Several processes may use one database. Each holds a lock for as long as it
// lives; a pair in state sending belongs to one of them, and the next Open after
// its death ends the pair as an error with code interrupted.
//
// # Finding
//
// A line of the filter language is one SQL condition (filter.Where), which is
// evaluated in spans of the stream, the newest first. Texts are found by a
// full-text index of runs of three letters, which the store fills in small
// transactions when nobody writes. Pairs that are not in it yet, and needles too
// short for it, are read.
//
// # Files
//
// schema.sql is the schema, migrations/ bring older ones to it, after a copy.
// Beside the database lies a folder with the locks of the processes that have it
// open and the state it was left in. Open reads a database that was not closed in
// an orderly way before it writes anything. A damaged one is set aside unchanged,
// and the rows that SQL can read are copied into a new one; Report counts. Where
// nothing can be written, the store reads.
//
// # Caveats
//
// Changes that were only in a -wal file that somebody removed are lost: Report
// says LostLog, nobody can say how many. The sum of a pair covers all but its
// marks; a byte that flipped is found when the pair is read, and its Notice says
// so. Arguments of calls are stored byte for byte, but exported as JSON, without
// their white space. Times keep their offset, not the name of their zone. The file
// must lie on a file system with working locks. On Windows file modes mean nothing.
//
// The package implements sections 8.1, 8.3 and 10 of winnow's specification,
// the promises D1 to D12 as far as the database goes, and K3.
package history
