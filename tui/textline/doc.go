// Package textline edits one line of text: the filter line, a search, a pattern, a name.
// The box for messages is package composer.
//
// An Editor holds the text and the cursor, and handles the keys that work in every line of
// the program. It moves and deletes by grapheme: a flag, an emoji of several code points, a
// letter with its accents. The caller decides which text is allowed and how it is drawn.
//
// An Editor must be used by one goroutine, the one that runs Update and View. A copy is
// independent.
//
// # Caveats
//
// Insert does not sanitise text; the caller has to.
package textline
