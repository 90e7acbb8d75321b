// Package historypane is the pane for the chat history: topics, saved filters, and the
// changes of this session, in three tabs.
//
// # Types
//
// A Pane shows a Snapshot of the history window, set by Show, with the topic and the
// changes of one session. After Changed it asks the window to read the history again.
//
// Enter shows the pairs of a topic or a saved filter in the conversation. Selecting a topic
// makes it the topic of new messages.
//
// # Concurrency
//
// A Pane must be used by the goroutine that runs Update and View. It has no store, and does
// no I/O.
//
// # Caveats
//
// A topic's filter line also selects other topics whose paths end in the same way, as the
// filter language defines. There are no counts until the history has been read once.
package historypane
