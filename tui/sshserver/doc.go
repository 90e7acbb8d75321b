// Package sshserver serves the program over SSH: whoever has a key gets the screen of
// winnow in the terminal of an ssh client, as a session of a serve.Hub.
//
// # Nouns
//
// A Server accepts connections. A connection belongs to a user, whom the comment of
// the key in the authorized_keys file names. On it the client opens channels, each of
// which runs either the screen, as a new serve.Session, or one command line. A Terminal
// is what the client says of its terminal.
//
// # What a client can do
//
// A client logs in with a public key; nothing else is offered. It can ask for a
// terminal, set the few variables of a list, change the size, and start the screen or a
// command that Options.Command runs. Everything else is refused and logged: shells,
// subsystems, the forwarding of ports, agents and displays. The screen starts no
// process on the server, and reads and writes no file there but the window and the
// history: it has no editor, does not attach files and does not export, copies by OSC 52
// alone, cannot suspend, and does not store settings.
//
// # Limits
//
// A connection logs in within loginTime. See serve.Logins for how many may
// be waiting for that. After the login Options.Connections and Options.PerUser count, and a
// connection has maxChannel channels. A client that is refused gets the reason as the
// answer to its first channel. A screen has Options.Width columns and Options.Height rows at most.
//
// # How a connection ends
//
// A lost connection is as a closed terminal: the draft is stored, and a running turn
// ends as interrupted with what was received. So is one without a key for Options.Idle,
// one that is older than Options.Total, and one whose client has not read for stallTime.
// When the context of Serve ends, idle screens close at once and running turns have
// drainTime.
//
// # Who may call what from where
//
// Serve is called once. Options.Screen and Options.Command are called from any
// goroutine, at most one at a time for a channel.
//
// # Caveats
//
// The authorized_keys file is read at every login, so that a key that is removed does
// not log in again; its open connections stay. Options of a key and certificates are
// not supported: a file with one is refused, for such options restrict what a key may do.
package sshserver
