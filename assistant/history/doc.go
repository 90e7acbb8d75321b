// Package history defines the store of message pairs and contains the code that all of its engines share. The engines
// are the packages sqlite and postgres; package sqlstore contains the use cases common to both. Package historytest
// tests any engine. Package transfer exports and imports pairs through the Store interface.
//
// # Types
//
// A Store contains the pairs and the state that a user interface remembers. All pairs of all sessions and models form
// one stream, ordered by Seq, which the store assigns and never reuses; the order does not depend on clocks. A Session
// is a conversation, a Topic a node in a tree, a Draft the text of an input box. A cut pair was rolled back or is a
// cancelled answer: until it is uncut, it is excluded from the view, searches, requests and exports. A sent request is
// the JSON document that was sent to an endpoint. The newest requests are stored with their pairs; they are never exported.
//
// Row and PackedRequest are the forms in which an engine stores a pair and a request. A Search evaluates a filter line
// with a PairReader: it translates the line into one SQL condition (filter.Where) and queries one range of Seqs after
// another, newest first.
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
// The checksum of a pair covers everything except its marks and its pictures, each of which is checked against its own
// hash. If a pair does not match its checksum when it is read, its Notice reports the damage. Arguments of tool calls
// are stored byte for byte; in an export, valid JSON loses its white space. Times keep their UTC offset, but not the
// name of their time zone.
package history
