// Package historypane is the pane of the chat history: its topics with their pairs,
// the saved filters, and what was changed in this session, in three tabs.
//
// # Nouns
//
// A Pane shows an assistant/history.Store as one session sees it. What it shows
// has to be read, so it is a pane.Reader: it draws from the last reading, and
// says that it wants another when a commit, or Changed, has made that one old. A
// row is a line of the list of a tab; the foot is what stands below the list:
// what is to be said of the row under the cursor, and the sums.
//
// Enter shows the pairs of a topic or of a saved filter in the conversation,
// which is where pairs are worked on; space has new messages go to a topic.
//
// # Who may call what
//
// A Pane belongs to the goroutine that runs Update and View. Read is safe from
// any other: it leaves what it found where the next frame takes it.
//
// # Caveats
//
// A topic is shown by its path, and a path that names the end of a longer one
// shows the pairs of both, as the filter language has it. Until the index of all
// pairs is read there are no counts.
//
// It implements the pane of section 8.6 of the specification.
package historypane
