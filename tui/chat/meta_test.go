package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// The time stands at the right end of the message's first line, two columns before the edge,
// at every width, in colours too, while the pair runs and when its author is shown. The marks
// stand at its left; where they have no room they and the time stand above the message.
func TestTheTimeStandsBesideTheMessage(t *testing.T) {
	const topic = "A topic that is longer than forty columns"
	for _, look := range []style.Styles{style.New(style.Options{Unicode: true, Profile: style.NoColor}), style.New(style.Options{Unicode: true})} {
		for _, c := range []struct {
			w                  int
			author, topic, day string
			first, second      string // without the blanks at their beginning
		}{
			{70, "", "", "", " hi   12:30", ""},
			{40, "", "", "", " hi   12:30", ""},
			{70, "ann", "AI > Agents", "", "★★★ AI > Agents| hi   ann 12:30", ""},
			{118, "ann", topic, "", "★★★ " + topic + "| hi   ann 12:30", ""},
			{70, "ann", topic, "", "★★★ " + topic + "|ann 12:30", " hi"},
			{38, "ann", "", "", "★★★| hi   ann 12:30", ""},
			{118, "", "", "a year ago", " hi   2025-03-04 12:30", ""},
			{40, "", "", "a year ago", " hi   2025-03-04", ""},
			{24, "", "", "", "12:30", " hi"},
		} {
			p := pair(1, "hi", "ho")
			p.Author, p.Topic = c.author, c.topic
			if strings.Contains(c.first, "★") {
				p.Star = 3
			}
			if c.day != "" {
				p.CreatedAt = noon.AddDate(-1, 0, 0)
			}
			stored, running := New(look, func() time.Time { return noon }), New(look, func() time.Time { return noon })
			show(stored, p)
			running.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
			running.StartTurn(p)
			for sign, v := range map[string]*View{"  ": stored, "… ": running} {
				lines := v.View(c.w, 6)
				first, second := ansi.Strip(lines[0]), strings.TrimSpace(ansi.Strip(lines[1]))
				left, right, marked := strings.Cut(c.first, "|")
				if !marked {
					left, right = "", c.first
				}
				at := strings.LastIndex(right, "  ") // the sign stands there
				if at >= 0 {
					right = right[:at] + sign + right[at+2:]
				}
				if !strings.HasPrefix(first, "  "+left) || !strings.HasSuffix(first, right+"  ") || ansi.StringWidth(first) != c.w || second != strings.TrimSpace(c.second) {
					t.Errorf("at %d columns, want %q and %q in\n%s|\n%s|", c.w, c.first, c.second, first, second)
				}
			}
		}
	}
}

// A message without marks has no line of its own for its time, however many lines it has.
func TestALongMessageStandsBesideItsTime(t *testing.T) {
	for _, text := range []string{strings.Repeat("word ", 30), strings.Repeat("long ", shortText)} {
		v := view()
		show(v, pair(1, text, "ok"))
		v.Top()
		for v.LayOut() {
		}
		lines := v.View(60, 20)
		if first := plain(lines[:1]); !strings.HasSuffix(first, "   12:30\n") || !strings.Contains(first, text[:4]) {
			t.Errorf("the first line is %q", first)
		}
		v.SelectStart(0, 0)
		v.SelectTo(59, 1)
		if got := v.SelectionText(); strings.Contains(got, "12:30") || !strings.HasPrefix(text, got) || len(got) < 60 {
			t.Errorf("copied: %q", got)
		}
	}
}

// A badge never covers a mark or the text; what does not fit is said in a word.
func TestABadgeStandsBesideTheMarks(t *testing.T) {
	for _, c := range []struct {
		w     int
		text  string
		first int
		want  string
	}{
		{70, "hi", 2, "  off ★★ AI > Agents "},
		{70, "hi", 0, "  ★★ AI > Agents "},
		{70, "hi", 1, "  sent from here on ★★ AI > Agents "},
		{40, strings.Repeat("word ", 9), 2, "  off "},
		{40, strings.Repeat("word ", 9), 1, "  sent "},
		{120, strings.Repeat("word ", 9), 1, "  sent from here on "},
	} {
		v := view()
		one, two := pair(1, "nothing", "ok"), pair(2, c.text, "ok")
		if c.text == "hi" {
			two.Star, two.Topic = 2, "AI > Agents"
		}
		show(v, one, two)
		v.SetRefs(v.src.refs, c.first)
		v.active = false
		row := ""
		for _, line := range v.View(c.w, 12) {
			if line = ansi.Strip(line); strings.Contains(line, " "+strings.Fields(c.text)[0]+" ") {
				row = line
				break
			}
		}
		row = "  " + strings.TrimPrefix(strings.TrimPrefix(row, v.rc.st.Icons.Selected), "  ")
		if got := strings.Join(strings.Fields(row), " "); !strings.HasPrefix(got, strings.TrimSpace(c.want)) || !strings.Contains(got, strings.TrimSpace(c.text)[:2]) || !strings.HasSuffix(got, "12:30") {
			t.Errorf("at %d, first included %d: %q, want %q", c.w, c.first, row, c.want)
		}
	}
}

func TestAnAnswerSaysWhatItTook(t *testing.T) {
	usage := &llm.Usage{Prompt: 1000, Completion: 349}
	answered := func(change func(*assistant.Pair)) assistant.Pair {
		p := pair(1, "hi", "ho")
		p.Model, p.Took, p.Usage, p.Price = "openai/gpt-5.1", 4200*time.Millisecond, usage, new(0.004)
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		change func(*assistant.Pair)
		want   string
	}{
		"all":       {func(*assistant.Pair) {}, "gpt-5.1 · 4.2 s · 1.3k tokens · $0.004"},
		"no usage":  {func(p *assistant.Pair) { p.Usage = nil }, "gpt-5.1 · 4.2 s · ~812 tokens of text"},
		"no price":  {func(p *assistant.Pair) { p.Price = nil }, "gpt-5.1 · 4.2 s · 1.3k tokens"},
		"long":      {func(p *assistant.Pair) { p.Took = 90 * time.Second }, "gpt-5.1 · 1m30s · 1.3k tokens · $0.004"},
		"not known": {func(p *assistant.Pair) { p.Took = 0 }, "gpt-5.1 · 1.3k tokens · $0.004"},
		"built in":  {func(p *assistant.Pair) { p.Model, p.Usage, p.Price = "offline/rules", &llm.Usage{}, nil }, "offline/rules · 4.2 s"},
		"unsafe":    {func(p *assistant.Pair) { p.Model = "x/a\x1b[31mb" }, " · 4.2 s · 1.3k tokens"},
		"free":      {func(p *assistant.Pair) { p.Price = new(0.0) }, "· $0.00"},
		"partial":   {func(p *assistant.Pair) { p.State = assistant.PairPartial }, "gpt-5.1 · 4.2 s"},
		"variants":  {func(p *assistant.Pair) { p.Variants, p.Chosen = []assistant.Variant{{ID: "x"}, {ID: "y"}}, 1 }, "‹2/3› · gpt-5.1 · 4.2 s"},
		"failed":    {func(p *assistant.Pair) { p.State, p.ErrorCode, p.AssistantText = assistant.PairError, "net", "" }, ""},
		"failed, chosen": {func(p *assistant.Pair) {
			p.State, p.ErrorCode, p.AssistantText, p.Variants = assistant.PairError, "net", "", []assistant.Variant{{}}
		}, "‹1/2›"},
		"failed half-way": {func(p *assistant.Pair) { p.State, p.ErrorCode = assistant.PairError, "net" }, "gpt-5.1 · 4.2 s · 1.3k tokens"},
	} {
		v, p := view(), answered(c.change)
		v.SetRefs([]assistant.Ref{{Seq: 1, Cost: 812}}, 0)
		v.src.item(1)
		v.Load([]assistant.Pair{p})
		rows := strings.Split(strings.TrimRight(plain(v.View(80, 30)), "\n"), "\n")
		last := rows[len(rows)-1]
		if name == "built in" && strings.Contains(last, "token") {
			t.Errorf("%s: %q counts tokens that nothing used", name, last)
		}
		if c.want == "" && strings.Contains(last, "4.2 s") || !strings.Contains(last, c.want) || strings.Contains(last, "\x1b") {
			t.Errorf("%s: the last line is %q, want %q", name, last, c.want)
		}
		for w := 1; w < 60; w++ {
			for _, line := range v.View(w, 20) {
				if got := ansi.StringWidth(line); got > w {
					t.Fatalf("%s: a line of %d cells at %d", name, got, w)
				}
			}
		}
	}
}

// The line stands directly below the choices, and is not there while the answer streams.
func TestWhatAnAnswerTookStandsBelowItsChoices(t *testing.T) {
	v := view()
	p := pair(1, "hi", "ho")
	p.Model, p.Took, p.Suggested = "a/model", time.Second, &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "Yes", Value: "Yes"}}}
	show(v, p)
	if got := trimLines(plain(v.View(60, 20))); !strings.Contains(got, "Yes]\nmodel · 1.0 s\n") {
		t.Errorf("the line is not below the choices:\n%s", got)
	}
	v.FocusLast()
	for range 4 {
		v.NextPart()
	}
	if v.focus != 1+1 { // message, answer, choices: the line takes no focus
		t.Errorf("the focus is on part %d", v.focus)
	}
	v.StartTurn(p)
	if got := plain(v.View(60, 20)); strings.Contains(got, "model") {
		t.Errorf("while it streams:\n%s", got)
	}
}

func TestALongMessageFolds(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	lines[20] = "the needle"
	for name, text := range map[string]string{"short": strings.Join(lines, "\n"), "long": strings.Join(lines, "\n") + strings.Repeat("\nlong", shortText)} {
		v := view()
		show(v, pair(1, text, "ok"), pair(2, "two", "ok"))
		v.Top()
		for v.LayOut() {
		}
		frame := plain(v.View(80, 30))
		more := strings.Count(text, "\n") + 1 - foldedLines
		if want := fmt.Sprintf("▸ %d more lines", more); !strings.Contains(frame, want) || strings.Contains(frame, "line 12") || !strings.Contains(frame, "line 11") {
			t.Fatalf("%s, want %q:\n%s", name, want, frame)
		}
		v.ToggleFold()
		for v.LayOut() {
		}
		if frame = plain(v.View(80, 60)); !strings.Contains(frame, "line 39") {
			t.Errorf("%s, opened:\n%s", name, frame)
		}
		p := pair(1, text, "ok")
		p.Star = 1
		v.Load([]assistant.Pair{p}) // it stays open
		for v.LayOut() {
		}
		if frame = plain(v.View(80, 60)); !strings.Contains(frame, "line 39") {
			t.Errorf("%s, loaded again:\n%s", name, frame)
		}
		v.ToggleFold()
		if frame = plain(v.View(80, 30)); strings.Contains(frame, "line 12") {
			t.Errorf("%s, folded again:\n%s", name, frame)
		}
		v.Search("the needle")
		if _, ok := v.NextFound(markdown.Forward, nil); !ok { // what is folded is found as well
			t.Errorf("%s: a hit in the folded lines is not found", name)
		}
	}
	v := view()
	show(v, pair(1, strings.Join(lines[:foldedLines+1], "\n"), "ok"))
	if frame := plain(v.View(80, 30)); !strings.Contains(frame, "line 12") || strings.Contains(frame, "more line") {
		t.Errorf("thirteen lines:\n%s", frame)
	}
}
