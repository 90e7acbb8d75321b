// Package history is the chat history as a window: the assistant searches,
// reads, summarises, stars and flags the pairs of assistant/history and sets their
// topics, and every change can be rolled back, as in any other window.
//
// # Types
//
// A Window is a view of a Store; it holds no pairs. A pair is named by its
// number in the stream, which is never reused. Marks are what the tools
// can change: the stars, flag and topic of each pair. Selected is what is open on the
// screen: the filter line, the session, the topic and the model.
//
// # State
//
// The state of a checkpoint is the marks of all uncut pairs that differ from those of
// a new pair, as ranges of numbers ("3-9") for each value, and the tree of topics. It
// does not contain pairs that are newer than it: Apply gives such a pair the
// marks that it had before the tools of this Window changed it, and changes no other
// marks of it. Texts are never part of a state, and no tool deletes a pair.
//
// # Concurrency
//
// All methods are safe from any goroutine. Where, Locked, Lock, Unlock, Dirty,
// Prompt, Tools, Changes and SetContextBudget answer from memory; the others read
// the store: do not call them in an update loop. The user's own marks are set in the
// Store; inside Session.Edit they become a step that can be undone. The model is
// told of all of them with the next message.
//
// # Caveats
//
//   - Only this Window knows what the tools did to a pair that is newer than a
//     checkpoint: after a restart, a rollback of the rules alone to that
//     checkpoint does not restore the pair's marks.
//   - A rollback also undoes the marks that the user set after the checkpoint;
//     undoing it restores those that were recorded in the journal.
//   - A topic that the state does not have is kept when it has pairs newer than
//     the state, or cut ones.
//   - The tools neither find nor mark a pair that is being answered: it is the
//     request itself.
package history
