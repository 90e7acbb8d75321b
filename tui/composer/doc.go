// Package composer is the box in which the user writes a message.
//
// A Model is a textarea of bubbles that never loses typed text. Undo reverts
// edits one by one, and brings back what was cleared, sent or replaced. A large
// paste becomes a chip in the text; its full text is stored beside it. Older and Newer
// walk through sent messages, and through the stash: cleared texts.
//
// A Model belongs to one goroutine, the one that runs Update and View.
//
// # Caveats
//
// The textarea takes 40 ms a key at 100 KB and drops lines beyond 10,000, which
// is why a paste above ChipFrom never reaches it.
package composer
