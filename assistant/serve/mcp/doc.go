// Package mcp offers the tools of a window to other agents over the Model Context Protocol.
//
// # Nouns
//
// A client is the agent at the other end, named by its clientInfo. Unless a hub serves the window, the window is opened
// for each request and then closed, so that a client sees the changes of other users and locks the window only while it
// writes. A call to a write tool is a turn of a session, which without a hub is named after the client: its checkpoint
// is durable before the tool runs, and the history stores it as a pair with one tool call. Calls to read-only tools are
// not stored. The resources are parts of the window's context in the form that the assistant would receive.
//
// # Who may call what from where
//
// Run serves one connection to a window that no hub serves, until the connection ends. Agents serves the connections to
// a hub: Agents.ServeHTTP serves agents over HTTP, Agents.Run serves an SSH command, and Agents.ServeLocal serves
// agents on the same machine, which winnow mcp connects with Relay. The requests of a connection are handled one at a
// time; while a save is being applied, other requests are handled.
//
// # In a hub
//
// A connection has a session of the hub, opened by its first call to a write tool. The calls to write tools are turns
// of this session, so they wait for the turns of other sessions. The user and the role come from the credential: an
// agent cannot choose its name. The exception is an agent on this machine, which has proved that it runs as the user of
// the hub; the name of its user comes from its clientInfo.
//
// # Caveats
//
// A message is one line of at most 4 MiB. An invalid line is answered with the error -32700 or -32600, and the
// connection continues. A client that leaves 32 MiB of answers unread is disconnected.
//
// A tool that requires confirmation asks the user by elicitation if the client supports elicitation; note that the
// client could answer in place of its user. Otherwise, such a tool is refused unless Options.AllowSave is set or the
// setting confirm is "never".
//
// The position in the window, such as the current provider, is kept for the duration of the connection and is
// independent of all screens.
//
// The package implements the part of section 12 of winnow's specification that is about winnow mcp.
package mcp
