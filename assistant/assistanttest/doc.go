// Package assistanttest holds the other side of an assistant, for tests: a
// Script that plays a model in memory, a Server that speaks and misbehaves on
// the wire of a model, a Window to work on, and readers of what came out.
//
// # Nouns
//
// A Script and a Server are given one answer for each request they expect; the
// last one repeats. A Gate is a place where an answer stands still until the
// test opens it. Both keep every request they were sent.
//
// # Who may call what from where
//
// Everything is safe from any goroutine, but Server and Window helpers that
// take a testing.TB fail the test and so belong to its goroutine.
//
// # Caveats
//
// A Server listens on the loopback device, and so does not work in a
// testing/synctest bubble; a Script does. Every wait ends with the test or after
// ten seconds, whichever comes first.
//
// It serves section 17 of the style ("Tests"), and the promises of sections
// Network and Agent.
package assistanttest
