package assistant

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// basePrompt explains how the assistant works; the identity comes before it.
//
//go:embed prompts/base.md
var basePrompt string

// The default identities.
const (
	windowIdentity = "You are the assistant inside a window of a program. You see the whole window, you can change it with your tools, and the user watches every step."
	chatIdentity   = "You are the assistant of a program."
)

// identity returns the text that tells the model who it is.
func (o Options) identity() string {
	if o.Window == nil {
		return cmp.Or(o.Identity, chatIdentity)
	}
	return cmp.Or(o.Identity, windowIdentity)
}

// promptParts are the sections of a system prompt, in order.
type promptParts struct {
	identity string // who the assistant is
	page     Page
	location Location
	window   string          // instructions from the window
	context  json.RawMessage // with changes_since_last_message
	payloads []PayloadType
	manifest manifest // payloads of earlier turns
	rounds   int      // limit on tool-call rounds in a turn
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

// fenced escapes JSON so that it cannot close the code block around it: a name
// in the context must not become an instruction. Backquotes occur only in JSON
// strings.
func fenced(raw json.RawMessage) string {
	return strings.ReplaceAll(string(raw), "```", `\u0060\u0060\u0060`)
}

func (p promptParts) structured() string {
	const intro = "Write these into your answer where they help, with the complete JSON on one line:"
	var formats []string
	for _, t := range p.payloads {
		if t.Source != FromTool && t.Instructions != "" {
			formats = append(formats, "\n\n"+t.Instructions)
		}
	}
	return withIntro(intro, formats)
}

// withIntro joins parts after an introduction; "" if there are no parts.
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
