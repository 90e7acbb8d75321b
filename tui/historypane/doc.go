// Package historypane is the pane of the chat history: topics, saved filters,
// and the changes of this session, in three tabs.
//
// # Types
//
// A Pane shows an assistant/history.Store to one session. It draws what Read
// has read last, and is stale after a commit or Changed.
//
// Enter shows the pairs of a topic or a saved filter in the conversation, where
// pairs are worked on. Select gives new messages the topic of the row.
//
// # Concurrency
//
// A Pane belongs to the goroutine that runs Update and View. Read is safe from
// any other; the next frame shows what it has read.
//
// # Caveats
//
// A topic's filter line also selects a topic whose path ends in the same way, as the
// filter language defines. There are no counts until the first Read.
package historypane
