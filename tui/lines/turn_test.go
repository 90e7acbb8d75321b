package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"winnow/assistant"
)

// written is what a Turn writes of events, with or without reasoning.
func written(showReasoning bool, events ...assistant.Event) string {
	var b bytes.Buffer
	turn := NewWriter(&b, false, keep).Turn()
	for _, e := range events {
		turn.Write(e, showReasoning)
	}
	turn.End()
	return b.String()
}

func TestTurn(t *testing.T) {
	hide := assistant.ToolStart{Index: 0, Tool: "add_rule", Input: json.RawMessage(`{"pattern":"a\u202e*"}`)}
	done := assistant.ToolComplete{Index: 0, Tool: "add_rule", Success: true, Message: "2 models\nhidden"}
	for name, c := range map[string]struct {
		events []assistant.Event
		want   string
	}{
		"status": {
			[]assistant.Event{assistant.Status{Message: "Thinking…"}, assistant.Status{Message: "Thinking…"}, assistant.Status{Message: "Running add_rule…"}, assistant.Status{Message: "Retrying…"}},
			"Thinking…\nNotice: Retrying…\n",
		},
		"text": {[]assistant.Event{assistant.TextDelta{Text: "One. Tw"}, assistant.TextDelta{Text: "o."}}, "Assistant: One. Two.\n"},
		"tool": {
			[]assistant.Event{assistant.TextDelta{Text: "I hide it."}, hide, done, assistant.TextDelta{Text: "[[tool:0]]"}, assistant.TextDelta{Text: "Done."}},
			"Assistant: I hide it.\nTool: add_rule a‹U+202E›* … done: 2 models hidden\nAssistant: Done.\n",
		},
		"tool with a line between": {[]assistant.Event{hide, assistant.Queued{Text: "next"}, done}, "Tool: add_rule a‹U+202E›* …\nQueued: next\nTool: add_rule done: 2 models hidden\n"},
		"failed tool":              {[]assistant.Event{hide, assistant.ToolComplete{Tool: "add_rule", ErrorCode: "covered", Message: "by a*"}}, "Tool: add_rule a‹U+202E›* … failed (covered): by a*\n"},
		"declined tool":            {[]assistant.Event{hide, assistant.ToolComplete{Tool: "add_rule", ErrorCode: assistant.CodeDeclined, Message: "declined by the user"}}, "Tool: add_rule a‹U+202E›* … declined by the user\n"},
		"progress": {
			[]assistant.Event{hide, assistant.ToolProgress{Progress: 0.1, Message: "a"}, assistant.ToolProgress{Progress: 0.3, Message: "b"}, assistant.ToolProgress{Progress: 0.4, Message: "c"}, done},
			"Tool: add_rule a‹U+202E›* …\nProgress: 30 percent, b\nTool: add_rule done: 2 models hidden\n",
		},
		"marker of the model": {[]assistant.Event{assistant.TextDelta{Text: `It is \[[tool:0]].`}}, "Assistant: It is [[tool:0]].\n"},
		"payload":             {[]assistant.Event{assistant.PayloadFound{Payload: assistant.Payload{Type: "rule_proposal", Summary: "hide a*"}}}, "Rule proposal: hide a*\n"},
		"trimmed":             {[]assistant.Event{assistant.ContextTrimmed{Sent: 3, Trimmed: 1}}, "Notice: too long for the model: trying again without 1 of 4 pairs.\n"},
	} {
		if got := written(false, c.events...); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	thought := []assistant.Event{assistant.ReasoningDelta{Text: "Hm. "}, assistant.TextDelta{Text: "Well."}}
	if got, want := written(false, thought...), "Assistant: Well.\n"; got != want {
		t.Errorf("without reasoning: %q, want %q", got, want)
	}
	if got, want := written(true, thought...), "Thinking: Hm.\nAssistant: Well.\n"; got != want {
		t.Errorf("with reasoning: %q, want %q", got, want)
	}
}

func TestPairIsWrittenWhole(t *testing.T) {
	p := &assistant.Pair{
		UserText: "hide a", Reasoning: "Hm.", AssistantText: "I do. [[tool:0]] Well. [[tool:1]]", Notice: "cut",
		State: assistant.PairError, ErrorCode: "net", ErrorMessage: "gone",
		ToolCalls: []assistant.ToolCall{
			{Name: "silent", Silent: true},
			{Name: "add", Arguments: json.RawMessage(`{"a":1}`), Result: &assistant.ToolResult{Success: true, Message: "added"}},
			{Name: "save", Arguments: json.RawMessage(`{}`), Result: &assistant.ToolResult{ErrorCode: "failed", Message: "full"}},
		},
		Payloads: []assistant.Payload{{Type: "rule_proposal", Summary: "hide b", Decision: "accepted"}},
	}
	const want = "You: hide a\nAssistant: I do.\nTool: add {\"a\":1}\nDone: added\nAssistant: Well.\nTool: save {}\nFailed (failed): full\n" +
		"Rule proposal: hide b accepted\nNotice: cut\nError (net): gone\n"
	var b bytes.Buffer
	NewWriter(&b, false, keep).Pair(p, false)
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	NewWriter(&b, false, keep).Pair(p, true)
	if !strings.Contains(b.String(), "You: hide a\nThinking: Hm.\n") {
		t.Errorf("with reasoning: %q", b.String())
	}
}

func TestMarks(t *testing.T) {
	for want, c := range map[string]struct {
		pair     assistant.Pair
		included bool
	}{
		"": {assistant.Pair{}, true},
		" (not sent, error net, 1 tool call, 2 stars)": {assistant.Pair{State: assistant.PairError, ErrorCode: "net", Star: 2, ToolCalls: make([]assistant.ToolCall, 1)}, false},
		" (running)": {assistant.Pair{State: assistant.PairSending}, true},
	} {
		if got := Marks(&c.pair, c.included); got != want {
			t.Errorf("Marks(%+v) = %q, want %q", c.pair, got, want)
		}
	}
}

// What is written is safe, without keys, and only labels have a colour.
func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, true, func(s string) string { return strings.ReplaceAll(s, "sk-1", "[key]") })
	w.Label("You\x1b", "a\x1b[31mb\tsk-1\n\n")
	w.Begin("Tool")
	if w.Add("open"); !w.Open() {
		t.Error("no line is open")
	}
	w.Error("Error", "x")
	w.Indent("one", "")
	w.Add("typed")
	w.Echoed()
	w.Line("next")
	const want = boldOn + "You:" + off + " ab    [key]\n" + boldOn + "Tool:" + off + " open\n" + redOn + "Error:" + off + " x\n  one\n\ntypednext\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestWriterStopsAtTheFirstError(t *testing.T) {
	failing := errors.New("closed")
	calls := 0
	w := NewWriter(writeFunc(func([]byte) (int, error) { calls++; return 0, failing }), false, keep)
	w.Line("one")
	w.Line("two")
	if calls != 1 || !errors.Is(w.Err(), failing) {
		t.Errorf("%d writes, %v", calls, w.Err())
	}
}

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

func TestNamesSpellOutWhatIsHidden(t *testing.T) {
	for in, want := range map[string]string{"a\u200bb": "a‹U+200B›b", "a‹U+200B›b": "a‹U+200B›b", "a\nb": "a‹U+000A›b"} {
		if got := Name(in); got != want {
			t.Errorf("Name(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Quote(strings.Repeat("x", 2*maxQuoted)); len([]rune(got)) != maxQuoted {
		t.Errorf("Quote returns %d characters", len([]rune(got)))
	}
}
