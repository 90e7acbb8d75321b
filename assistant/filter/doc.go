// Package filter implements the filter language. A line selects message pairs: without a command, the pairs that are
// visible and can be sent; with a command, the pairs that the command acts on.
//
// # Line
//
// Parse reads a line as a Query: an expression and an optional command. Print turns a Query into a line, so that
// Parse(Print(q)) equals q. For an invalid line, Parse returns an *Error with the column, what was found there and what
// was expected.
//
// # Expression
//
// An Expr is a tree of And, Or, Not and terms, all of which are plain values with exported fields. A nil Expr selects
// all pairs. Expand replaces saved filters. NeedsText, UsesBoundary and UnsafeForDelete examine an expression; Base
// removes the context boundary from it.
//
// # SQL
//
// Where compiles an expression to an SQL condition on a row of the table pair. A Dialect generates what differs between
// engines: the conditions on texts and authors. Names are compared in Go, so that letters of any script match
// regardless of case. The caller computes the boundary.
//
// # Completion and hints
//
// Complete lists the possible completions at the cursor. Hints suggests existing names for an unknown topic or
// session.
//
// All functions are pure and may be called from any goroutine, except that Where reads the clock if Env.Now is zero.
//
// # Caveats
//
// A * in a topic matches within one level of the path. A model is matched with and without its provider. Ages of days
// and longer units follow the calendar of Env.Location, so a day with a clock change is one day. A search for a line
// with the term o, which selects the pairs inside the context boundary, finds only pairs that the line's base selects too.
package filter
