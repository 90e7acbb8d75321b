package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// cellOf finds text on the screen: the cell of its first character.
func cellOf(t *testing.T, v *View, w, h int, text string) (x, y int) {
	t.Helper()
	for y, line := range v.View(w, h) {
		plain := ansi.Strip(line)
		if i := strings.Index(plain, text); i >= 0 {
			return ansi.StringWidth(plain[:i]), y
		}
	}
	t.Fatalf("%q is not on the screen:\n%s", text, plain(v.View(w, h)))
	return 0, 0
}

// drag selects from the first character of one text to the last of another.
func drag(t *testing.T, v *View, w, h int, from, to string) string {
	t.Helper()
	x, y := cellOf(t, v, w, h, from)
	v.SelectStart(x, y)
	x, y = cellOf(t, v, w, h, to)
	v.SelectTo(x+ansi.StringWidth(to)-1, y)
	return v.SelectionText()
}

func TestSelectionIsTheTextAsDrawn(t *testing.T) {
	v := view()
	_, p := turn()
	p.UserText = "hide the minis, please, and everything that looks\tlike a preview of a model"
	p.AssistantText = "I'll **do it** now, in words that go on over the end of the line.\n\n[[tool:0]]\n\n```go\nfunc f() {\n\treturn\n}\n```\n\n| a | b |\n|---|---|\n| 日本 | two |"
	show(v, p, pair(2, "thanks", "you are *welcome*"))
	v.list.Top()
	const w, h = 49, 40
	for name, c := range map[string]struct{ from, to, want string }{
		"wrapped message":     {"minis", "preview", "minis, please, and everything that looks    like a preview"},
		"wrapped answer":      {"do it", "line.", "do it now, in words that go on over the end of the line."},
		"within emphasis":     {"o it", "now", "o it now"},
		"backwards":           {"words that", "do", "o it now, in w"},
		"card":                {"5", "models", "5 models"},
		"code":                {"func", "}", "func f() {\n    return\n}"},
		"code to table":       {"return", "日本", "return\n}\n\na    │ b\n─────┼─────\n日本"},
		"wide runes":          {"本", "two", "本 │ two"},
		"over several":        {"line.", "func f", "line.\n\n5 models\n\nfunc f"},
		"over pairs":          {"two", "you", "two\n\nthanks\n\nyou"},
		"end of an answer":    {"are", "welcome", "are welcome"},
		"folded is not shown": {"looks", "now", "looks    like a preview of a model\n\nI'll do it now"},
	} {
		if got := drag(t, v, w, h, c.from, c.to); got != c.want {
			t.Errorf("%s: from %q to %q came %q, want %q", name, c.from, c.to, got, c.want)
		}
	}
	v.ToggleAll()
	if got, want := drag(t, v, w, 60, "pattern", "5 models"), `pattern": "*mini*"`+"\n}\n5 models"; got != want {
		x, y := cellOf(t, v, w, 60, "pattern")
		v.SelectStart(x, y)
		v.SelectTo(w, y+2)
		if got = v.SelectionText(); got != want {
			t.Errorf("of an open card came %q, want %q", got, want)
		}
	}
	if got := drag(t, v, w, 60, "looks", "They want"); !strings.HasSuffix(got, "a model\n\nThey want") {
		t.Errorf("of open thinking came %q", got)
	}
}

func TestSelectionBesideTheText(t *testing.T) {
	v := view()
	show(v, pair(1, "question", "first line\n\n- item one\n- item two\n\nlast"))
	const w, h = 40, 20
	x, y := cellOf(t, v, w, h, "first")
	if v.SelectStart(0, 0); hasSelection(v) {
		t.Error("a press selects")
	}
	v.SelectTo(w+20, h+20)
	if got, want := v.SelectionText(), "question\n\nfirst line\n\n• item one\n• item two\n\nlast"; got != want {
		t.Errorf("all is %q, want %q", got, want)
	}
	v.SelectStart(w-1, y) // behind the end of the line
	v.SelectTo(x, y)
	if got := v.SelectionText(); got != "first line" {
		t.Errorf("from behind the end came %q", got)
	}
	v.SelectStart(x, y+1) // a blank line: what follows
	_, below := cellOf(t, v, w, h, "item one")
	v.SelectTo(w-1, below)
	if got := v.SelectionText(); got != "• item one" {
		t.Errorf("from a blank line came %q", got)
	}
	v.ClearSelection()
	if hasSelection(v) || v.SelectionText() != "" {
		t.Error("the selection is still there")
	}
}

func TestSelectionStaysWhileTextStreamsAndScrolls(t *testing.T) {
	v := view()
	show(v, pair(1, "q", strings.Repeat("older\n\n", 30)), pair(2, "q2", ""))
	v.StartTurn(assistant.Pair{Seq: 2, UserText: "q2", CreatedAt: noon, Flag: true})
	v.Apply(assistant.TextDelta{Text: "The **first** words of "})
	const w, h = 30, 14
	if got := drag(t, v, w, h, "first", "words"); got != "first words" {
		t.Fatalf("selected %q", got)
	}
	for range 40 {
		v.Apply(assistant.TextDelta{Text: "an answer that goes on "})
		v.View(w, h)
		if got := v.SelectionText(); got != "first words" {
			t.Fatalf("while it streams the selection is %q", got)
		}
	}
	v.ScrollBy(-20)
	v.View(w, h)
	stored := pair(2, "q2", "The **first** words of "+strings.Repeat("an answer that goes on ", 40))
	v.Load([]assistant.Pair{stored})
	v.View(w, h)
	if got := v.SelectionText(); got != "first words" {
		t.Errorf("at the end the selection is %q", got)
	}
	v.SelectStart(5, 3)
	v.ScrollBy(-3)
	v.SelectTo(5, 3)
	if !hasSelection(v) {
		t.Error("scrolling under the pointer selects nothing")
	}
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	v.SelectionText()
	show(v, pair(3, "other", "x"))
	if hasSelection(v) {
		t.Error("the pair is gone, and the selection is not")
	}
}

func TestSelectionIsDrawn(t *testing.T) {
	v := view() // without colours
	show(v, pair(1, "my own question", "some **bold** words 日本 and so on"))
	const w, h = 40, 12
	drag(t, v, w, h, "own", "本")
	got := v.View(w, h)
	for _, line := range got {
		if n := ansi.StringWidth(line); n != w {
			t.Errorf("a line with a selection is %d cells wide: %q", n, line)
		}
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, "\x1b[7msome bold words 日本\x1b[m") {
		t.Errorf("the answer is not reversed: %q", all)
	}
	if strings.Contains(all, "\x1b[7mown") || !strings.Contains(all, "mown question\x1b[m") || !strings.Contains(all, "own question") {
		t.Errorf("in the message, which is reversed, the selection cannot be told: %q", all)
	}
}

// everything is a pair with every kind of part, made of one text.
func everything(seq int64, text string) assistant.Pair {
	p := pair(seq, text, text+"\n\n[[tool:0]]\n\n"+text)
	p.Reasoning, p.State, p.ErrorMessage, p.ErrorCode, p.Notice = safetext.Text(text), assistant.PairError, safetext.Text(text), "net", safetext.Text(text)
	p.ToolCalls = []assistant.ToolCall{{Name: "a_tool", Arguments: json.RawMessage(`{"a":"b"}`), Result: &assistant.ToolResult{Success: true, Message: text}}}
	raw, _ := json.Marshal(map[string]any{"add_ignore": []string{"*x*"}, "reasoning": text})
	p.Payloads = []assistant.Payload{{ID: "p", Type: pane.RuleProposal, Data: raw, Summary: text}}
	return p
}

var hostile = []string{
	"plain words and more of them than fit on one line", strings.Repeat("漢字", 60), "👨‍👩‍👧‍👦 family e\u0301", "a\tb\tc", strings.Repeat("x", 300),
	"| a | b |\n|---|---|\n| " + strings.Repeat("wide ", 30) + " | 漢 |", "```go\nfunc main() {\n\tf()\n}\n```", "- a\n\n  b\n- c\n  1. d", "> quote *a*\n> > deep",
	"see [docs](http://e.x) and `co de`", "path/to/some-long/file-name.go and -x --yy", "   leading and trailing   ", "\x1b[31mred\x1b]52;c;aGk=\x07", "\u202egnp.exe",
}

// Whatever the width, what is copied of a text is the text: the line breaks of the
// width are not in it, and its own are.
func TestTheWidthIsNotCopied(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("some words of a long-winded answer, 日本語 too; ", 120))
	text := words + "\n\n" + strings.Repeat("x", 300) + "\n\n" + words
	for _, w := range []int{12, 20, 41, 80, 200, 320} {
		v := view()
		p := pair(1, text, text+"\n\n> "+words+"\n\n```\n\tcode "+words+"\n```")
		p.Reasoning = safetext.Text(text)
		show(v, p)
		v.ToggleAll()
		v.View(w, 10)
		h := len(v.src.item(1).lines(v.innerWidth())) + 5
		v.View(w, h)
		v.SelectStart(0, 0)
		v.SelectTo(w, h)
		want := text + "\n\n" + text + "\n\n" + text + "\n\n" + words + "\n\n    code " + words
		if got := v.SelectionText(); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("at %d cells %d bytes, want %d; from byte %d on %.80q, want %.80q", w, len(got), len(want), at, got[at:], want[at:])
		}
	}
}

func TestAnySelectionIsPartOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(hostile).Draw(t, "text")
		v := view()
		show(v, everything(1, text), everything(2, text))
		v.ToggleAll()
		w, h := rapid.IntRange(3, 90).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		v.View(w, h)
		v.ScrollBy(-rapid.IntRange(0, 60).Draw(t, "up"))
		v.View(w, h)
		at := func(name string) (int, int) {
			return rapid.IntRange(-2, w+2).Draw(t, name+" x"), rapid.IntRange(-2, h+2).Draw(t, name+" y")
		}
		x, y := at("from")
		v.SelectStart(x, y)
		x, y = at("to")
		v.SelectTo(x, y)
		got := v.SelectionText()
		for _, line := range v.View(w, h) {
			if n := ansi.StringWidth(line); n != w {
				t.Fatalf("a line is %d cells wide, want %d: %q", n, w, line)
			}
		}
		if hasSelection(v) && strings.ContainsAny(got, "\x1b\x07\u202e▾▸✓") {
			t.Fatalf("what is copied holds what is no text: %q", got)
		}
	})
}

func hasSelection(v *View) bool {
	_, ok := v.selected()
	return ok
}
