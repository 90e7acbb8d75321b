// Package history defines the store of message pairs and contains what all of its engines need. The engines are
// packages sqlite and postgres, which share their use cases in package sqlstore. Package historytest tests any
// engine, and package transfer exports and imports through the interface.
//
// # Types
//
// A Store contains pairs and what a user interface remembers. All pairs of all sessions and models form one stream,
// ordered by Seq, which the store assigns and never reuses; clocks play no role. A Session is a conversation, a Topic a
// node in a tree, a Draft the text of an input box. A cut pair was rolled back: until it is uncut, it is excluded from
// the view, searches, requests and exports. A sent request is the JSON document that was sent to an endpoint: the
// newest ones are stored with their pair, and never exported.
//
// For engines, Row and PackedRequest are the stored forms of a pair and a request. A Search evaluates a filter line
// on a PairReader: the line becomes one SQL condition (filter.Where), which is evaluated in spans of the stream,
// newest first.
//
// # Concurrency
//
// Every method of a Store may be called from any goroutine, but not from a function that the store calls, such as
// Env.Fits. When Commit or another writing method returns nil, its changes are durable. If it returns an error, for
// example because the disk is full, nothing has changed, neither in the database nor in memory, and the method can be
// called again.
//
// # Caveats
//
// The checksum of a pair covers everything except its marks. A flipped byte is detected when the pair is read, and
// its Notice reports it. Arguments of calls are stored byte for byte, but exported as JSON without their white space.
// Times keep their offset, but not the name of their zone.
package history
