package pane

import (
	"encoding/json"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
)

// RuleProposal is the type of the payloads that propose rules, which the user can accept or
// reject.
const RuleProposal = "rule_proposal"

// Choice is something that the user can choose by number below an answer: to send a message,
// to run an action, or to accept or reject proposals.
type Choice struct {
	Label     string                     // safe to show, on one line
	Message   string                     // the message to send; "" for other choices
	Action    *assistant.SuggestedAction // the action to run; nil for other choices
	Proposals []string                   // IDs of the payloads that the choice accepts or rejects; nil for other choices
	Summary   string                     // summary of the proposals that the choice accepts; "" for other choices
	Accept    bool                       // the proposals are accepted; otherwise they are rejected
	KeyAction keymap.Action              // action of the key table, offered below a failed pair; "" for other choices
}

// ProposedRule is a change to the rules that a RuleProposal proposes.
type ProposedRule struct {
	Text    safetext.Text // "ignore *mini* on openai"; different changes have different texts
	Removes bool          // removes a rule; otherwise adds one
	Allows  bool          // of the allow rules; otherwise of the ignore rules
}

// ProposedRules returns the changes of a RuleProposal and the reasons for them, if there are any.
func ProposedRules(p assistant.Payload) (rules []ProposedRule, reasoning safetext.Text) {
	var r struct {
		Provider     string        `json:"provider"`
		AddIgnore    []string      `json:"add_ignore"`
		AddAllow     []string      `json:"add_whitelist"`
		RemoveIgnore []string      `json:"remove_ignore"`
		RemoveAllow  []string      `json:"remove_whitelist"`
		Reasoning    safetext.Text `json:"reasoning"`
	}
	if p.Type != RuleProposal || json.Unmarshal(p.Data, &r) != nil {
		return nil, ""
	}
	var on safetext.Text
	if r.Provider != "" {
		on = safetext.Sprintf(" on %s", r.Provider)
	}
	add := func(patterns []string, does safetext.Text, removes, allows bool) {
		for _, pattern := range patterns {
			rules = append(rules, ProposedRule{does + " " + safetext.Visible(pattern) + on, removes, allows})
		}
	}
	add(r.RemoveIgnore, "no longer ignore", true, false)
	add(r.RemoveAllow, "no longer allow", true, true)
	add(r.AddAllow, "allow", false, true)
	add(r.AddIgnore, "ignore", false, false)
	return rules, r.Reasoning
}

// maxLabel is the maximum width of a label in cells.
const maxLabel = 60

// maxEach is the maximum number of proposals that the user can accept or reject one by one.
// More proposals can only be accepted or rejected together, so that every choice has a number.
const maxEach = 3

// Choices returns what a pair's answer offers: to accept or reject the proposals that are
// still open, then actions, then messages. isProposal reports whether payloads of a type are
// proposals.
func Choices(p *assistant.Pair, isProposal func(payloadType string) bool) []Choice {
	var out []Choice
	var open []assistant.Payload
	for _, payload := range p.Payloads {
		if payload.Decision == "" && isProposal(payload.Type) {
			open = append(open, payload)
		}
	}
	if len(open) > 1 {
		var all []string
		for _, payload := range open {
			all = append(all, payload.ID)
		}
		out = append(out, Choice{Label: "Accept all", Proposals: all, Summary: assistant.Counted(len(all), "proposal"), Accept: true}, Choice{Label: "Reject all", Proposals: all})
	}
	if len(open) > maxEach {
		open = nil
	}
	for _, payload := range open {
		of := ""
		if len(open) > 1 {
			of = providerOf(payload)
		}
		out = append(out, Choice{Label: "Accept" + of, Proposals: []string{payload.ID}, Summary: payload.Summary, Accept: true},
			Choice{Label: "Reject" + of, Proposals: []string{payload.ID}})
	}
	if s := p.Suggested; s != nil {
		for _, a := range s.Actions {
			c := Choice{Label: string(safetext.Line(Visible(string(a.Label)), maxLabel)), Action: &a}
			if a.Handler == "server" {
				c.Message = string(safetext.Clean(a.Message()))
			}
			out = append(out, c)
		}
		for _, v := range s.Values {
			if v.Value.TrimSpace() != "" {
				out = append(out, Choice{Label: string(safetext.Line(Visible(string(v.Label)), maxLabel)), Message: string(v.Value)})
			}
		}
	}
	return out
}

// Unlabelled returns the message that the choice sends, in lines that are safe to show. It
// returns nil if the label already shows the message, either alone or followed by a colon
// and the effect.
func (c Choice) Unlabelled() []string {
	if c.Message == "" || c.Message == c.Label || strings.HasPrefix(c.Label, c.Message+": ") {
		return nil
	}
	return safetext.Lines(c.Message, safetext.Visible)
}

// providerOf returns a blank and the provider whose rules a payload proposes; "" if the
// payload names no provider.
func providerOf(p assistant.Payload) string {
	var data struct {
		Provider string `json:"provider"`
	}
	if json.Unmarshal(p.Data, &data) != nil || data.Provider == "" {
		return ""
	}
	return string(" " + safetext.Line(Visible(data.Provider), maxLabel))
}

// ActionName returns the name that an action suggested by the model has in the key table.
func ActionName(action string) keymap.Action {
	name := strings.ReplaceAll(action, "_", "-")
	if name == "open-save" {
		return keymap.Save
	}
	return keymap.Action(name)
}
