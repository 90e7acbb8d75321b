// Package history keeps message pairs on disk, in one SQLite database, and
// finds, exports and imports them.
//
// # Nouns
//
// A Store is the open database; it is an assistant.Store. All pairs of all
// sessions and models make one stream, ordered by Seq, which the store gives and
// never gives twice; no clock takes part. A Session is a conversation, a Topic a
// node of a tree, a Draft what stands in an input box. A cut pair was rolled
// back: it is out of view, search, requests and exports until it is uncut. A sent
// request is the JSON document that went to an endpoint: the newest are kept
// with their pair, packed, to be looked at; they are never exported.
//
// # Writing
//
// One goroutine owns the one connection that writes. What Commit and the other
// writing methods return nil for is fsynced. A batch is one transaction. When it
// fails, on a full disk for example, nothing has happened, in memory neither,
// and the same batch can be committed again.
//
// Several processes may use one database. Each holds a lock for as long as it
// lives; a pair in state sending belongs to one of them, and the next Open after
// its death ends the pair as an error with code interrupted.
//
// # Finding
//
// The columns that filters ask about lie in memory, in blocks that never change,
// and are kept up with commits of this process and of others. They are read
// block by block when Warm says so, or when a filter first needs them; Open, and
// the pairs of one session, need none of it. Texts are found by a full-text
// index of runs of three letters, which the writer fills in small bites when it
// is idle and the store has been open for a second; pairs it has not reached
// yet, and needles too short for it, are read. Either way the result is what
// filter.Eval would give.
//
// # Damage
//
// Open checks a file that was not closed in peace, unless it is a large one that
// is still as the log was last folded into it: whoever died since wrote into the
// log alone, which has sums of its own. A damaged one is set aside unchanged, and
// what is readable is saved in a new one; Report counts.
//
// All methods of Store are safe from any goroutine.
//
// # Caveats
//
// Changes that were only in a -wal file that somebody removed are gone: Report
// says LostLog, nobody can say how many. A byte that flipped inside a text is
// found by Check and by a salvage, not by reading the pair. Arguments of calls
// are kept byte for byte, but exported as JSON, hence without their white space.
// Times keep their offset, not the name of their zone. The file must lie on a
// file system with working locks. On Windows file modes mean nothing.
//
// The package implements sections 8.1, 8.3 and 10 of winnow's specification,
// the promises D1 to D12 as far as the database goes, and K3.
package history
