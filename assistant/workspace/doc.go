// Package workspace implements what a user can do in winnow. Each use case is implemented once, for every front end:
// a screen, plain lines, a command, a server.
//
// # Terms
//
// A Workspace is one session with its window, its journal and the history of one folder. Its methods are the use
// cases. They return typed outcomes: data that a front end renders, never styled text and never the name of a key. A
// use case that needs a confirmation returns a Confirm and changes nothing; the front end asks the user and calls the
// method again with confirmed set.
//
// # Concurrency
//
// All methods may be called from any goroutine. Session, Author, Cancel, Answer, CheckSend, Queued, QuitCheck, Unsaved,
// LastStep, EndReAsk and ReAsked do not access the disk. Every other method may wait for the disk, so a screen calls it
// outside its update loop. Read the visible pairs, the boundary and the counter from Session.
//
// # Caveats
//
// Without a History, a workspace lasts only as long as its process: it has no drafts, no sent messages and no other
// sessions, and methods that need the history return ErrNoHistory.
//
// The package implements the parts of sections 5 to 10 and 12 of winnow's specification that describe what a user can
// do.
package workspace
