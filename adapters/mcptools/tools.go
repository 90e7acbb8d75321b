package mcptools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	// separator separates the names of a server and its tool. No tool of a window contains
	// it.
	separator = "__"
	// maxToolName is the maximum length of a tool name that all providers accept.
	maxToolName = 64
	// maxName is the maximum width of a name in messages, in cells.
	maxName = 80
	// maxDescription limits the description of a tool, and maxResult a result, in
	// characters.
	maxDescription = 1024
	maxResult      = 32_000
	// hashLength is the number of digits that distinguish tools whose names would otherwise
	// be equal.
	hashLength = 8
)

// category is the heading under which the tools of MCP servers are listed.
const category = "MCP"

// notUndone ends the sentences that describe what a call to a server does.
const notUndone = "cannot be undone here"

// offer converts the tools that a server lists into the tools that are offered to the model.
func (s *server) offer(listed []*sdk.Tool) (offered []assistant.Tool, r Report) {
	r = Report{Tools: []Offered{}, LeftOut: []LeftOut{}, Unknown: []string{}}
	leaveOut := func(tool, reason string) {
		if len(r.LeftOut) < maxListed {
			r.LeftOut = append(r.LeftOut, LeftOut{s.client.line(tool, maxName), reason})
		}
	}
	names, seen := map[string]bool{}, map[string]bool{}
	for i, t := range listed {
		if i >= maxListed || len(offered) >= maxTools {
			leaveOut(t.Name, fmt.Sprintf("only the first %d tools are offered", min(maxListed, maxTools)))
			continue
		}
		schema, err := boundedSchema(t.InputSchema)
		name := toolName(s.config.Name, t.Name, names)
		switch {
		case t.Name == "":
			leaveOut("(unnamed)", "every tool needs a name")
			continue
		case seen[t.Name]:
			leaveOut(t.Name, "the server lists it twice")
			continue
		case err != nil:
			leaveOut(t.Name, s.client.line("its parameters "+err.Error(), maxReason))
			continue
		}
		names[name], seen[t.Name] = true, true
		asks := !slices.Contains(s.config.AllowedTools, t.Name)
		tool := s.tool(name, t, asks)
		tool.Schema = schema
		offered = append(offered, tool)
		r.Tools = append(r.Tools, Offered{name, s.client.line(t.Name, maxName), tool.Description, asks})
	}
	for _, name := range s.config.AllowedTools {
		if !seen[name] {
			r.Unknown = append(r.Unknown, s.client.line(name, maxName))
		}
	}
	return offered, r
}

// tool returns a tool that calls the server. If asks is set, every call needs the user's approval.
func (s *server) tool(name string, t *sdk.Tool, asks bool) assistant.Tool {
	description := cut(s.client.clean(t.Description), maxDescription)
	return assistant.Tool{
		Name: name, Category: category, Server: s.config.Name, Lasting: asks, Timeout: timeout(s.config),
		Description: strings.TrimSpace(fmt.Sprintf("[MCP server %s; %s] %s", s.config.Name, notUndone, description)),
		Preview: func(_ context.Context, args json.RawMessage) (assistant.Preview, error) {
			return assistant.Preview{Ask: true, Text: safetext.Sprintf("%s on %s (MCP server); what it does %s.\n%s", s.client.opts.Redactor.Redact(t.Name), s.config.Name, notUndone, assistant.ArgumentLines(args))}, nil
		},
		Run: func(ctx context.Context, args json.RawMessage) assistant.ToolResult { return s.call(ctx, t.Name, args) },
	}
}

// unsafeInName matches a character that some providers do not accept in tool names.
var unsafeInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// maxTries is the number of names that toolName tries.
const maxTries = 4

// toolName returns the name under which a tool is offered. All providers accept the name, and
// it is not in taken.
func toolName(server, tool string, taken map[string]bool) string {
	name := server + separator + unsafeInName.ReplaceAllString(tool, "_")
	sum := sha256.Sum256([]byte(tool))
	digits := hex.EncodeToString(sum[:])
	for n := range maxTries {
		if len(name) <= maxToolName && !taken[name] {
			return name
		}
		suffix := "_" + digits[n*hashLength:][:hashLength]
		name = name[:min(len(name), maxToolName-len(suffix))] + suffix
	}
	return name
}

// cut cuts off a text after n characters; … shows that something was cut off.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}

// Result is a server's answer, for the model and for the card of the call.
type Result struct {
	Text string `json:"text,omitempty"`
	Cut  int    `json:"characters_left_out,omitempty"` // number of characters missing at the end of Text
}

// result converts a server's answer into the result of a call.
func (s *server) result(tool string, r *sdk.CallToolResult) assistant.ToolResult {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, described(c))
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		raw, err := json.Marshal(r.StructuredContent)
		if err == nil {
			parts = append(parts, string(raw))
		}
	}
	text := bounded(strings.Join(parts, "\n"))
	text = s.client.clean(text)
	data := Result{Text: cut(text, maxResult)}
	data.Cut = max(utf8.RuneCountInString(text)-maxResult, 0)
	name := s.client.line(tool, maxName)
	if !r.IsError {
		return assistant.OK(fmt.Sprintf("%s on %s: done; %s", name, s.config.Name, notUndone), data)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(data.Text), "\n")
	failed := assistant.Fail(assistant.CodeFailed, "%s on %s failed: %s; what it did until then %s", name, s.config.Name, safetext.Line(first, maxReason), notUndone)
	failed.Data = data
	return failed
}

// bounded truncates a text that is far longer than a result, before the text is processed.
func bounded(text string) string {
	const most = 16 * maxResult
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// described returns a part of a result as text. Pictures, audio and files are only named.
func described(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[a picture, %s, %d bytes, not shown]", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[a sound, %s, %d bytes, not shown]", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[a link to %s: %s]", c.Name, c.URI)
	case *sdk.EmbeddedResource:
		if c.Resource != nil && c.Resource.Text != "" {
			return c.Resource.Text
		}
		return "[a resource, not shown]"
	}
	return "[a part of an unknown kind, not shown]"
}
