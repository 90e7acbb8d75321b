package pane

import (
	"encoding/json"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// RuleProposal is the type of payload that the user accepts or rejects.
const RuleProposal = "rule_proposal"

// Choice is what the user can choose by number below an answer: a next message,
// an action, or the answer to a proposal.
type Choice struct {
	Label     string                     // safe to show, on one line
	Value     string                     // the message to send; "" for others
	Action    *assistant.SuggestedAction // nil for others
	PayloadID string                     // the ID of the proposal that Accept answers; "" for others
	Summary   string                     // of that proposal
	Accept    bool
	KeyAction string // below a failed pair: an action of the key table; "" for others
}

// maxLabel is how many cells of a label are shown.
const maxLabel = 60

// Choices are what the answer of a pair offers: payloads that wait for a decision,
// then actions, then messages. needsDecision reports whether payloads of a type
// are accepted or rejected.
func Choices(p *assistant.Pair, needsDecision func(payloadType string) bool) []Choice {
	var out []Choice
	var open []assistant.Payload
	for _, payload := range p.Payloads {
		if payload.Decision == "" && needsDecision(payload.Type) {
			open = append(open, payload)
		}
	}
	for _, payload := range open {
		of := ""
		if len(open) > 1 {
			of = providerOf(payload)
		}
		out = append(out, Choice{Label: "Accept" + of, PayloadID: payload.ID, Summary: payload.Summary, Accept: true},
			Choice{Label: "Reject" + of, PayloadID: payload.ID})
	}
	if s := p.Suggested; s != nil {
		for _, a := range s.Actions {
			out = append(out, Choice{Label: safetext.Line(Visible(a.Label), maxLabel), Action: &a})
		}
		for _, v := range s.Values {
			out = append(out, Choice{Label: safetext.Line(Visible(v.Label), maxLabel), Value: v.Value})
		}
	}
	return out
}

// providerOf is the provider whose rules a payload proposes, behind a blank; "" when it
// names none.
func providerOf(p assistant.Payload) string {
	var data struct {
		Provider string `json:"provider"`
	}
	if json.Unmarshal(p.Data, &data) != nil || data.Provider == "" {
		return ""
	}
	return " " + safetext.Line(Visible(data.Provider), maxLabel)
}

// prompter makes the message that an action of the server sends; a
// workspace.Workspace is one.
type prompter interface {
	ActionPrompt(a assistant.SuggestedAction) assistant.Prompt
}

// Prompt is the message that the choice sends; ok is false for an action of the
// client and for the answer to a proposal.
func (c Choice) Prompt(w prompter) (p assistant.Prompt, ok bool) {
	switch {
	case c.Action == nil:
		return assistant.Prompt{Text: c.Value}, c.Value != ""
	case c.Action.Handler == "server":
		return w.ActionPrompt(*c.Action), true
	}
	return assistant.Prompt{}, false
}

// ActionName is the name in the key table of an action that the model names.
func ActionName(action string) string {
	name := strings.ReplaceAll(action, "_", "-")
	if name == "open-save" {
		return "save"
	}
	return name
}
