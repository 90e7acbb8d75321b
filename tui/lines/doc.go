// Package lines reads and writes a conversation as lines of text that never change,
// for screen readers, dumb terminals and pipes.
//
// # Types
//
// A Writer adds lines: what it writes is sanitised, contains no keys, and begins
// with a label where a label says what it is. Sentences writes text that streams in,
// in whole sentences, so that a screen reader has something to read. Read returns
// the lines of an input with their times, and a Message puts a message of several
// lines together. A Turn prints the events of a turn, running or stored, for line mode and
// for winnow ask. Input makes reading end with a context, and Table aligns columns.
//
// # Concurrency
//
// A Writer, its Sentences, a Turn and a Message belong to one goroutine. Read starts one
// of its own.
package lines
