// Package assistant is the core of winnow: an assistant that sees a window and
// changes it through tools; every change can be undone. It knows nothing of
// terminals; any Go program can embed it by implementing Window.
//
// # Where to begin
//
// The examples are programs, one for each part:
//
//   - Example: a Window with a tool, and a Session in it. Implement Window; its comment
//     lists what else a window may do.
//   - Pages: what the model is offered depends on where the user is. Without Pages it is
//     offered the tools of the window everywhere.
//   - PayloadType: structured data in an answer, which the user may accept or reject.
//   - Conversation: a model with tools, without window, history and checkpoints.
//   - Session.Rollback: a history in SQLite and a journal, which undoes changes.
//   - EncodeEvent: the events of a turn over HTTP.
//
// A model is named "provider/name" after an llm.Provider in an llm.Registry, such as a client
// of assistant/openai. What cannot work is an error at once: NewSession and NewConversation
// return a *llm.ConfigError.
//
// # Types
//
// A Pair is one user message and everything the assistant produced for it. A turn
// starts with a message and ends with the assistant's last response; a response is one
// streamed completion of an llm.Model. A round is a response with tool calls and their
// results. Session runs turns for a user interface and reports them as Events. The pairs of
// which a request is made are its View; one message at a time waits in its MessageQueue.
//
// # Concurrency
//
// Session methods are safe from any goroutine and return copies. Begin starts a turn, and
// Events returns its events to one reader. Next and Follow return
// what changes in a session, and the events of its turns, as one ordered log for any
// number of readers: a State in immutable parts that all readers share, and the events in
// order. The parts of the window come from a WindowLog, which the sessions of a window
// share. No reader holds up a turn: one that stops reading only misses events. While a turn
// runs, what works on window, journal or pairs (Start, LoadView, Edit, Save, Rollback,
// UndoRollback, Renew, Resume, Delete, Decide, Request) is refused with ErrBusy; a turn that
// is started while one of them works waits for it. These, Queue, Mark, Pairs and
// SentRequests may wait for the disk; Draft, Quota, Boundary and LastSend answer from
// memory. Conversation, Builder and message.List belong to one goroutine.
//
// # Caveats
//
// The implementation of an llm.Model sanitises the text of its parts (assistant/safetext).
// Tool arguments are executed as received, and sanitised where they are shown.
//
// No call of a response runs unless the response was received whole and sound: see
// llm.End. See assistant/openai for which lost or repeated events are noticed.
//
// A tool that ignores the end of its ctx is abandoned: no checkpoint covers what it does
// afterwards.
//
// The text of a pair and of its TextDeltas has card markers, [[tool:N]];
// markup.Pieces splits it. What a model writes that looks like one is escaped.
//
// Without a Journal nothing can be undone, and write tools do not change the
// window unless Options.WithoutCheckpoints is set.
//
// A model that its endpoint listed before but no longer lists is refused with
// llm.ErrModelGone; one that was never listed is not.
package assistant
