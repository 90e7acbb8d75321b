// Package plain is winnow without a screen: the whole program as lines of output
// that never change, for screen readers, dumb terminals and pipes.
//
// # Nouns
//
// A console is one run of it. It reads lines: a message is one line (a
// backslash at its end continues it on the next one, and """ begins and ends a
// block), a command begins with /. It writes lines: each begins with a word
// that says what it is (You, Thinking, Tool, Assistant, Saved, Error); nothing
// that was written changes. An answer is written in whole sentences and lines, for
// screen readers. What can be chosen has a number, and a slash before the number
// chooses it, so that a number alone is a message like any other. What a screen
// always shows is written when it changes, and by /status. What the user can do
// is assistant/workspace; this package parses lines and renders outcomes.
//
// # Questions
//
// A permanent action is confirmed first. Only the word yes, typed after the
// question was shown, confirms it: lines that came before, or sooner after it than
// anyone can read, are no answers. Without an interactive user the answer is no.
//
// # Who may call what
//
// Run belongs to one goroutine, drives the Workspace and the Window from it
// (what takes time from a second one, while the first waits), and reads In
// from another one, which ends when In does.
//
// # Caveats
//
// A terminal hands over whole lines: the beginning of a line that was typed
// before a question and ended after it cannot be told apart. Text typed
// while an answer arrives appears in the middle of it. Files named as @path
// are words here. Markdown is left as it is, and lines are not wrapped.
//
// It implements the flag --plain of spec section 12, with the words and the
// behaviour of sections 3, 4, 5.1, 6 and 8, and the promises A6, T1 and T2.
package plain
