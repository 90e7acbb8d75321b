// Package assistant is the core of winnow: an assistant that sees a window and
// changes it through tools; every change can be undone. It knows nothing about
// terminals; any Go program can embed it by implementing Window.
//
// # Where to begin
//
// The examples are programs, one for each part:
//
//   - Example: a Window with a tool, and a Session that uses it. Implement Window; its
//     comment lists the optional interfaces.
//   - Pages: what the model is offered depends on where the user is. Without Pages, all
//     tools of the window are offered everywhere.
//   - PayloadType: structured data in an answer, which the user can accept or reject.
//   - Conversation: a model with tools, without a window, history or checkpoints.
//   - Session.Rollback: history in SQLite and a journal that can undo changes.
//   - EncodeEvent: the events of a turn over HTTP.
//
// A model is named "provider/name" after an llm.Provider in an llm.Registry,
// for example a client of assistant/openai. An invalid configuration fails
// early: NewSession and NewConversation return a *llm.ConfigError.
//
// # Types
//
// A Pair is one user message and everything the assistant produced for it. A
// turn starts with a message and ends with the assistant's last response; a
// response is one streamed completion of an llm.Model. A round is a response
// with tool calls and their results. Session runs turns for a user interface
// and reports them as Events. Requests are built from the pairs in its View.
// One message at a time can wait in its MessageQueue.
//
// # Concurrency
//
// Session methods may be called from any goroutine and return copies. Begin starts a
// turn, and Events returns its events to one reader. Next and Follow return the
// changes of a session and the events of its turns as one ordered log, for any
// number of readers: a State in immutable parts that all readers share, and the
// events in order. The window's parts come from a WindowLog, which all sessions
// of a window share. A slow reader never holds up a turn; it only misses
// events. While a turn runs, methods that work on window, journal or pairs
// (Start, LoadView, Edit, Save, Rollback, UndoRollback, Renew, Resume, Delete,
// Decide, Request) return ErrBusy; a turn started while one of them runs waits
// for it. These methods and Queue, Mark, Pairs and SentRequests may wait for
// the disk; Draft, Quota, Boundary and LastSend answer from memory.
// Conversation, Builder and message.List must be used by one goroutine at a
// time.
//
// # Caveats
//
// The text in the parts of an llm.Model is clean (assistant/safetext). Tool
// arguments are executed as received and sanitised where they are shown.
//
// The calls of a response run only if the response was received complete and
// undamaged: see llm.End. assistant/openai documents which lost or repeated
// events are detected.
//
// A tool that ignores the end of its ctx is abandoned: no checkpoint covers
// what it does afterwards.
//
// The text of a pair and its TextDeltas contain card markers, [[tool:N]];
// markup.Pieces splits it. Text from a model that looks like a marker is
// escaped.
//
// Without a Journal nothing can be undone, and write tools do not change the
// window unless Options.WithoutCheckpoints is set.
//
// A model that its endpoint used to list but no longer does is rejected with
// llm.ErrModelGone; one that was never listed is accepted.
package assistant
