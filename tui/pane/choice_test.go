package pane

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/tui/keymap"
)

func TestChoicesOfAnAnswer(t *testing.T) {
	p := &assistant.Pair{
		Payloads: []assistant.Payload{
			{ID: "decided", Type: RuleProposal, Decision: "accepted"},
			{ID: "card", Type: "model_list"},
			{ID: "open", Type: RuleProposal, Summary: "hide two models"},
		},
		Suggested: &assistant.Suggested{
			Actions: []assistant.SuggestedAction{{Label: "Save", Action: "open_save"}, {Label: "Refresh", Action: "refresh", Handler: "server"}},
			Values:  []assistant.SuggestedValue{{Label: "Show\u202e all\nmodels", Value: "show all models"}},
		},
	}
	proposals := func(payloadType string) bool { return payloadType == RuleProposal }
	want := []struct {
		label, payload, prompt string
		accept                 bool
	}{
		{label: "Accept", payload: "open", accept: true},
		{label: "Reject", payload: "open"},
		{label: "Save"},
		{label: "Refresh", prompt: "Refresh\n\n{\"action\":\"refresh\"}"},
		{label: "Show‹U+202E› all‹U+000A›models", prompt: "show all models"},
	}
	got := Choices(p, proposals)
	if len(got) != len(want) {
		t.Fatalf("%d choices %+v, want %d", len(got), got, len(want))
	}
	for i, w := range want {
		c := got[i]
		if c.Label != w.label || strings.Join(c.Proposals, ",") != w.payload || c.Accept != w.accept || c.Message != w.prompt {
			t.Errorf("choice %d is %+v, want %+v", i+1, c, w)
		}
	}
	if got[0].Summary != "hide two models" {
		t.Errorf("the proposal is summarised as %q", got[0].Summary)
	}
	two := Choices(&assistant.Pair{Payloads: []assistant.Payload{
		{ID: "1", Type: RuleProposal, Data: json.RawMessage(`{"provider":"openai"}`)},
		{ID: "2", Type: RuleProposal, Data: json.RawMessage(`{"provider":"anthropic"}`)},
	}}, proposals)
	if len(two) != 6 || two[0].Label != "Accept all" || !slices.Equal(two[0].Proposals, []string{"1", "2"}) || !slices.Equal(two[1].Proposals, two[0].Proposals) || two[1].Accept ||
		two[2].Label != "Accept openai" || two[5].Label != "Reject anthropic" {
		t.Errorf("two proposals offer %+v", two)
	}
	many := Choices(&assistant.Pair{Payloads: slices.Repeat([]assistant.Payload{{ID: "1", Type: RuleProposal, Data: json.RawMessage(`{}`)}}, maxEach+1)}, proposals)
	if len(many) != 2 || len(many[0].Proposals) != maxEach+1 || many[1].Label != "Reject all" {
		t.Errorf("many proposals offer %+v", many)
	}
	if none := Choices(&assistant.Pair{}, proposals); len(none) != 0 {
		t.Errorf("an answer that offers nothing has the choices %+v", none)
	}
}

// A message that the label shows is not shown again.
func TestUnlabelledMessages(t *testing.T) {
	for _, c := range []struct {
		label, message string
		want           int
	}{
		{"Save", "save the changes", 1},
		{"Save", "", 0},
		{"hide mini", "hide mini", 0},
		{"hide mini: hides 3 models", "hide mini", 0},
		{"hide minis: hides 3 models", "hide mini", 1},
		{"hide mini", "hide mini\nsave", 2},
	} {
		if got := (Choice{Label: c.label, Message: c.message}).Unlabelled(); len(got) != c.want {
			t.Errorf("below %q is %q, want %d lines", c.label, got, c.want)
		}
	}
}

func TestActionNames(t *testing.T) {
	for action, want := range map[string]keymap.Action{"open_save": "save", "open-save": "save", "show_rules": "show-rules", "undo": "undo"} {
		if got := ActionName(action); got != want {
			t.Errorf("ActionName(%q) = %q, want %q", action, got, want)
		}
	}
}

func TestArgumentsOnOneLine(t *testing.T) {
	for raw, want := range map[string]string{
		`{"pattern":"*mini*","dry_run":true,"count":3}`: "count=3 dry_run=true *mini*",
		`{"b":["x","y"],"a":null}`:                      `a=null b=["x","y"]`,
		`{}`:                                            "",
		`["x"]`:                                         `["x"]`,
		`{"broken`:                                      `{"broken`,
		"{\"word\":\"a\u202eb\"}":                       "a‹U+202E›b",
	} {
		if got := ArgumentLine(json.RawMessage(raw)); got != want {
			t.Errorf("ArgumentLine(%s) = %q, want %q", raw, got, want)
		}
	}
}
