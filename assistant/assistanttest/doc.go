// Package assistanttest provides fakes for tests of an assistant: a Script is a
// model in memory, a Server an endpoint that can fail, a Window what the tools
// change. Its functions collect events and parts.
//
// # Nouns
//
// A Script and a Server are given one answer for each request they expect; the
// last one repeats. Both store every request they were sent. A Gate blocks
// an answer until the test opens it.
//
// # Who may call what from where
//
// Everything is safe from any goroutine, but helpers that take a testing.TB fail
// the test and so belong to its goroutine.
//
// # Caveats
//
// A Server listens on the loopback interface, and so does not work in a
// testing/synctest bubble; a Script does. Every wait ends with the test or after
// ten seconds, whichever comes first.
package assistanttest
