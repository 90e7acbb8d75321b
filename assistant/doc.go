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
// events come on one channel, in order; whoever reads it learns everything.
// Conversation, Builder and MessageList belong to one goroutine.
//
// # Caveats
//
// Text that reaches a Model's parts is sanitised by the wire (assistant/safetext);
// tool arguments are not: they are executed as received, and made safe where
// they are shown.
//
// The package implements sections 5, 7, 8.2 and 8.4 of winnow's specification.
package assistant
