// Package assistanttest provides fakes for tests of an assistant: a Script is a model in
// memory, a Server is an endpoint that can fail, and a Window is changed by its tools.
// Functions collect events and parts.
//
// # Nouns
//
// A Script or a Server gets one answer for each expected request; the last one repeats.
// Both record all requests. A Gate blocks an answer until the test opens it.
//
// # Concurrency
//
// Everything may be used from any goroutine, except helpers that take a testing.TB: they
// may fail the test, so only its goroutine may call them.
//
// # Caveats
//
// A Server listens on the loopback interface, so it does not work in a testing/synctest
// bubble; a Script does. Every wait ends with the test or after ten seconds, whichever
// comes first.
package assistanttest
