// Package sshserver serves the program over SSH: anyone with a key gets winnow's screen in the
// terminal of an ssh client, as a session of a serve.Hub.
//
// # Types
//
// A Server accepts connections. A connection belongs to a user, who is named by the comment
// of the key in the authorized_keys file. The client opens channels on its connection, each
// of which runs either the screen, in a serve.Session, or one command line. A Terminal is
// what the client reports about its terminal.
//
// # What a client can do
//
// A client logs in with a public key; nothing else is offered. It can request a terminal, set a
// few allowed variables, change the size, and start the screen or a command that Options.Command
// runs. Everything else is refused and logged: shells, subsystems, and the forwarding of ports,
// agents and displays. The screen starts no process on the server, and reads and writes no file
// there except the window and the history: it has no editor, does not attach files and does not
// export, copies only by OSC 52, cannot suspend, and does not store settings.
//
// # Limits
//
// A connection must log in within loginTime; serve.Logins limits how many connections may
// be waiting for a login. After the login, Options.Connections and Options.PerUser apply,
// and a connection has at most maxChannel channels. A client that is refused gets the
// reason as the answer to its first channel. A screen has at most Options.Width columns and
// Options.Height rows.
//
// # How a connection ends
//
// A lost connection is treated like a closed terminal: the draft is stored, and a running turn
// ends as interrupted, with what was received. The server closes a connection after Options.Idle
// without a key press, after Options.Total in any case, and when its client has not read for
// stallTime. When the context of Serve ends, idle screens close at once, and running turns have
// drainTime to end.
//
// # Concurrency
//
// Serve is called once. Options.Screen and Options.Command are called from any
// goroutine, at most one at a time for each channel.
//
// # Caveats
//
// The authorized_keys file is read at every login, and when it changes: the connections of a key
// that was removed, or that now has another role or user, end within a second. A line with a
// certificate, or with an option that this server does not support and that might restrict the
// key, is left out and reported.
package sshserver
