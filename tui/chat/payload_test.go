package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

func withPayload(kind, data string) assistant.Pair {
	p := pair(1, "suggest something", "Here is one:")
	p.Payloads = []assistant.Payload{{ID: "p1", Type: kind, Data: json.RawMessage(data), Summary: "the summary"}}
	return p
}

func TestAPayloadWithoutAHandlerShowsItsSummaryAndFoldedJSON(t *testing.T) {
	v := view()
	show(v, withPayload("model_list", `{"models":["a","b\u202e"]}`))
	got := plain(v.View(60, 20))
	if !strings.Contains(got, "▸ model_list  the summary") || strings.Contains(got, "models") || len(v.Choices()) != 0 {
		t.Errorf("folded:\n%s%+v", got, v.Choices())
	}
	v.ToggleAll()
	if got = plain(v.View(60, 20)); !strings.Contains(got, `"models": [`) || strings.Contains(got, "\u202e") {
		t.Errorf("open:\n%s", got)
	}
}

func TestARegisteredTypeHasItsCard(t *testing.T) {
	v := view()
	show(v, withPayload("model_list", `{"n":2}`))
	v.SetPayloadTypes([]assistant.PayloadType{{
		Name: "model_list", Title: "models", Icon: "◇",
		Text: func(data json.RawMessage) safetext.Text {
			return safetext.Sprintf("rows of %s", string(data)+" \x1b[31m\u202ehostile")
		},
		Calls: func(json.RawMessage) ([]llm.Call, error) { return nil, nil },
	}})
	got := plain(v.View(60, 20))
	if !strings.Contains(got, "▸ ◇ models  the summary") || !strings.Contains(got, `rows of {"n":2}`) || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("drawn:\n%s", got)
	}
	if !strings.Contains(got, "[Accept] [Reject]") || len(v.Undecided()) != 1 {
		t.Errorf("no buttons:\n%s", got)
	}
	v.SetExtraRows("p1", []Row{{Text: "found out later"}})
	if got = plain(v.View(60, 20)); !strings.Contains(got, "found out later") {
		t.Errorf("not enriched:\n%s", got)
	}
}

func TestProposedRulesShowEachRuleAndTheirEffect(t *testing.T) {
	v := view()
	p := withPayload(pane.RuleProposal, `{"add_ignore":["*-preview*","a\u200bb"],"add_whitelist":["gpt-4o"],"remove_ignore":["x*"],"reasoning":"previews go"}`)
	show(v, p)
	got := plain(v.View(70, 30))
	for _, want := range []string{"proposed rules", "+ ignore *-preview*", "+ allow gpt-4o", "- no longer ignore x*", "+ ignore a‹U+200B›b", "previews go", "[Accept] [Reject]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\u200b") {
		t.Errorf("what hides in a pattern is not seen:\n%q", got)
	}
	if u := v.Undecided(); len(u) != 1 || u[0].ID != "p1" {
		t.Fatalf("Undecided = %+v", u)
	}
	v.SetExtraRows("p1", v.EffectRows([]assistant.Effect{
		{Kind: assistant.EffectRemoves, Sentence: "hides 7 models", Items: []string{"a", "b", "c", "d", "e", "f", "g"}}, {Kind: assistant.EffectAdds, Sentence: "shows 1 model", Items: []string{"h"}}, {Kind: assistant.EffectAsks, Sentence: "no need"},
	}))
	got = plain(v.View(70, 30))
	for _, want := range []string{"hides 7 models: a, b, c, d, e, f and 1 more", "shows 1 model: h", "! no need"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	p.Payloads[0].Decision = "accepted"
	v.Load([]assistant.Pair{p})
	if got = plain(v.View(70, 30)); strings.Contains(got, "[Accept]") || !strings.Contains(got, "accepted") || len(v.Undecided()) != 0 {
		t.Errorf("after the decision:\n%s", got)
	}
}

// The proposals of an answer share one card, with what each says; other payloads have cards
// of their own. A running turn shows the same as the stored pair.
func TestProposalsShareACard(t *testing.T) {
	proposal := func(id, provider string) assistant.Payload {
		return assistant.Payload{ID: id, Type: pane.RuleProposal, Summary: "hide * on " + provider, Data: json.RawMessage(`{"provider":"` + provider + `","add_ignore":["*-` + provider + `"]}`)}
	}
	note := assistant.Payload{ID: "n", Type: "note", Summary: "a note", Data: json.RawMessage(`{}`)}
	payloads := []assistant.Payload{proposal("a", "openai"), proposal("b", "gemini"), note}
	p := pair(1, "q", "a")
	p.Payloads = payloads
	stored := view()
	show(stored, p)
	stored.SetExtraRows("b", []Row{{Text: "hides 3 models"}})
	running := view()
	show(running, pair(1, "q", ""))
	running.StartTurn(pair(1, "q", ""))
	running.Apply(assistant.TextDelta{Text: "a"})
	for _, payload := range payloads {
		running.Apply(assistant.PayloadFound{Payload: payload})
		running.Apply(assistant.TextDelta{Text: "\n\n"})
	}
	running.SetExtraRows("b", []Row{{Text: "hides 3 models"}})
	byTool := view() // the payloads of tools are known before the answer, and shown below it
	show(byTool, pair(1, "q", ""))
	byTool.StartTurn(pair(1, "q", ""))
	byTool.Apply(assistant.ToolStart{Tool: "propose_rules"})
	byTool.Apply(assistant.ToolComplete{Tool: "propose_rules", Success: true, Payload: &payloads[0]})
	byTool.Apply(assistant.TextDelta{Text: "a"})
	byTool.Load([]assistant.Pair{p})
	byTool.SetExtraRows("b", []Row{{Text: "hides 3 models"}})
	for name, v := range map[string]*View{"stored": stored, "running": running} {
		frame := plain(v.View(80, 40))
		if n := strings.Count(frame, "proposed rules"); n != 1 || strings.Count(frame, "▸") != 2 {
			t.Errorf("%s: %d cards of proposals:\n%s", name, n, frame)
		}
		for _, want := range []string{"ignore *-openai on openai", "ignore *-gemini on gemini", "hides 3 models", "a note", "hide * on openai; hide * on gemini"} {
			if !strings.Contains(frame, want) {
				t.Errorf("%s: the card does not say %q:\n%s", name, want, frame)
			}
		}
	}
	running.Load([]assistant.Pair{p})
	if frame := plain(running.View(80, 40)); strings.Count(frame, "ignore *-openai") != 1 || strings.Count(frame, "a note") != 1 {
		t.Errorf("after the turn:\n%s", frame)
	}
	frame := plain(byTool.View(80, 40))
	if strings.Count(frame, "proposed rules") != 1 || !strings.Contains(frame, "ignore *-gemini") || !strings.Contains(frame, "hides 3 models") || strings.Index(frame, "proposed rules") < strings.Index(frame, "propose_rules") {
		t.Errorf("proposals of a tool:\n%s", frame)
	}
}

// What accepting a proposal would do is shown in full, whatever the rules and the models are called.
func TestAProposalHidesNothing(t *testing.T) {
	text := map[string]func(name string) []Row{
		"rule": func(name string) []Row {
			raw, err := json.Marshal(map[string]any{"add_ignore": []string{name}})
			if err != nil || !utf8.ValidString(name) {
				return nil
			}
			return view().rc.proposalRows(assistant.Payload{Type: pane.RuleProposal, Data: raw})
		},
		"provider": func(name string) []Row {
			raw, err := json.Marshal(map[string]any{"provider": name, "remove_whitelist": []string{"a"}})
			if err != nil || !utf8.ValidString(name) {
				return nil
			}
			return view().rc.proposalRows(assistant.Payload{Type: pane.RuleProposal, Data: raw})
		},
		"model": func(name string) []Row {
			return view().EffectRows([]assistant.Effect{{Kind: assistant.EffectRemoves, Sentence: "hides 1 model", Items: []string{name}}})
		},
	}
	for what, rows := range text {
		t.Run(what, func(t *testing.T) {
			at.CheckConfirmation(t, func(name string) string {
				all := rows(name)
				if all == nil {
					return ""
				}
				p := payloadPart{}
				p.begin()
				p.addRows(all, 600, &view().rc)
				return plain(p.ready().text)
			})
		})
	}
}
