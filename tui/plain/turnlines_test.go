package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// printed is what a Turn prints of events, with or without reasoning.
func printed(t *testing.T, showReasoning bool, events iter.Seq[assistant.Event]) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, false, keep)
	turn := &TurnLines{Answer: func() Answer { return w.Sentences("Assistant") }, Note: w.Label, Limit: OutcomeWidth}
	if showReasoning {
		turn.Reasoning = func() Answer { return w.Sentences("Thinking") }
	}
	turn.Confirm = func(e assistant.ConfirmRequest) error { turn.Question(e); return nil }
	if err := turn.Print(events); err != nil {
		t.Error(err)
	}
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
			[]assistant.Event{assistant.Status{Message: "Thinking…"}, assistant.Status{Message: "Running add_rule…"}, assistant.Status{Message: "Retrying…"}},
			"Notice: Retrying…\n",
		},
		"text": {[]assistant.Event{assistant.TextDelta{Text: "One. Tw"}, assistant.TextDelta{Text: "o."}}, "Assistant: One. Two.\n"},
		"tool": {
			[]assistant.Event{assistant.TextDelta{Text: "I hide it."}, hide, done, assistant.TextDelta{Text: "[[tool:0]]"}, assistant.TextDelta{Text: "Done."}},
			"Assistant: I hide it.\nTool: add_rule a‹U+202E›*, done: 2 models hidden\nAssistant: Done.\n",
		},
		"tool with a line between": {[]assistant.Event{hide, assistant.Retrying{Reason: "busy"}, done}, "Notice: trying again: busy\nTool: add_rule a‹U+202E›*, done: 2 models hidden\n"},
		"failed tool":              {[]assistant.Event{hide, assistant.ToolComplete{Tool: "add_rule", ErrorCode: "covered", Message: "by a*"}}, "Tool: add_rule a‹U+202E›*, failed (covered): by a*\n"},
		"declined tool":            {[]assistant.Event{hide, assistant.ToolComplete{Tool: "add_rule", ErrorCode: assistant.CodeDeclined, Message: "declined by the user"}}, "Tool: add_rule a‹U+202E›*: declined by the user\n"},
		"progress": {
			[]assistant.Event{hide, assistant.ToolProgress{Progress: 0.1, Message: "a"}, assistant.ToolProgress{Progress: 0.3, Message: "b"}, assistant.ToolProgress{Progress: 0.4, Message: "c"}, done},
			"Progress: 30 percent, b\nTool: add_rule a‹U+202E›*, done: 2 models hidden\n",
		},
		"marker of the model": {[]assistant.Event{assistant.TextDelta{Text: `It is \[[tool:0]].`}}, "Assistant: It is [[tool:0]].\n"},
		"marker with text":    {[]assistant.Event{done, assistant.TextDelta{Text: "[[tool:0]]text"}}, "Tool: add_rule, done: 2 models hidden\nAssistant: text\n"},
		"one proposed rule":   {[]assistant.Event{assistant.PayloadFound{Payload: assistant.Payload{Type: pane.RuleProposal, Summary: "cut", Data: json.RawMessage(`{"add_ignore":["a‹"]}`)}}}, "Rule proposal: ignore a‹U+2039›\n"},
		"proposed rules": {
			[]assistant.Event{assistant.PayloadFound{Payload: assistant.Payload{Type: pane.RuleProposal, Summary: "cut", Data: json.RawMessage(`{"provider":"p","add_ignore":["a"],"remove_whitelist":["b"]}`)}}},
			"Rule proposal: 2 changes:\n: no longer allow b on p\n: ignore a on p\n",
		},
		"payload": {[]assistant.Event{assistant.PayloadFound{Payload: assistant.Payload{Type: "rule_proposal", Summary: "hide a*"}}}, "Rule proposal: hide a*\n"},
		"trimmed": {[]assistant.Event{assistant.ContextTrimmed{Sent: 3, Trimmed: 1}}, "Notice: too long for the model: trying again without 1 of 4 messages.\n"},
		"end":     {[]assistant.Event{assistant.TextDelta{Text: "One."}, assistant.Complete{Payload: assistant.ResponsePayload{Notice: "cut"}}}, "Assistant: One.\nNotice: cut\n"},
	} {
		if got := printed(t, false, slices.Values(c.events)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	thought := slices.Values([]assistant.Event{assistant.ReasoningDelta{Text: "Hm. "}, assistant.TextDelta{Text: "Well."}})
	if got, want := printed(t, false, thought), "Assistant: Well.\n"; got != want {
		t.Errorf("without reasoning: %q, want %q", got, want)
	}
	if got, want := printed(t, true, thought), "Thinking: Hm.\nAssistant: Well.\n"; got != want {
		t.Errorf("with reasoning: %q, want %q", got, want)
	}
}

// What a user confirms is spelled out in full: no two plans look the same.
func TestAQuestionHidesNothing(t *testing.T) {
	at.CheckConfirmation(t, func(name string) string {
		return printed(t, false, slices.Values([]assistant.Event{assistant.ConfirmRequest{Tool: "save", Diff: "+" + safetext.Visible(name)}}))
	})
}

// A turn that nobody can print is stopped once, and read to its end.
func TestAFailedWriteStopsTheTurn(t *testing.T) {
	failing := errors.New("closed")
	w := NewWriter(writeFunc(func([]byte) (int, error) { return 0, failing }), false, keep)
	read, stopped := 0, 0
	turn := &TurnLines{Answer: func() Answer { return w.Sentences("A") }, Note: w.Label, Stop: func() { stopped++ }}
	err := turn.Print(func(yield func(assistant.Event) bool) {
		for _, e := range []assistant.Event{assistant.TextDelta{Text: "One. "}, assistant.TextDelta{Text: "Two. "}, assistant.Complete{}} {
			read++
			if !yield(e) {
				return
			}
		}
	})
	if !errors.Is(err, failing) || read != 3 || stopped != 1 {
		t.Errorf("%v, %d events read, stopped %d times", err, read, stopped)
	}
}

func TestAStoredPairIsPrintedWhole(t *testing.T) {
	long := strings.Repeat("x", 2*OutcomeWidth)
	p := &assistant.Pair{
		UserText: "hide a", Reasoning: "Hm.", AssistantText: "I do. [[tool:0]] Well. [[tool:1]]", Notice: "cut",
		ToolCalls: []assistant.ToolCall{
			{Name: "silent", Silent: true},
			{Name: "add", Arguments: json.RawMessage(`{"a":1}`), Result: &assistant.ToolResult{Success: true, Message: long}},
			{Name: "save", Arguments: json.RawMessage(`{}`), Result: &assistant.ToolResult{ErrorCode: "failed", Message: "full"}},
		},
		Payloads: []assistant.Payload{{Type: "rule_proposal", Summary: "hide b", Decision: "accepted"}},
	}
	want := "Thinking: Hm.\nAssistant: I do.\nTool: add a=1, done: " + long + "\nAssistant: Well.\nTool: save, failed: full\n" +
		"Rule proposal: hide b accepted\nNotice: cut\n"
	var b bytes.Buffer
	w := NewWriter(&b, false, keep)
	turn := &TurnLines{Answer: func() Answer { return w.Sentences("Assistant") }, Reasoning: func() Answer { return w.Sentences("Thinking") }, Note: w.Label}
	if err := turn.Print(Stored(p)); err != nil || b.String() != want {
		t.Errorf("%q, %v, want %q", b.String(), err, want)
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

// On a terminal lines break at blanks, and what continues one has its indent.
func TestWriterBreaksLinesAtBlanks(t *testing.T) {
	for want, write := range map[string]func(w *Writer){
		"a line of words that\nis long\nand another\n": func(w *Writer) { w.Line("a line of words that is long\nand another") },
		"  indented words\n  that are long\n":          func(w *Writer) { w.Indent("indented words that are long") },
		"Question: shall I do\nit? ":                   func(w *Writer) { w.Begin("Question"); w.Add("shall I do it? ") },
		"https://example.org/a/b/c\n":                  func(w *Writer) { w.Line("https://example.org/a/b/c") },
		"日本語 日本語 日本語\n日本語\n":                           func(w *Writer) { w.Line("日本語 日本語 日本語 日本語") },
		"A: one two three\nfour five six":              func(w *Writer) { w.Begin("A"); w.Add("one two thr"); w.Add("ee"); w.Add(" four five six") },
		"You: \nanswered in a line\nagain\n":           func(w *Writer) { w.Add("You: "); w.raw("\n"); w.Echoed(); w.Line("answered in a line again") },
	} {
		var b strings.Builder
		w := NewWriter(&b, false, keep)
		w.width = func() int { return 20 }
		if write(w); b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
		b.Reset()
		w = NewWriter(&b, false, keep)
		write(w)
		if plain := strings.Join(strings.Fields(b.String()), " "); plain != strings.Join(strings.Fields(want), " ") {
			t.Errorf("without a width: %q", b.String())
		}
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
