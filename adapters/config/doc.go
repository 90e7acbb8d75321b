// Package config reads winnow's settings from a TOML file, the environment and command-line flags. It also defines
// the folders of winnow's files.
//
// # Types
//
// A Setting describes one key: its default and what it accepts. Settings holds the values in effect; an Origin is
// where a value comes from. A Provider is an entry of the file's [[provider]] list. A Secret is a key, or a header
// that contains one: either the text itself or a reference (env:NAME, cmd:WORDS, keyring:NAME). StoreInKeyring
// stores a key in the keyring of the desktop or the system. A Home names winnow's folders and the files in them, none
// of which need exist. Check ensures that no other user can replace the files; MakePrivate creates a folder.
//
// # Order
//
// Flags override environment variables (WINNOW_ followed by the key in capitals), which override the file, which
// overrides the defaults. The file is strict: an unknown key is an *Error with its line and the nearest known key.
//
// # Concurrency
//
// Secret.Resolve, Target.ReadToken and StoreInKeyring may run commands and wait. Load, Set, Edit, MakePrivate,
// RepairFile, HasKeyring, IsKey, WithoutKeys and the methods of Home may access files. The other functions do no I/O.
// Settings belong to the caller.
//
// # Caveats
//
// On Windows, the modes of folders and files have no effect, and Check does not look at them.
//
// Secrets are resolved only when they are needed, because cmd: and keyring: may ask the user for a password. Errors
// and printed forms contain no secret.
package config
