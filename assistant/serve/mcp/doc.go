// Package mcp offers the tools of a window to other agents, by the Model Context
// Protocol.
//
// # Nouns
//
// A client is the agent at the other end, named by its clientInfo. Each request is
// answered from a window that is opened for it and closed after it, so a client
// sees what others change, and holds the window only while it writes. A call of a
// write tool is a turn of a session named after the client: its checkpoint is
// durable before the tool runs, and the history has it as a pair with one tool
// call. Calls that only read are in no history. The resources are parts of the
// window's context, as the assistant would be given it.
//
// # Who may call what from where
//
// Run serves one connection until its end. Requests of one connection are answered
// one after the other.
//
// # Caveats
//
// A message is one line of at most 4 MiB. A line that is not a message is answered with
// the error -32700 or -32600 and the connection goes on. A client that leaves 32 MiB of
// answers unread is disconnected.
//
// A tool that the user must confirm asks by elicitation where the client supports
// it; the client could answer in the place of its user. Elsewhere such a tool is
// refused, unless Options.AllowSave is set or the setting confirm is "never".
//
// The position in the window, such as the current provider, lasts as long as the
// connection.
//
// The package implements the part of section 12 of winnow's specification about
// winnow mcp.
package mcp
