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
// The authorized_keys file is read at every login, and when it changes: the connections of
// a key that was removed, or has another role or user now, end within a second. A line
// with a certificate, or with an option that would restrict the key in a way that this
// server does not know, is left out and reported.
package sshserver
