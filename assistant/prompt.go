package assistant

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed prompts/base.md
var basePrompt string

// promptParts are the sections of a system prompt, in their order (spec §5.1).
type promptParts struct {
	page     Page
	location Location
	window   string          // the window's own instructions
	context  json.RawMessage // with changes_since_last_message
	payloads []PayloadType
	manifest []Payload // payloads of earlier turns that can be fetched
	tools    []Tool
}

// build writes the system prompt. Empty sections are left out.
func (p promptParts) build() string {
	var b strings.Builder
	section := func(heading, body string) {
		if body = strings.TrimSpace(body); body == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if heading != "" {
			b.WriteString(heading + "\n\n")
		}
		b.WriteString(body)
	}
	identity := p.page.Identity
	if identity == "" {
		identity = basePrompt
	}
	section("", identity)
	section("", p.window)
	if len(p.context) > 0 {
		section("## Current Context", "```json\n"+fenced(p.context)+"\n```")
	}
	if p.page.Context != nil {
		section("## Page", p.page.Context(p.location))
	}
	section("== STRUCTURED RESPONSES ==", p.structured())
	section("== CONVERSATION DATA ==", p.data())
	section("== TOOLS ==", p.toolList())
	section("== CLIENT ACTIONS ==", p.actions())
	return b.String()
}

// fenced is JSON that cannot end the code block it stands in: a name in the
// context is never an instruction. Only strings of JSON hold backquotes.
func fenced(raw json.RawMessage) string {
	return strings.ReplaceAll(string(raw), "```", `\u0060\u0060\u0060`)
}

func (p promptParts) structured() string {
	var parts []string
	for _, t := range p.payloads {
		if t.Source == FromLLM && t.Instructions != "" {
			parts = append(parts, t.Instructions)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Write these into your answer where they help, the JSON complete and on one line:\n\n" + strings.Join(parts, "\n\n")
}

func (p promptParts) data() string {
	if len(p.manifest) == 0 {
		return ""
	}
	lines := []string{"AVAILABLE PAYLOADS (use get_payload tool to retrieve full data):"}
	for _, m := range p.manifest {
		line := fmt.Sprintf("- [%s] %s", m.ID, m.Summary)
		if m.Decision != "" {
			line += " (" + m.Decision + " by the user)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (p promptParts) toolList() string {
	lines := make([]string, len(p.tools))
	for i, t := range p.tools {
		first, _, _ := strings.Cut(t.Description, "\n")
		lines[i] = fmt.Sprintf("- %s: %s", t.Name, first)
	}
	return strings.Join(lines, "\n")
}

func (p promptParts) actions() string {
	lines := make([]string, len(p.page.ClientActions))
	for i, a := range p.page.ClientActions {
		lines[i] = fmt.Sprintf("- %s: %s", a.Action, a.Description)
		if len(a.Parameters) > 0 {
			lines[i] += " (data: " + strings.Join(a.Parameters, ", ") + ")"
		}
	}
	return strings.Join(lines, "\n")
}
