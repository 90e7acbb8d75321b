package config

import (
	"fmt"
	"regexp"
	"time"
)

// MCPServer is a server whose tools the assistant may use: an entry of [[mcp]]. It has either a command, which is
// started and communicates over standard input and output, or an address for streamable HTTP.
type MCPServer struct {
	Name         string            `toml:"name" json:"name"`
	Command      []string          `toml:"command" json:"command,omitempty"` // runs without a shell
	Env          map[string]Secret `toml:"env" json:"env,omitempty"`         // additional variables for the command, which never inherits keys
	URL          string            `toml:"url" json:"url,omitempty"`
	Headers      map[string]Secret `toml:"headers" json:"headers,omitempty"`
	AllowHTTP    bool              `toml:"allow_http" json:"allow_http,omitempty"`       // allow an unencrypted connection
	AllowedTools []string          `toml:"allowed_tools" json:"allowed_tools,omitempty"` // tools that run without asking the user
	Timeout      string            `toml:"timeout" json:"timeout,omitempty"`             // timeout of a call, such as "90s"; "" means a minute
	Line         int               `toml:"-" json:"line"`
}

// mcpKeys lists the keys of an [[mcp]].
var mcpKeys = []string{"name", "command", "env", "url", "headers", "allow_http", "allowed_tools", "timeout"}

// entryName is the form of the name of an MCP server or a target. A server's name is the prefix of the names of its
// tools, for which providers accept up to 64 letters, digits, _ and -.
var entryName = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,22}[a-zA-Z0-9])?$`)

// maxCallTimeout is the longest timeout of a call.
const maxCallTimeout = time.Hour

// CallTimeout returns the timeout of a call, or 0 if it is not set.
func (m MCPServer) CallTimeout() time.Duration {
	d, _ := time.ParseDuration(m.Timeout) // Load has checked it
	return d
}

// checkMCP sets the lines of the MCP servers and returns the first error, or nil.
func (s *Settings) checkMCP(path string, lines []int) error {
	first := map[string]int{}
	for i := range s.MCPServers {
		m := &s.MCPServers[i]
		m.Line = lines[min(i, len(lines)-1)]
		reason := nameProblem(m.Name, first)
		switch d, err := time.ParseDuration(m.Timeout); {
		case reason != "":
		case (len(m.Command) > 0) == (m.URL != ""):
			reason = "it needs either command (a list of words) or url"
		case len(m.Command) > 0 && m.Command[0] == "":
			reason = "command: the first word, the program, is empty"
		case m.URL != "" && m.Env != nil:
			reason = "env is for a command; headers are for a url"
		case m.URL == "" && m.Headers != nil:
			reason = "headers are for a url; env is for a command"
		case m.Timeout != "" && (err != nil || d <= 0 || d > maxCallTimeout):
			reason = fmt.Sprintf("timeout: %s is not a duration of at most 1h, such as \"90s\"", quoted(m.Timeout))
		}
		if reason != "" {
			return mcpError(path, m, reason)
		}
		first[m.Name] = m.Line
	}
	return nil
}

// nameProblem returns what is wrong with the name of an entry, or "". first contains the line of each earlier entry's
// name.
func nameProblem(name string, first map[string]int) string {
	switch {
	case name == "":
		return "name is missing"
	case !entryName.MatchString(name):
		return fmt.Sprintf("the name %s must consist of 1 to 24 letters, digits and -, without - at either end", quoted(name))
	case first[name] > 0:
		return fmt.Sprintf("the entry on line %d has the same name", first[name])
	}
	return ""
}

func mcpError(path string, m *MCPServer, reason string) error {
	where := "mcp"
	if entryName.MatchString(m.Name) {
		where += " " + m.Name
	}
	return &Error{path, m.Line, where, reason}
}
