// Package workspace is what a user can do in winnow, each use case once, for
// every front end: a screen, plain lines, a command, a server.
//
// # Nouns
//
// A Workspace is one session with its window, its journal and the history of
// one folder. Its methods are the use cases. They return typed outcomes: data
// that a front end renders, never styled text and never the name of a key.
// A use case that needs a confirmation returns a Confirm and does nothing: the
// front end asks, and calls again with confirmed set.
//
// # Who may call what from where
//
// All methods are safe from any goroutine. Send, Cancel, Answer, CheckSend,
// Queued, QuitCheck, Unsaved, LastStep and the ReAsk methods answer from memory;
// every other method may wait for the disk, so a screen calls it outside its
// update loop. Visible pairs, boundary and counter are read from Session.
//
// # Caveats
//
// Without a History a workspace is as durable as its process: no drafts, no
// sent messages, no other sessions; methods that need it return ErrNoHistory.
//
// The package implements sections 5 to 10 and 12 of winnow's specification as
// far as they describe what a user can do.
package workspace
