// Package mcptools offers the tools of MCP servers to the assistant, in addition to the
// tools of its window.
//
// # Types
//
// A Client connects to the servers in the settings: it starts their commands, or connects
// to their addresses with streamable HTTP. Tools returns the tools of all servers that have
// answered so far. A Report describes one server: the tools it offers, the tools that were
// left out and why, and what failed.
//
// # Trust
//
// Nothing that a server says about itself is trusted. Names become names that all providers
// accept, SERVER__TOOL; descriptions and results lose hidden characters and known keys;
// schemas are rebuilt from the keywords that the core can check, without references, and
// limited in size. Hints such as readOnlyHint are ignored: each call needs the user's
// approval, unless the settings list the tool in allowed_tools. A server gets no roots, no
// sampling and no elicitation, and a command gets the environment without keys, plus its
// own env.
//
// # Concurrency
//
// All methods may be called from any goroutine. Tools does no I/O. Connections are made in
// the background, and again if a call finds that the server has ended. Close ends all
// servers within a fraction of a second.
//
// # Caveats
//
// Over HTTP only responses are read, so a change to the list of tools is noticed only after
// the next connection. On Linux a command is killed when this program ends, for whatever
// reason; on other systems the command only sees the end of its standard input.
package mcptools
