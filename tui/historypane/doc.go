// Package historypane is the pane of the chat history: topics, saved filters,
// and the changes of this session, in three tabs.
//
// # Types
//
// A Pane shows a Snapshot of the history window, which Show gives it, with the topic and the
// changes of one session. After Changed it wants the window to read the history again.
//
// Enter shows the pairs of a topic or a saved filter in the conversation, where
// pairs are worked on. Select gives new messages the topic of the row.
//
// # Concurrency
//
// A Pane belongs to the goroutine that runs Update and View. It has no store, and does no
// I/O.
//
// # Caveats
//
// A topic's filter line also selects a topic whose path ends in the same way, as the
// filter language defines. There are no counts until the history was read once.
package historypane
