// Package history is the chat history as a window: the assistant searches,
// reads, summarises, stars, flags and re-topics the pairs of assistant/history,
// and every change can be rolled back like that of any other window.
//
// # Nouns
//
// A Window is a view of a Store; it holds no pairs. A pair is named by its
// number in the stream, which is never given twice. Marks are what the tools
// can change: the stars, flag and topic of each pair. Selected is what the user
// has open: the filter line, the session, the topic and the model.
//
// # State
//
// The state of a checkpoint is the marks of all uncut pairs that are not as a
// new pair's, as runs of numbers ("3-9") under each value, and the tree of
// topics. It says nothing of pairs that are newer than it: applied, such a pair
// gets back what it had before the tools of this Window changed it, and
// otherwise stays as it is. Texts are never part of it, and no tool deletes a
// pair.
//
// # Who may call what
//
// All methods are safe from any goroutine. Where, Locked, Lock, Unlock, Dirty,
// Prompt, Tools and SetContextBudget answer from memory; the others read the
// store and do not belong into an update loop. The user's own marks go to the
// Store; made in Session.Edit they become a step that can be undone. The model is
// told of all of them with the next message.
//
// # Caveats
//
//   - What the tools did to a pair newer than a checkpoint is known to this
//     Window only: a rollback of the rules alone, after a restart, to a
//     checkpoint that is older than the pair, leaves the pair's marks.
//   - A rollback undoes the user's marks of the time after it, too, and its undo
//     restores those that were recorded in the journal.
//   - A topic that holds pairs newer than the state, or cut ones, stays when the
//     state does not have it.
//   - A pair that is being answered is not found and cannot be marked by the
//     tools: it is the request itself.
//
// It implements sections 8.6, 7.1 and 7.2 of the specification.
package history
