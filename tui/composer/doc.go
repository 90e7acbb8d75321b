// Package composer is the box in which the user writes a message.
//
// A Model is bubbles' textarea with what it lacks: typed text is never lost.
// Whatever is cleared, sent or replaced goes to a stash from which Undo brings
// it back; edits can be undone one by one; a large paste becomes a chip in the
// text while its full text is kept; and earlier messages can be called back.
//
// A Model belongs to one goroutine, the one that runs Update and View.
//
// # Caveats
//
// The textarea takes 40 ms a key at 100 KB and drops lines beyond 10,000, which
// is why a paste above ChipFrom never reaches it.
package composer
