// Package assistanttest provides the surroundings of an assistant for tests: a
// Script that plays a model in memory, a Server that speaks and misbehaves as an
// endpoint, a Window to work on, and readers of events and parts.
//
// # Nouns
//
// A Script and a Server are given one answer for each request they expect; the
// last one repeats. Both store every request they were sent. A Gate is where an
// answer waits until the test opens it.
//
// # Who may call what from where
//
// Everything is safe from any goroutine, but helpers that take a testing.TB fail
// the test and so belong to its goroutine.
//
// # Caveats
//
// A Server listens on the loopback device, and so does not work in a
// testing/synctest bubble; a Script does. Every wait ends with the test or after
// ten seconds, whichever comes first.
package assistanttest
