// Package credential decides who may use a served window, and in which role. Users have
// tokens, stored only as hashes.
//
// # Nouns
//
// A Credential is what a client has proved: a user with a role. Tokens is a file of tokens.
// Watch reports changes of such files.
//
// # Who may call what from where
//
// All functions and methods may be called from any goroutine, and several processes may
// change the same file.
package credential
