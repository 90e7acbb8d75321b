// Package history says what a store of message pairs is, and has what every engine of
// one needs. The engines are packages sqlite and postgres, which share their use cases
// in package sqlstore; package historytest tests any engine, and package transfer
// exports and imports over the interface.
//
// # Types
//
// A Store holds pairs and what a user interface remembers. All pairs of all sessions
// and models make one stream, ordered by Seq, which the store assigns and never
// reuses; no clock takes part. A Session is a conversation, a Topic a node of a tree,
// a Draft the text of an input box. A cut pair was rolled back: it is not in view,
// search, requests and exports until it is uncut. A sent request is the JSON document
// that went to an endpoint: the newest are stored with their pair, and never exported.
//
// For engines: Row and PackedRequest are the stored forms of a pair and a request.
// A Search evaluates a filter line over a PairReader: the line becomes one SQL
// condition (filter.Where), which is evaluated in spans of the stream, newest first.
//
// # Concurrency
//
// Every method of a Store may be called from any goroutine, but not by a function that
// the store calls, such as Env.Fits. When Commit or another writing method returns nil,
// its changes are durable. When one fails, on a full disk for example, nothing has
// changed, neither stored nor in memory, and it can be called again.
//
// # Caveats
//
// The checksum of a pair covers all but its marks; a byte that flipped is found when
// the pair is read, and its Notice says so. Arguments of calls are stored byte for
// byte, but exported as JSON, without their white space. Times keep their offset, not
// the name of their zone.
package history
