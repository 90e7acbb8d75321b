// Package assistant is the core of winnow: an assistant that sees a window and
// changes it through tools; every change can be undone. It knows nothing of
// terminals; any Go program can embed it by implementing Window.
//
// # Types
//
// A Window gives context, tools and a prompt, and its state can be restored. A
// Pair is one user message and everything the assistant produced for it. A turn
// starts with a message and ends with the assistant's last response; a response is one
// streamed completion of an llm.Model. A round is a response with tool calls and their
// results. Session runs turns for a user interface and reports them as Events;
// Conversation and Builder are the plain way to use a model with tools, without
// window, history or checkpoints. Models come from an llm.Registry.
//
// # Concurrency
//
// Session methods are safe from any goroutine and return copies. Next and Follow return
// what changes in a session, and the events of its turns, as one ordered log for any
// number of readers: a State in immutable parts that all readers share, and the events in
// order. The parts of the window come from a WindowLog, which the sessions of a window
// share. Send returns the events of one turn on a channel, which must be read
// to the end. No reader holds up a turn. While a turn runs, what works
// on window, journal or pairs (Start, LoadView, Edit, Save, Rollback, UndoRollback,
// Renew, Resume, Delete, Decide, Request) is refused with ErrBusy; a turn that is
// started while one of them works waits for it. These, Queue, Mark, Pairs and
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
