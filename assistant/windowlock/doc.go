// Package windowlock lets the sessions of several users work in one window: one of them
// changes it at a time, and all of them learn who did what.
//
// # Types
//
// A Lock is the lock of what the sessions share: a window, its journal and the history. A
// Member is the part of one session in it. A section is a short piece of work on window
// and journal, such as an edit or the begin of a turn; sections wait for each other. A
// hold is the right of a turn to change the window, from its first write tool to its end:
// meanwhile changes by hand of other members are refused with a *HeldError, and the turn
// of another member waits before its first write tool. Sections that change nothing go
// on. While a turn waits for an answer of its user it has no hold.
//
// # Concurrency
//
// All methods are safe from any goroutine, and those of a nil *Member do nothing: a
// session that has its window to itself is one without a Member. A section must not
// begin another one.
package windowlock
