// Package plain is line mode: the program as lines of output that never change, for
// screen readers, dumb terminals and pipes. Its printers serve winnow ask as well.
//
// # Types
//
// A console is one run of it: it reads a line, does what the line says, and reads the
// next. A message is one line (see Message), a command begins with / and is a row
// of slash.Table. Turns are printed as winnow ask prints them; what
// commands do is in assistant/workspace. Each line of output begins with a word that says
// what it is (You, Tool, Assistant, Saved, Error). What can be chosen has a number, and a
// slash before the number chooses it, so that a number alone is a message like any other.
// What a screen always shows is written when it changes, and by /status. What :command of
// a filter line does (stars, flags, topics, deletion, export) has no command of its own:
// /filter does it.
//
// A Writer adds lines: what it writes is sanitised, contains no keys, and begins
// with a label where a label says what it is. Sentences writes text that streams in,
// in whole sentences, so that a screen reader has something to read. ReadLines returns
// the lines of an input with their times, and a Message puts a message of several
// lines together. TurnLines prints the events of a turn, running or stored. Input makes
// reading end with a context, and Table aligns columns.
//
// # Questions
//
// A permanent action is confirmed first. Only the word yes, typed after the
// question was shown, confirms it: lines that came before, or sooner after it than
// anyone can read, are no answers. Without an interactive user the answer is no.
//
// # Concurrency
//
// Run belongs to one goroutine and drives the Workspace from it. While something runs,
// a second one waits for Ctrl+C. Another goroutine reads In, and ends when In does. A
// Writer, its Sentences, a TurnLines and a Message belong to one goroutine.
//
// # Caveats
//
// A terminal hands over whole lines: the beginning of a line that was typed
// before a question and ended after it cannot be told apart. Text typed
// while an answer arrives appears in the middle of it, and is handled after it.
// Markdown is left as it is, and lines are not wrapped.
package plain
