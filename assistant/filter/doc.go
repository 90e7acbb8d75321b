// Package filter is the filter language: one line that decides which message pairs are
// visible, which decides what can be sent, and what a command does to them.
//
// # Line
//
// Parse reads a line as a Query: an expression and optionally a command. Print
// writes it again; Parse(Print(q)) gives q again. A line that cannot be read gives
// an *Error with the column, what was found there and what was expected.
//
// # Expression
//
// An Expr is a tree of And, Or, Not and terms, all plain values with exported fields.
// A nil Expr selects all pairs. Expand replaces saved filters; NeedsText, UsesBoundary,
// UnsafeForDelete and Base analyse an expression.
//
// # SQL
//
// Where compiles an expression to one condition of SQL about a row of the table
// pair. Only full-text search and regular expressions differ between engines: a
// Dialect writes them. Names are compared here, so that letters of any script
// match in either case; the boundary is the caller's to compute.
//
// # Completion and hints
//
// Complete lists what can stand at the cursor. Hints names what a topic or
// session that does not exist may have meant.
//
// Everything here is pure and safe from any goroutine. Only Where reads the clock,
// and only if Env.Now is zero.
//
// # Caveats
//
// A * in a topic stays within one level of its path. A model is matched with
// and without its provider. Ages in days and longer follow the calendar of
// Env.Location, so a day with a clock change is still one day. The result of a
// line with o is always part of its base.
package filter
