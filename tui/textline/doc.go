// Package textline edits one line of text: the filter line, a search, a pattern, a
// name. The box for messages is package composer.
//
// An Editor knows the text and the cursor, and the keys that every line of the
// program takes. It moves and deletes by what is seen as one character: a flag,
// an emoji of several code points, a letter with its accents. What a text may
// hold and how it is drawn is up to the place it stands in.
//
// An Editor belongs to one goroutine, the one that runs Update and View. It is
// a value: a copy stays as it is.
//
// # Caveats
//
// Insert takes text as it is; who calls it has made it safe to show.
package textline
