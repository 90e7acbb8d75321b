// Package lines reads and writes a conversation as lines of text that never change,
// for screen readers, dumb terminals and pipes.
//
// # Types
//
// A Writer adds lines: what it writes is sanitised, contains no keys, and begins
// with a label where a label says what it is. Sentences writes text that streams in,
// in whole sentences, so that a screen reader has something to read. Read returns
// the lines of an input with their times, and a Message puts a message of several
// lines together. A Dialogue asks questions of a task that runs in another goroutine.
// Input makes reading end with a context, and Table aligns columns.
//
// # Concurrency
//
// A Writer, its Sentences and a Message belong to one goroutine. Read starts one of
// its own, and so does Dialogue.Run, which belongs to that of the Writer.
package lines
