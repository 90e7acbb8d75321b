// Package condition selects models by what they are and how they are used, such as
// `price>10 tools unused:30d`.
//
// # Types
//
// A [Condition] is words joined by blanks, all of which must hold; see [Words] for the
// vocabulary. A word that is no keyword is a pattern for the name, matched as a rule is.
// A [Model] is what a condition is asked about.
//
// # Unknown facts
//
// A fact that is unknown decides nothing: `price>10` and `!price>10` are both [Unknown]
// for a model without a price. A condition is Unknown for a model when no word is false
// and at least one is unknown.
//
// # Concurrency
//
// A Condition is immutable and safe for concurrent use.
//
// # Caveats
//
// Conditions have nothing in common with the filter language of the history; they are
// about models, not messages. A context window that is only a guess is unknown.
//
// The package implements section 9.1 of winnow's specification.
package condition
