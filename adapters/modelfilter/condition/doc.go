// Package condition selects models by what they are and how they are used, such as
// `price>10 tools unused:30d`.
//
// # Types
//
// A [Condition] consists of words separated by spaces, all of which must hold; see [Words]
// for the vocabulary. A word that is not a keyword is a pattern for the name, matched like
// a rule. A [Model] is what a condition is applied to.
//
// # Unknown facts
//
// An unknown fact decides nothing: `price>10` and `!price>10` are both [Unknown] for a
// model without a price. A condition is Unknown for a model when no word is false and at
// least one is unknown.
//
// # Concurrency
//
// A Condition is immutable and may be used from any goroutine.
//
// # Caveats
//
// Conditions are unrelated to the filter language of the history: they are about models,
// not messages. A guessed context window counts as unknown.
//
// The package implements section 9.1 of winnow's specification.
package condition
