// Package assistant is the core of winnow: an assistant that sees a window,
// changes it through tools, and can take every change back. It knows nothing
// of terminals; any Go program can embed it by implementing Window.
//
// # Nouns
//
// A Window gives context, tools and a prompt and takes state back. A Pair is
// one user message and everything the assistant produced for it. A turn goes
// from sending a message to the assistant's last response; a response is one
// streamed completion of a Model. Session drives turns for a user interface
// and reports them as Events; Conversation and Builder are the plain way to
// talk to a model with tools, without window, history or checkpoints.
//
// # Who may call what from where
//
// Session methods are safe from any goroutine and return copies. A turn's
// events come on one channel, in order, and must be read to the end; whoever
// reads it learns everything. While a turn runs, what works on window, journal
// or pairs (Begin, LoadView, Edit, Saved, Rollback, UndoRollback, Renew, Delete,
// Decide, Request) is refused with ErrBusy; a turn that is started while one of
// them is at work waits for it. These, Mark, Pairs and SentRequests may wait for
// the disk; Draft, Quota, Boundary and LastSend answer from memory.
// Conversation, Builder and MessageList belong to one goroutine.
//
// # Caveats
//
// Text that reaches a Model's parts is sanitised by the wire (assistant/safetext);
// tool arguments are not: they are executed as received, and made safe where
// they are shown.
//
// A tool that does not heed its ctx is left behind when its time is over: what
// it does then is in no checkpoint.
//
// The text of a pair and of its TextDeltas holds markers, [[tool:N]]; Pieces
// takes it apart. What a model writes in their likeness is escaped.
//
// Without a Journal nothing can be taken back, and write tools do not change
// the window unless Options.WithoutCheckpoints says that this is meant.
//
// The package implements sections 5, 7, 8.2 and 8.4 of winnow's specification.
package assistant
