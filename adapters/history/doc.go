// Package history is the chat history as a window: the assistant searches,
// reads, stars, flags and re-topics the pairs of assistant/history, keeps
// filters, and every change can be rolled back like that of any other window.
//
// # Nouns
//
// A Window is a view of a Store; it holds no pairs. A pair is named by its
// number in the stream, which is never given twice. Marks are what the tools
// can change: the stars, flag and topic of each pair, the tree of topics, and
// the saved filters. Selected is what the user has open: the filter line, the
// session, the topic and the model.
//
// # State
//
// The state of a checkpoint is the marks of all uncut pairs that are not as a
// new pair's, as runs of numbers ("3-9") under each value, so that it stays
// small. It says nothing of pairs that are newer than it: applied, such a pair
// gets back what it had before the tools of this Window touched it, and
// otherwise stays as it is. Texts are never part of it, and no tool deletes
// a pair.
//
// # Who may call what
//
// All methods are safe from any goroutine. Where, Locked, Lock, Unlock, Dirty,
// Prompt, Tools and SetContextBudget answer from memory; the others read the
// store and do not belong into an update loop. The user's own marks go to the
// Store; made in Session.Edit they become a step that can be undone. Whatever
// way they are made, the model is told of them with the next message.
//
// # Caveats
//
//   - The store has no transaction over several kinds of marks. ApplyState puts
//     what it did back when it fails midway; when the process dies midway, the
//     journal's intent carries it on at the next start.
//   - What the tools did to a pair newer than a checkpoint is known to this
//     Window only: a rollback of the rules alone, after a restart, to a
//     checkpoint that is older than the pair, leaves the pair's marks.
//   - A rollback takes back the user's marks of the time after it, too, and its
//     undo brings back those that were recorded in the journal.
//   - A topic that holds pairs newer than the state stays when the state does
//     not have it.
//   - A pair that is being answered is no find and cannot be marked by the tools:
//     it is the request itself.
//
// It implements sections 8.6, 7.1 and 7.2 of the specification.
package history
