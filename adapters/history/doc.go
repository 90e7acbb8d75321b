// Package history is the chat history as a window. The assistant searches, reads, summarises, stars and flags the pairs
// of assistant/history and sets their topics. Every change can be rolled back, as in any other window.
//
// # Types
//
// A Window is a view of a Store and contains no pairs itself. A pair is identified by its sequence number, which is
// never reused. Marks are what the tools can change: the stars, the flag and the topic of each pair. Selected is what
// the user has selected on the screen: the filter line, the session, the topic and the model.
//
// # State
//
// The state of a checkpoint contains the tree of topics and, for all uncut pairs, the marks that differ from the marks
// of a new pair, as ranges of sequence numbers ("3-9") for each value. It does not contain pairs newer than the state.
// For such a pair, Apply restores the marks that it had before the tools of this Window changed them; all other marks
// of the pair stay. A state never contains texts, and no tool deletes a pair.
//
// # Concurrency
//
// All methods may be called from any goroutine. Where, Locked, Lock, Unlock, Dirty, Describe, Tools, Changes, Snapshot,
// Revision, Changed and SetContextBudget do not access the store. The other methods read the store, so do not call them
// in an update loop. The user's own marks are set in the Store; within Session.Edit, they become a step that can be
// undone. The next message informs the model of all of these marks.
//
// # Caveats
//
//   - Only this Window knows what the tools did to a pair that is newer than a
//     checkpoint: after a restart, rolling back only the rules to that checkpoint does
//     not restore the pair's marks.
//   - A rollback also reverts marks that the user set after the checkpoint; undoing the
//     rollback restores those marks that the journal has recorded.
//   - A topic that the state does not contain is kept if it has cut pairs or pairs newer
//     than the state.
//   - The tools neither find nor mark a pair that is being answered, because that pair is
//     the request itself.
package history
