// Package history is the chat history as a window. The assistant searches, reads, summarises, stars and flags the
// pairs of assistant/history and sets their topics. Every change can be rolled back, as in any other window.
//
// # Types
//
// A Window is a view of a Store and contains no pairs itself. A pair is identified by its sequence number, which is
// never reused. Marks are what the tools can change: the stars, the flag and the topic of each pair. Selected is what
// the user has selected on the screen: the filter line, the session, the topic and the model.
//
// # State
//
// The state of a checkpoint contains the marks of all uncut pairs that differ from those of a new pair, as ranges of
// sequence numbers ("3-9") per value, and the tree of topics. It does not contain pairs newer than the state: for
// such a pair, Apply restores the marks that it had before the tools of this Window changed them, and changes no
// other marks. A state never contains texts, and no tool deletes a pair.
//
// # Concurrency
//
// All methods may be called from any goroutine. Where, Locked, Lock, Unlock, Dirty, Prompt, Tools, Changes and
// SetContextBudget answer from memory. The others read the store, so do not call them in an update loop. The user's
// own marks are set in the Store; within Session.Edit they become a step that can be undone. The model is told about
// all of them with the next message.
//
// # Caveats
//
//   - Only this Window knows what the tools did to a pair that is newer than a
//     checkpoint: after a restart, rolling back only the rules to that checkpoint does
//     not restore the pair's marks.
//   - A rollback also reverts marks that the user set after the checkpoint; undoing the
//     rollback restores those that the journal has recorded.
//   - A topic that the state does not contain is kept if it has cut pairs or pairs newer
//     than the state.
//   - The tools neither find nor mark a pair that is being answered, because it is the
//     request itself.
package history
