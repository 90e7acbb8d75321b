package chat

import (
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// A sentence stands once: if the answer repeats what a tool said, the tool's card shows its
// call. A card whose sentence is new keeps it, streamed or loaded.
func TestAnAnswerThatRepeatsACardIsReadOnce(t *testing.T) {
	const said = "5 models hidden: added ignore rule `*mini*` for openai."
	result := &assistant.ToolResult{Success: true, Message: said}
	for name, c := range map[string]struct {
		text safetext.Text
		card string
	}{
		"repeated":    {"5 models hidden: added ignore rule *mini* for openai. Not saved yet.", "▸ ✓ add ignore rule  *mini*"},
		"in Markdown": {"**5 models hidden**: added ignore rule `*mini*` for openai.", "▸ ✓ add ignore rule  *mini*"},
		"other words": {"I hid 5 models.", "▸ ✓ 5 models hidden: added ignore rule `*mini*` for openai."},
	} {
		stored := pair(1, "hide minis", "[[tool:0]]\n\n"+string(c.text))
		stored.ToolCalls = []assistant.ToolCall{{ID: "1", Name: "add_ignore_rule", Arguments: []byte(`{"pattern":"*mini*"}`), Result: result}}
		loaded, streamed := view(), view()
		show(loaded, stored)
		streamed.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
		streamed.StartTurn(assistant.Pair{Seq: 1, UserText: stored.UserText, CreatedAt: noon})
		for _, e := range []assistant.Event{
			assistant.ToolStart{Tool: "add_ignore_rule", Input: []byte(`{"pattern":"*mini*"}`)},
			assistant.ToolComplete{Tool: "add_ignore_rule", Success: true, Message: said},
			assistant.TextDelta{Text: "[[tool:0]]"},
			assistant.TextDelta{Text: "\n\n" + c.text},
		} {
			streamed.Apply(e)
		}
		if got := plain(streamed.View(70, 20)); !strings.Contains(got, "▸ ✓ 5 models hidden") {
			t.Errorf("%s: before the end the card does not say what was done:\n%s", name, got)
		}
		streamed.Load([]assistant.Pair{stored})
		for how, v := range map[string]*View{"loaded": loaded, "streamed": streamed} {
			got := plain(v.View(70, 20))
			if !strings.Contains(got, c.card+"\n") || strings.Count(got, "5 models hidden") != 1 {
				t.Errorf("%s, %s: got\n%s\nwant %q once", name, how, got, c.card)
			}
		}
		loaded.ToggleAll()
		if got := plain(loaded.View(70, 30)); !strings.Contains(got, "output") || !strings.Contains(got, "rule `*mini*`") {
			t.Errorf("%s: the open card lacks the output:\n%s", name, got)
		}
	}
}

// What a tool tried out does not look like something done.
func TestATrialHasASignOfItsOwn(t *testing.T) {
	v := view()
	p := pair(1, "hide minis", "[[tool:0]]\n\n[[tool:1]]\n\nHidden.")
	p.ToolCalls = []assistant.ToolCall{
		{ID: "a", Name: "plan_rules", Result: &assistant.ToolResult{Success: true, Message: "Would hide 5 models."}},
		{ID: "b", Name: "add_rule", Result: &assistant.ToolResult{Success: true, Message: "5 models hidden."}},
	}
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	v.Load([]assistant.Pair{p})
	icons := v.rc.st.Icons
	got := plain(v.View(60, 20))
	for _, want := range []string{icons.Pending + " Would hide 5 models.", icons.ToolOK + " 5 models hidden."} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}
