package chat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/pane"
	"winnow/tui/style"
)

var noon = time.Date(2026, 3, 4, 12, 30, 0, 0, time.Local)

func view() *View {
	return New(style.New(style.Options{Unicode: true, Profile: style.NoColor}), func() time.Time { return noon })
}

func pair(seq int64, user, answer string) assistant.Pair {
	return assistant.Pair{
		Seq: seq, ID: fmt.Sprint(seq), UserText: safetext.Text(user), AssistantText: safetext.Text(answer), Flag: true,
		State: assistant.PairComplete, CreatedAt: noon,
	}
}

// show loads pairs into a view, in order.
func show(v *View, pairs ...assistant.Pair) {
	refs := make([]assistant.Ref, len(pairs))
	for i, p := range pairs {
		refs[i] = assistant.Ref{Seq: p.Seq, Contributes: true}
	}
	v.SetRefs(refs, 0)
	for _, p := range pairs {
		v.src.item(p.Seq)
	}
	v.Load(pairs)
}

func plain(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	return b.String()
}

// A pair has a line for each of its pictures, while it runs and afterwards, at any width.
func TestPicturesHaveALine(t *testing.T) {
	p := pair(1, "what is this? @a.png", "a cat")
	p.Attachments = []assistant.Attachment{
		{Name: "a.png", Type: "image/png", Size: 250_880, Hash: "a", Width: 1280, Height: 800, Data: []byte("x")},
		{Name: "evil\x1b[31m\u202e.webp", Type: "image/webp", Size: 900, Hash: "b"},
		{Name: "text.md", Type: "text/plain", Size: 3},
	}
	stored, running := view(), view()
	show(stored, p)
	running.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	running.StartTurn(p)
	for name, v := range map[string]*View{"stored": stored, "running": running} {
		frame := plain(v.View(80, 20))
		for _, want := range []string{"  a.png · PNG · 1280×800 · 245 KiB · ~1105 tokens\n", ".webp · WEBP · 900 B · ~1445 tokens\n"} {
			if !strings.Contains(frame, want) {
				t.Errorf("%s: there is no %q in\n%s", name, want, frame)
			}
		}
		if strings.Contains(frame, "text.md") || strings.Contains(frame, "\u202e") {
			t.Errorf("%s:\n%s", name, frame)
		}
		for _, l := range v.View(20, 20) {
			if ansi.StringWidth(l) > 20 {
				t.Errorf("%q is wider than the view", ansi.Strip(l))
			}
		}
	}
}

// Two cells of air are left at the right, whatever a pair shows.
func TestAirIsLeftAtTheRight(t *testing.T) {
	long := strings.Repeat("words of every length fill the line ", 20)
	p := pair(1, "hi", long+"\n\n```\n"+long+"\n```\n\n|a|b|\n|-|-|\n|"+long+"|"+long+"|\n\n[[tool:0]]")
	p.Reasoning, p.State, p.ErrorCode, p.ErrorMessage, p.Notice = safetext.Text(long), assistant.PairError, "quota", safetext.Text(long), safetext.Text(long)
	p.ToolCalls = []assistant.ToolCall{{ID: "a", Name: "add_ignore_rule", Arguments: json.RawMessage(`{"pattern":"` + long + `"}`), Result: &assistant.ToolResult{Message: long}}}
	for _, w := range []int{38, 70, 118} {
		for _, open := range []bool{false, true} {
			for _, raw := range []bool{false, true} {
				v := view()
				show(v, p)
				it := v.src.item(1)
				for _, part := range it.parts {
					part.state().setOpen(open)
				}
				it.setRaw(raw)
				for i, line := range v.View(w, 300) {
					if line = ansi.Strip(line); ansi.StringWidth(line) != w || !strings.HasSuffix(line, "  ") {
						t.Errorf("line %d of %d columns has no air at its end: %q", i, w, line)
					}
				}
			}
		}
	}
}

// turn is what a turn with reasoning, a tool and a closing sentence emits, and
// the pair that is stored of it.
func turn() ([]assistant.Event, assistant.Pair) {
	p := pair(1, "hide minis", "I'll do it.\n\n[[tool:0]]\n\nDone: **5** hidden.")
	p.Reasoning, p.ReasoningFor = "They want minis gone.", 1200*time.Millisecond
	p.ToolCalls = []assistant.ToolCall{{
		ID: "a", Name: "add_ignore_rule", Arguments: json.RawMessage(`{"pattern":"*mini*"}`),
		Result: &assistant.ToolResult{Success: true, Message: "5 models"},
	}}
	return []assistant.Event{
		assistant.ReasoningDelta{Text: "They want "},
		assistant.ReasoningDelta{Text: "minis gone."},
		assistant.TextDelta{Text: "I'll "},
		assistant.TextDelta{Text: "do it."},
		assistant.TextDelta{Text: "\n\n"},
		assistant.ToolStart{Tool: "add_ignore_rule", Input: json.RawMessage(`{"pattern":"*mini*"}`), Index: 0},
		assistant.ToolProgress{Message: "half", Progress: 0.5},
		assistant.ToolComplete{Tool: "add_ignore_rule", Index: 0, Success: true, Message: "5 models"},
		assistant.TextDelta{Text: "[[tool:0]]"},
		assistant.TextDelta{Text: "\n\nDone: "},
		assistant.TextDelta{Text: "**5** hidden."},
	}, p
}

func TestNothingJumpsWhenATurnEnds(t *testing.T) {
	v := view()
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	events, stored := turn()
	v.StartTurn(assistant.Pair{Seq: 1, UserText: stored.UserText, CreatedAt: noon, Flag: true, ReasoningFor: stored.ReasoningFor})
	for _, e := range events {
		v.Apply(e)
	}
	before := strings.Replace(plain(v.View(60, 20)), "… 12:30", "  12:30", 1)
	before = strings.Replace(before, "thinking\n", "thought for 1.2 s\n", 1) // the clock of this test stands still
	v.Load([]assistant.Pair{stored})
	if after := plain(v.View(60, 20)); before != after {
		t.Errorf("streamed:\n%s\nstored:\n%s", before, after)
	}
}

func TestThinkingBetweenToolsStaysWhereItStreamed(t *testing.T) {
	v := view()
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	events, stored := turn()
	v.StartTurn(assistant.Pair{Seq: 1, UserText: stored.UserText, CreatedAt: noon, Flag: true})
	for _, e := range append(events[:9:9], assistant.ReasoningDelta{Text: "\n\nNow the end."}) {
		v.Apply(e)
	}
	if got := plain(v.View(60, 24)); !strings.Contains(got, "▾ thinking\n    Now the end.") {
		t.Errorf("the second block of thinking is not open, or begins with blank lines:\n%s", got)
	}
	for _, e := range events[9:] {
		v.Apply(e)
	}
	before := strings.Replace(plain(v.View(60, 24)), "… 12:30", "  12:30", 1)
	before = strings.Replace(before, "thinking\n", "thought for 1.2 s\n", 1) // the clock of this test stands still
	stored.Thoughts = []assistant.Thought{{Took: stored.ReasoningFor}, {From: len(stored.Reasoning) + 2, Place: afterCard(stored)}}
	stored.Reasoning += "\n\nNow the end."
	v.Load([]assistant.Pair{stored})
	if after := plain(v.View(60, 24)); before != after {
		t.Errorf("streamed:\n%s\nstored:\n%s", before, after)
	}
	stored.Star = 1 // it is loaded again when something is marked
	v.Load([]assistant.Pair{stored})
	v.ToggleAll()
	all := plain(v.View(60, 40))
	first, second := strings.Index(all, "They want minis gone."), strings.Index(all, "Now the end.")
	if tool := strings.Index(all, "add_ignore_rule"); first < 0 || tool < first || second < tool {
		t.Errorf("loaded again, the thinking is not where it was:\n%s", all)
	}
}

// afterCard is where the text goes on after the only card.
func afterCard(p assistant.Pair) int {
	const marker = "[[tool:0]]"
	return strings.Index(string(p.AssistantText), marker) + len(marker)
}

// TestThinkingKeepsItsPlaces: a pair that comes from the store shows each block
// where it was thought, between stretches of text as well as around cards, and
// one whose places are nonsense shows all of its thinking at the top.
func TestThinkingKeepsItsPlaces(t *testing.T) {
	pair := assistant.Pair{
		Seq: 1, UserText: "q", AssistantText: "before [[tool:0]]\n\nlast words", Reasoning: "AAA\n\nBBB\n\nCCC", Flag: true,
		ToolCalls: []assistant.ToolCall{{ID: "1", Name: "look", Arguments: []byte("{}"), Result: &assistant.ToolResult{Success: true}}},
	}
	show := func(thoughts ...assistant.Thought) string {
		v := New(style.New(style.Options{Unicode: true, Profile: style.NoColor}), func() time.Time { return noon })
		v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
		pair.Thoughts = thoughts
		v.Load([]assistant.Pair{pair})
		v.ToggleAll()
		var order []string
		for _, word := range strings.Fields(plain(v.View(60, 40))) {
			switch word {
			case "AAA", "BBB", "CCC", "before", "look", "last":
				order = append(order, word)
			}
		}
		return strings.Join(order, " ")
	}
	for name, test := range map[string]struct {
		thoughts []assistant.Thought
		want     string
	}{
		"three places":      {[]assistant.Thought{{}, {From: 5, Place: 7}, {From: 10, Place: 17}}, "AAA before BBB look CCC last"},
		"all after a card":  {[]assistant.Thought{{Place: 17}}, "before look AAA BBB CCC last"},
		"after all":         {[]assistant.Thought{{}, {From: 10, Place: 29}}, "AAA BBB before look last CCC"},
		"no places":         {nil, "AAA BBB CCC before look last"},
		"beyond the text":   {[]assistant.Thought{{}, {From: 500, Place: 7}}, "AAA BBB CCC before look last"},
		"not in order":      {[]assistant.Thought{{Place: 17}, {From: 5, Place: 7}}, "AAA BBB CCC before look last"},
		"below zero":        {[]assistant.Thought{{}, {From: -5, Place: -7}}, "AAA BBB CCC before look last"},
		"text that was cut": {[]assistant.Thought{{}, {From: 5, Place: 17}, {From: 10, Place: 900}}, "AAA before look BBB last CCC"},
	} {
		if got := show(test.thoughts...); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestEachBlockOfThinkingShowsItsTime(t *testing.T) {
	now := noon
	v := New(style.New(style.Options{Unicode: true, Profile: style.NoColor}), func() time.Time { return now })
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	events, stored := turn()
	v.StartTurn(assistant.Pair{Seq: 1, UserText: stored.UserText, CreatedAt: noon, Flag: true})
	v.Apply(assistant.ReasoningDelta{Text: "first"})
	now = now.Add(3 * time.Second) // the session measures closer to the network
	for _, e := range events[2:9] {
		v.Apply(e)
	}
	v.Apply(assistant.ReasoningDelta{Text: "\n\nsecond"})
	now = now.Add(800 * time.Millisecond)
	v.Apply(events[9])
	stored.Reasoning, stored.ReasoningFor = "first\n\nsecond", 4*time.Second
	stored.Thoughts = []assistant.Thought{{Took: 3200 * time.Millisecond}, {From: len("first\n\n"), Place: afterCard(stored), Took: 800 * time.Millisecond}}
	v.Load([]assistant.Pair{stored})
	for range 2 {
		got := plain(v.View(60, 24))
		if strings.Count(got, "▸ thought for 3.2 s") != 1 || strings.Count(got, "▸ thought for 0.8 s") != 1 {
			t.Errorf("times of the two blocks:\n%s", got)
		}
		v.Load([]assistant.Pair{stored})
	}
}

func TestReasoningFoldsByItself(t *testing.T) {
	v := view()
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	v.StartTurn(assistant.Pair{Seq: 1, UserText: "hi", CreatedAt: noon, Flag: true})
	v.Apply(assistant.ReasoningDelta{Text: "deep thought"})
	if got := plain(v.View(60, 12)); !strings.Contains(got, "deep thought") {
		t.Fatalf("while it streams the thinking is closed:\n%s", got)
	}
	v.Apply(assistant.TextDelta{Text: "Hello"})
	if got := plain(v.View(60, 12)); strings.Contains(got, "deep thought") || !strings.Contains(got, "▸ thinking") {
		t.Errorf("with the first content the thinking stays open:\n%s", got)
	}
}

func TestReasoningThatTheUserOpenedStaysOpen(t *testing.T) {
	v := view()
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	events, stored := turn()
	v.StartTurn(assistant.Pair{Seq: 1, UserText: "hi", CreatedAt: noon, Flag: true})
	v.Apply(events[0])
	v.View(60, 20)
	v.FocusLast()
	v.NextPart()
	v.ToggleFold() // closed by hand
	v.ToggleFold() // and opened
	for _, e := range events[1:] {
		v.Apply(e)
	}
	v.Load([]assistant.Pair{stored})
	if got := plain(v.View(60, 30)); !strings.Contains(got, "They want minis gone.") {
		t.Errorf("the thinking closed although the user had opened it:\n%s", got)
	}
}

func TestCardsOpenAndClose(t *testing.T) {
	v := view()
	_, p := turn()
	show(v, p)
	v.View(70, 30)
	if got := plain(v.View(70, 30)); !strings.Contains(got, "▸ ✓ 5 models") {
		t.Fatalf("the card is not on one line:\n%s", got)
	}
	v.ToggleAll()
	if got := plain(v.View(70, 30)); !strings.Contains(got, `"pattern": "*mini*"`) || !strings.Contains(got, "output") {
		t.Errorf("an open card lacks its input or output:\n%s", got)
	}
	v.ToggleAll()
	if got := plain(v.View(70, 30)); strings.Contains(got, `"pattern"`) {
		t.Errorf("the card stays open:\n%s", got)
	}
}

func TestMarkersOfTheModelOpenNoCard(t *testing.T) {
	v := view()
	show(v, pair(1, "?", `see \[[tool:0]] and [[tool:9]]`))
	if got := plain(v.View(60, 10)); !strings.Contains(got, "see [[tool:0]] and [[tool:9]]") {
		t.Errorf("the marker was taken for a card:\n%s", got)
	}
}

func TestOffContextPairsAreDimmedWithoutBeingDrawnAgain(t *testing.T) {
	v := view()
	show(v, pair(1, "old", "older answer"), pair(2, "new", "newer answer"))
	v.View(60, 20)
	drawn := v.src.item(1).starts
	v.firstIncluded = 1
	got := plain(v.View(60, 20))
	if strings.Count(got, "off ") != 1 {
		t.Errorf("want one badge:\n%s", got)
	}
	if &v.src.item(1).starts[0] != &drawn[0] {
		t.Error("moving the boundary rendered a pair anew")
	}
}

func TestChoicesBelongToTheNewestPair(t *testing.T) {
	v := view()
	first, second := pair(1, "a", "one"), pair(2, "b", "two")
	first.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "Old", Value: "old"}}}
	second.Suggested = &assistant.Suggested{
		Values:  []assistant.SuggestedValue{{Label: "Save", Value: "save it"}},
		Actions: []assistant.SuggestedAction{{Label: "Show", Action: "show_models", Handler: "client"}},
	}
	second.Payloads = []assistant.Payload{{ID: "p", Type: pane.RuleProposal, Summary: "two rules"}}
	show(v, first, second)
	got := plain(v.View(80, 30))
	if strings.Contains(got, "Old") || !strings.Contains(got, "[Accept] [Reject] [Show] [Save: save it]") {
		t.Errorf("choices:\n%s", got)
	}
	if c := v.Choices(); len(c) != 4 || !slices.Equal(c[0].Proposals, []string{"p"}) || !c[0].Accept || c[3].Message != "save it" {
		t.Errorf("Choices = %+v", c)
	}
}

// trimLines removes the blanks around lines.
func trimLines(text string) string { return regexp.MustCompile(` *\n *`).ReplaceAllString(text, "\n") }

// What a choice sends is on the screen, whatever its label says.
func TestChoicesShowWhatTheySend(t *testing.T) {
	long := strings.Repeat("word ", 40) + "end"
	for message, want := range map[string]string{
		"Go": "[Go]", "hide all": "[Go: hide all]", "one\ntwo": "[Go]\nGo sends: one\ntwo", long: "[Go]\nGo sends: word word",
		"hide every preview model on gemini": "[Go: hide every preview model on gemini]", "a\u00a0b": "[Go: a‹U+00A0›b]", " ": "", "‹U+00A0›": "[Go: ‹U+2039›U+00A0‹U+203A›]",
	} {
		for _, width := range []int{80, 40, 20} {
			v := view()
			p := pair(1, "a", "one")
			p.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "Go", Value: safetext.Text(message)}}}
			show(v, p)
			got := plain(v.View(width, 60))
			if width == 80 && !strings.Contains(trimLines(got), want) {
				t.Errorf("%q: %q is not in\n%s", message, want, got)
			}
			bare := func(s string) string {
				return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' }), "")
			}
			shown := strings.Join(safetext.Lines(message, safetext.Visible), "")
			if !strings.Contains(bare(got), bare(shown)) {
				t.Errorf("%q at width %d: it is not all on the screen:\n%s", message, width, got)
			}
			p.Suggested.Values[0].Label = safetext.Text(message) // as a request that is offered
			v = view()
			show(v, p)
			if got := plain(v.View(width, 60)); !strings.Contains(bare(got), bare(shown)) {
				t.Errorf("%q as its own label at width %d: it is not all on the screen:\n%s", message, width, got)
			}
		}
	}
}

// A choice that saves is there only while something is unsaved.
func TestChoicesToSaveGoWithTheUnsavedChanges(t *testing.T) {
	v := view()
	p := pair(1, "a", "one")
	p.Suggested = &assistant.Suggested{
		Values:  []assistant.SuggestedValue{{Label: "Save", Value: "save it"}, {Label: "Undo", Value: "undo that"}},
		Actions: []assistant.SuggestedAction{{Label: "Write it", Action: "open_save", Handler: "client"}},
	}
	show(v, p)
	for _, c := range []struct {
		unsaved bool
		want    string
	}{{true, "[Write it] [Save: save it] [Undo: undo that]"}, {false, "[Undo: undo that]"}, {true, "[Write it] [Save: save it] [Undo: undo that]"}} {
		v.SetUnsaved(c.unsaved)
		got := plain(v.View(80, 30))
		if line := strings.TrimSpace(got[strings.Index(got, "["):]); !strings.HasPrefix(line, c.want+"\n") && line != c.want {
			t.Errorf("unsaved %v: the choices are %q, want %q", c.unsaved, line, c.want)
		}
		if n := len(v.Choices()); n != strings.Count(c.want, "[") {
			t.Errorf("unsaved %v: %d choices by number", c.unsaved, n)
		}
	}
}

// A pair that comes back, after a rollback that is undone or out of a filter, offers what
// is possible then.
func TestChoicesToSaveOfAPairThatComesBack(t *testing.T) {
	v := view()
	p := pair(1, "a", "one")
	p.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "Save", Value: "save it"}}}
	show(v, p)
	for _, unsaved := range []bool{false, true} {
		v.SetRefs(nil, 0)
		v.SetUnsaved(unsaved)
		v.SetRefs([]assistant.Ref{{Seq: p.Seq}}, 0)
		if got := len(v.Choices()); (got == 1) != unsaved {
			t.Errorf("unsaved %v: %d choices", unsaved, got)
		}
	}
}

func TestEveryLineIsAsWideAsTheView(t *testing.T) {
	hostile := []string{
		"\x1b[31mred\x1b]52;c;aGk=\x07", strings.Repeat("漢字", 60), "👨‍👩‍👧‍👦 family", "a\tb\tc", strings.Repeat("x", 500),
		"| a | b |\n|---|---|\n| " + strings.Repeat("wide ", 30) + " | 漢 |", "```go\nfunc main() {}\n```", "- a\n\n  b\n- c", "\u202egnp.exe",
	}
	v := view()
	var pairs []assistant.Pair
	for i, text := range hostile {
		p := pair(int64(i+1), text, text)
		p.Reasoning, p.Topic, p.State, p.ErrorMessage, p.ErrorCode = safetext.Text(text), text, assistant.PairError, safetext.Text(text), "net"
		p.ToolCalls = []assistant.ToolCall{{Name: text, Arguments: json.RawMessage(`{"a":"` + "\u202e" + `"}`), Result: &assistant.ToolResult{Message: text}}}
		pairs = append(pairs, p)
	}
	show(v, pairs...)
	v.firstIncluded = 4
	v.SetActive(true)
	v.Search("a")
	for w := 30; w <= 120; w += 9 {
		for _, h := range []int{3, 10, 47} {
			v.ToggleAll()
			for range 6 {
				for _, line := range v.View(w, h) {
					if got := ansi.StringWidth(line); got != w {
						t.Fatalf("at %d×%d a line is %d cells wide: %q", w, h, got, line)
					}
				}
				v.PrevPart()
				v.HalfPage(-1)
			}
		}
	}
}

func TestNoWidthIsTooHostile(t *testing.T) {
	var pairs []assistant.Pair
	for i, text := range hostile {
		p := everything(int64(i+1), text)
		p.Topic, p.Star, p.Flag = text, 3, i%2 == 0
		p.Payloads = append(p.Payloads, assistant.Payload{ID: "q", Type: text, Summary: text, Data: json.RawMessage(`{"a":1}`), Decision: "accepted"})
		p.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: safetext.Text(text), Value: "x"}}}
		pairs = append(pairs, p)
	}
	for _, unicode := range []bool{true, false} {
		v := New(style.New(style.Options{Unicode: unicode}), func() time.Time { return noon })
		show(v, pairs...)
		v.firstIncluded = 5
		v.SetActive(true)
		v.Search("e")
		for w := 1; w <= 200; w++ {
			if w%50 == 1 {
				v.ToggleAll()
			}
			h := 1 + w*7%60
			for range 3 {
				got := v.View(w, h)
				if len(got) != h {
					t.Fatalf("%d rows, want %d", len(got), h)
				}
				for _, line := range got {
					if n := ansi.StringWidth(line); n != w {
						t.Fatalf("at %d×%d a line is %d cells wide: %q", w, h, n, line)
					}
				}
				v.SelectStart(w/3, h/2)
				v.SelectTo(w, h)
				v.ScrollBy(-17 * w % 400)
			}
			v.Bottom()
		}
	}
	if got := view().View(10, 0); len(got) != 0 {
		t.Errorf("of no height: %d rows", len(got))
	}
}

func TestMissingPairsAreAskedForOnce(t *testing.T) {
	v := view()
	refs := make([]assistant.Ref, 100_000)
	for i := range refs {
		refs[i].Seq = int64(i + 1)
	}
	v.SetRefs(refs, 0)
	v.View(80, 24)
	missing := v.Missing()
	if len(missing) == 0 || len(missing) > 60 || missing[len(missing)-1] != 100_000 {
		t.Fatalf("Missing = %d pairs, last %v; want about a screenful at the end", len(missing), missing)
	}
	var loaded []assistant.Pair
	for _, seq := range missing {
		loaded = append(loaded, pair(seq, "q", "a"))
	}
	v.Load(loaded)
	v.View(80, 24)
	if again := v.Missing(); len(again) > len(missing) {
		t.Errorf("after loading %d pairs %d are missing", len(missing), len(again))
	}
	if len(v.src.items) > 300 {
		t.Errorf("%d items exist for 100,000 pairs", len(v.src.items))
	}
}

func TestScrolledAwayTheLineStaysUnderTheEye(t *testing.T) {
	v := view()
	show(v, pair(1, "q", strings.Repeat("line\n\n", 40)), pair(2, "q2", ""))
	v.StartTurn(assistant.Pair{Seq: 2, UserText: "q2", CreatedAt: noon, Flag: true})
	v.View(60, 20)
	v.Bottom()
	v.View(60, 20)
	v.ScrollBy(-12)
	before := plain(v.View(60, 20)[:19])
	for i := range 500 {
		v.Apply(assistant.TextDelta{Text: safetext.Sprintf("word %d ", i)})
		if after := plain(v.View(60, 20)[:19]); after != before {
			t.Fatalf("after %d chunks the screen moved:\n%s\nbefore:\n%s", i+1, after, before)
		}
	}
}

func TestCopyTakesTheLogicalText(t *testing.T) {
	v := view()
	long := strings.Repeat("word ", 60)
	_, p := turn()
	p.AssistantText = safetext.Text(long + "\n\n[[tool:0]]\n\n```go\nfunc a() {}\n```")
	show(v, p)
	v.View(40, 20)
	v.FocusLast()
	answer, ok := v.Answer()
	if want := strings.TrimSpace(long) + "\n\n```go\nfunc a() {}\n```"; !ok || answer != want {
		t.Errorf("Answer = %q, want %q", answer, want)
	}
	if code, _ := v.Code(); len(code) != 1 || code[0].Language != "go" || strings.TrimSpace(code[0].Text) != "func a() {}" {
		t.Errorf("Code = %+v", code)
	}
	if md, _ := v.Markdown(); !strings.Contains(md, "**You:** hide minis") || !strings.Contains(md, "add_ignore_rule") {
		t.Errorf("Markdown = %q", md)
	}
}

func TestSearchWalksRound(t *testing.T) {
	v := view()
	show(v, pair(1, "alpha", "x"), pair(2, "beta", "needle"), pair(3, "gamma", "x needle y"))
	v.View(60, 12)
	v.Search("NEEDLE")
	for i, want := range []int64{2, 3, 2} {
		if _, ok := v.NextFound(markdown.Forward, nil); !ok {
			t.Fatalf("step %d found nothing", i)
		}
		if p, _ := v.Focused(); i > 0 && p.Seq != want && p.Seq != 5-want {
			t.Errorf("step %d: pair %d", i, p.Seq)
		}
	}
	v.Search("nowhere")
	if _, ok := v.NextFound(markdown.Forward, nil); ok {
		t.Error("found what is not there")
	}
}

// headRow is the row of the screen that shows text.
func headRow(t *testing.T, v *View, w, h int, text string) int {
	t.Helper()
	_, y := cellOf(t, v, w, h, text)
	return y
}

// Opening and closing leaves the line under the cursor where it is, also at the
// end of the conversation and where less is left than the screen has rows.
func TestFoldingMovesNoLineUnderTheCursor(t *testing.T) {
	for name, after := range map[string]string{"at the end": "short", "with more below": strings.Repeat("after\n\n", 40)} {
		v := view()
		p := pair(2, "q", after)
		p.Reasoning = safetext.Text(strings.Repeat("thought\n", 30))
		show(v, pair(1, "older", strings.Repeat("older\n\n", 30)), p)
		const w, h = 60, 20
		v.View(w, h)
		v.FocusLast()
		v.focus = 1
		v.reveal(false)
		y := headRow(t, v, w, h, "▸ thinking")
		for i := range 6 {
			v.ToggleFold()
			sign := "▾ thinking"
			if i%2 == 1 {
				sign = "▸ thinking"
			}
			if got := headRow(t, v, w, h, sign); got != y {
				t.Fatalf("%s: after %d times the head stands in row %d, not %d:\n%s", name, i+1, got, y, plain(v.View(w, h)))
			}
			if hint, _ := v.Below(""); strings.Contains(hint, "new") && name == "at the end" && i%2 == 1 {
				t.Errorf("%s: folding announces %q", name, hint)
			}
		}
		v.ScrollBy(1)
		v.ScrollBy(-1)
		v.Bottom()
		if !v.AtEnd() {
			t.Errorf("%s: the end is not followed again", name)
		}
	}
}

// What streams below a part that was closed fills the empty rows and is followed.
func TestTheEndIsFollowedAfterFolding(t *testing.T) {
	v := view()
	show(v, pair(1, "older", strings.Repeat("older\n\n", 30)), pair(2, "q", ""))
	v.StartTurn(assistant.Pair{Seq: 2, UserText: "q", CreatedAt: noon, Flag: true})
	v.Apply(assistant.ReasoningDelta{Text: safetext.Clean(strings.Repeat("thought\n", 30))})
	const w, h = 60, 20
	v.Bottom()
	v.View(w, h)
	v.FocusLast()
	v.focus = 1
	v.ToggleFold()
	for i := range 60 {
		v.Apply(assistant.TextDelta{Text: safetext.Sprintf("line %d\n\n", i)})
		v.View(w, h)
	}
	if got := plain(v.View(w, h)); !strings.Contains(got, "line 59") {
		t.Errorf("the end is not followed:\n%s", got)
	}
}

func TestOnlyALongReplyIsShownFromItsBeginning(t *testing.T) {
	v := view()
	show(v, pair(1, strings.Repeat("my own line\n", 30), "short"), pair(2, "my question", strings.Repeat("reply\n\n", 30)))
	v.View(60, 20)
	if v.ShowReply(1) {
		t.Error("a short reply to a long message counts as long")
	}
	if got := plain(v.View(60, 20)); !v.ShowReply(2) || strings.Contains(plain(v.View(60, 20)), "my question") {
		t.Errorf("a long reply is not shown from its beginning:\n%s", got)
	}
}

// What hides in a name, an argument or a result is seen in a folded card.
func TestNothingHidesInFoldedCards(t *testing.T) {
	const hidden = "gpt-4\u200bo*\u202e\u3164\U000e0041"
	v := view()
	p := pair(1, "q", "[[tool:0]]")
	p.ToolCalls = []assistant.ToolCall{{
		Name: "add\u200brule", Arguments: json.RawMessage(`{"pattern":"` + hidden + `"}`),
		Result: &assistant.ToolResult{Success: true, Message: "hid " + hidden + " and gpt-5‹U+200B›o*"}, // the tool has spelled out the last
	}}
	show(v, p)
	for _, open := range []bool{false, true} {
		if open {
			v.ToggleAll()
		}
		got := plain(v.View(160, 30))
		wanted := []string{"hid gpt-4‹U+200B›o*‹U+202E›‹U+3164›‹U+E0041› and gpt-5‹U+200B›o*"}
		if open {
			wanted = append(wanted, "add‹U+200B›rule", `"gpt-4‹U+200B›o*‹U+202E›‹U+3164›‹U+E0041›"`)
		}
		for _, want := range wanted {
			if !strings.Contains(got, want) {
				t.Errorf("open %v: %q is not in\n%s", open, want, got)
			}
		}
		if strings.ContainsAny(got, "\u200b\u202e\u3164\U000e0041") {
			t.Errorf("open %v: something hides in %q", open, got)
		}
	}
}

// 27: the buttons below an older pair that failed take clicks, and name the keys as
// they are bound.
func TestTheButtonsOfOlderErrorsTakeClicks(t *testing.T) {
	v := view()
	failed := pair(1, "a", "")
	failed.State, failed.ErrorCode, failed.ErrorMessage = assistant.PairError, "net", "refused"
	failed.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "Old", Value: "old"}}}
	show(v, failed, pair(2, "b", "fine"))
	v.SetKeys(func(action keymap.Action) string {
		return map[keymap.Action]string{"retry": "R", "re-ask": "E", "delete-pair": "ctrl+d"}[action]
	})
	const w, h = 60, 20
	v.Top()
	for active, want := range map[bool]string{true: "[R Retry] [E Re-ask] [ctrl+d Delete]\n", false: "[Retry] [Re-ask] [Delete]\n"} {
		v.SetActive(active)
		if got := plain(v.View(w, h)); !strings.Contains(got, want) {
			t.Fatalf("the focus in the view: %v, the buttons are not %q:\n%s", active, want, got)
		}
	}
	v.SetActive(true)
	for text, want := range map[string]keymap.Action{"[Retry]": "retry", "[Re-ask]": "re-ask", "[Delete]": "delete-pair"} {
		v.FocusLast() // the keys would act on this pair
		x, y := cellOf(t, v, w, h, text)
		if _, ok := v.ChoiceAt(x, y); ok {
			t.Errorf("%s is a choice of the newest pair", text)
		}
		action, ok := v.ActionAt(x, y)
		if p, _ := v.Focused(); action != want || !ok || p.Seq != 1 {
			t.Errorf("a click on %s is %q %v on pair %d, want %q on pair 1", text, action, ok, p.Seq, want)
		}
	}
	if _, ok := v.ActionAt(w-1, 0); ok {
		t.Error("a click beside the buttons acts")
	}
}

// Below an error stands what can be done about it, with the keys as they are bound now,
// unless a choice below names them.
func TestAnErrorShowsItsWayOut(t *testing.T) {
	v := view()
	failed := pair(1, "a", "")
	failed.State, failed.ErrorCode, failed.ErrorMessage = assistant.PairError, string(llm.KindQuota), "slow down"
	show(v, failed)
	for bound, want := range map[string]string{
		"ctrl+y": "[error: quota] slow down\n    Wait and try again, add credit or choose another model (ctrl+y).",
		"L":      "[error: quota] slow down\n    Wait and try again, add credit or choose another model (L).",
		"":       "[error: quota] slow down\n    Wait and try again, add credit or choose another model.",
	} {
		v.SetKeys(func(action keymap.Action) string {
			return map[keymap.Action]string{"retry": "r", keymap.Models: bound}[action]
		})
		if got := plain(v.View(120, 20)); !strings.Contains(got, want) {
			t.Errorf("models on %q shows\n%s", bound, got)
		}
	}
}

// After SetRaw no answer is rendered, also when it is loaded again, until ToggleRaw.
func TestAnswersOpenRaw(t *testing.T) {
	v := view()
	long := strings.Repeat("> **deep** ", 200)
	show(v, pair(1, "q", "*short*"))
	v.SetRaw()
	show(v, pair(1, "q", "*short*"), pair(2, "q", long))
	v.Load([]assistant.Pair{pair(2, "q", long)})
	if got := plain(v.View(60, 60)); !strings.Contains(got, "*short*") || !strings.Contains(got, "> **deep** > **deep**") {
		t.Errorf("the screen shows\n%s", got)
	}
	v.FocusLast()
	v.ToggleRaw()
	if got := plain(v.View(60, 60)); strings.Contains(got, "**deep**") || !strings.Contains(got, "*short*") {
		t.Errorf("rendered again:\n%s", got)
	}
}

// A chip of the newest pair shows the key that chooses it, as it is bound; without one
// it is chosen by a click.
func TestChipsShowTheKeyThatChoosesThem(t *testing.T) {
	v := view()
	p := pair(1, "a", "well")
	p.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "One", Value: "1"}, {Label: "Two", Value: "2"}, {Label: "Three", Value: "3"}}}
	show(v, p)
	v.SetKeys(func(action keymap.Action) string {
		return map[keymap.Action]string{"choose-1": "alt+1", "choose-2": "f7"}[action]
	})
	if got := plain(v.View(60, 20)); !strings.Contains(got, "[alt+1 One: 1] [f7 Two: 2] [Three: 3]") {
		t.Errorf("the chips are\n%s", got)
	}
}

// The second key of a chip is left out where the chips then take fewer lines, and none
// touches the border.
func TestChipsInANarrowWindow(t *testing.T) {
	v := view()
	failed := pair(1, "a", "")
	failed.State, failed.ErrorCode, failed.ErrorMessage = assistant.PairError, "net", "refused"
	show(v, failed)
	v.SetKeys(func(action keymap.Action) string {
		return map[keymap.Action]string{"choose-1": "alt+1", "choose-2": "alt+2", "choose-3": "alt+3", "retry": "r", "re-ask": "e", "delete-pair": "d"}[action]
	})
	v.SetActive(true)
	v.FocusLast()
	for w, want := range map[int]string{
		60: "[alt+1 Retry · r] [alt+2 Re-ask · e] [alt+3 Delete · d]\n",
		40: "[alt+1 Retry · r] [alt+2 Re-ask · e]\n",
		38: "[alt+1 Retry] [alt+2 Re-ask]",
		18: "[alt+1 Retry]\n",
	} {
		got := plain(v.View(w, 30))
		if !strings.Contains(got, want) {
			t.Errorf("%d cells: the chips are\n%s", w, got)
		}
		for line := range strings.Lines(got) {
			if line = strings.TrimRight(line, "\n"); strings.Contains(line, "[alt+") && ansi.StringWidth(line) >= w {
				t.Errorf("%d cells: %q has no blank behind it", w, line)
			}
		}
	}
}
