// Package plain is line mode: the program with output in lines that never change, for
// screen readers, dumb terminals and pipes. winnow ask uses its printers too.
//
// # Types
//
// A console is one run of line mode: it reads a line, carries it out, and reads the next
// line. A message is usually one line; Message says how to continue it on further lines. A
// command starts with / and is a row of keymap.CommandTable. Turns are printed as in winnow
// ask; what a command does is implemented in assistant/workspace. Parts of a turn and results
// start with a label (You, Tool, Assistant, Saved, Error). Choices are numbered and chosen
// with a slash and the number, so that a number without a slash is an ordinary message. State
// that a screen always shows is printed when it changes, and by /status. The commands of
// filter lines (stars, flags, topics, deletion, export) have no slash commands: use /filter.
//
// A Writer prints lines, with or without a label; its output is sanitised and contains no API
// keys. Sentences prints streamed text in whole sentences, so that a screen reader has
// enough text to read aloud. ReadLines returns the lines of an input with their times, and
// a Message assembles a message from one or more lines. TurnLines prints the events of a
// running or stored turn. Input makes reads end when a context ends, and Table aligns
// columns.
//
// # Questions
//
// A permanent action must be confirmed first. Only the word yes, typed after the question
// was shown, confirms it: lines that arrived before the question, or sooner than anyone can
// read it, are not answers. Without an interactive user the answer is no.
//
// # Concurrency
//
// Run uses the Workspace from its own goroutine. While something is running, a second
// goroutine waits for Ctrl+C. Another goroutine reads In, and ends when In ends. A Writer,
// its Sentences, a TurnLines and a Message must be used by one goroutine.
//
// # Caveats
//
// A terminal passes on whole lines, so a line that was started before a question and ended
// after it cannot be detected. Text typed while an answer arrives appears in the middle of
// the answer, and is handled afterwards. Markdown is printed unchanged. On a terminal of
// known width, lines are wrapped between words.
package plain
