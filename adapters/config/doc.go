// Package config reads winnow's settings: one TOML file, the environment and
// the flags of the command line. It knows in which folders winnow keeps its files.
//
// # Types
//
// A Setting is one key with its default and what it accepts. Settings are the
// values in force; an Origin is where one of them comes from. A Provider is
// an endpoint of the file's [[provider]] list. A Secret is a key or a header of
// one: the text itself, or where to find it (env:NAME, cmd:WORDS, keyring:NAME).
// A Home names winnow's folders and the files in them; none need exist. Check makes sure
// that no other user can replace what is in them; MakePrivate makes one of them.
//
// # Order
//
// Flag, then environment (WINNOW_ and the key in capitals), then file, then
// default. The file is strict: a key that does not exist is an *Error with its
// line and the nearest key that does.
//
// # Concurrency
//
// Load, Secret.Resolve and the methods of Home do I/O; Load and Resolve may run commands
// and wait. All other functions are pure.
// Settings belong to the caller.
//
// # Caveats
//
// On Windows the modes of folders protect nothing, and Check finds nothing.
//
// Secrets are not resolved before they are needed: cmd: and keyring: may ask
// the user. Errors and printed forms contain no secret.
package config
