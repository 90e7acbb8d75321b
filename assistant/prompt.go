package assistant

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// basePrompt is how the assistant works; who it is stands before it.
//
//go:embed prompts/base.md
var basePrompt string

// The identities of Options without one.
const (
	windowIdentity = "You are the assistant inside a window of a program. You see the whole window, you can change it with your tools, and the user watches every step."
	chatIdentity   = "You are the assistant of a program."
)

// identity is who the assistant is.
func (o Options) identity() string {
	if o.Window == nil {
		return cmp.Or(o.Identity, chatIdentity)
	}
	return cmp.Or(o.Identity, windowIdentity)
}

// promptParts are the sections of a system prompt, in their order.
type promptParts struct {
	identity string // who the assistant is
	page     Page
	location Location
	window   string          // the window's own instructions
	context  json.RawMessage // with changes_since_last_message
	payloads []PayloadType
	manifest manifest // payloads of earlier turns that can be fetched
	rounds   int      // of tool calls that a turn may have
}

const dataHeading = "== CONVERSATION DATA =="

// build writes the system prompt. Empty sections are left out.
func (p promptParts) build() string {
	var sections []string
	section := func(heading, body string) {
		if body = strings.TrimSpace(body); body != "" {
			sections = append(sections, strings.TrimPrefix(heading+"\n\n"+body, "\n\n"))
		}
	}
	limits := strings.NewReplacer("{rounds}", strconv.Itoa(p.rounds), "{calls}", strconv.Itoa(maxCalls))
	section("", cmp.Or(p.page.Identity, p.identity+"\n\n"+limits.Replace(basePrompt)))
	section("", p.window)
	if len(p.context) > 0 {
		section("## Current Context", "```json\n"+fenced(p.context)+"\n```")
	}
	if p.page.Context != nil {
		section("## Page", p.page.Context(p.location))
	}
	section("== STRUCTURED RESPONSES ==", p.structured())
	section(dataHeading, p.manifest.text())
	section("== CLIENT ACTIONS ==", p.actions())
	return strings.Join(sections, "\n\n")
}

// fenced escapes JSON so that it cannot end the code block it stands in: a name in
// the context must not become an instruction. Only JSON strings have backquotes.
func fenced(raw json.RawMessage) string {
	return strings.ReplaceAll(string(raw), "```", `\u0060\u0060\u0060`)
}

func (p promptParts) structured() string {
	const intro = "Write these into your answer where they help, the JSON complete and on one line:"
	var formats []string
	for _, t := range p.payloads {
		if t.Source != FromTool && t.Instructions != "" {
			formats = append(formats, "\n\n"+t.Instructions)
		}
	}
	return withIntro(intro, formats)
}

// withIntro joins parts after their introduction; "" when there are none.
func withIntro(intro string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return intro + strings.Join(parts, "")
}

func (p promptParts) actions() string {
	lines := make([]string, len(p.page.ClientActions))
	for i, a := range p.page.ClientActions {
		lines[i] = fmt.Sprintf("- %s: %s", a.Action, a.Description)
		if fields := a.fields(); len(fields) > 0 {
			lines[i] += " (data: " + strings.Join(fields, ", ") + ")"
		}
	}
	return strings.Join(lines, "\n")
}
