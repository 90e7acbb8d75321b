package overlay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

var plainStyles = style.New(style.Options{Unicode: true, Profile: style.NoColor})

func entries(n int) []Entry {
	out := make([]Entry, n)
	for i := range out {
		out[i] = Entry{Value: fmt.Sprint(i), Text: fmt.Sprintf("entry %d", i), Group: fmt.Sprintf("group %d", i/5)}
	}
	return out
}

func press(o Overlay, keys ...string) Outcome {
	var out Outcome = Stay{}
	for _, k := range keys {
		text := ""
		if len(k) == 1 {
			text = k
		}
		out = o.Key(keymap.Key(k), text)
	}
	return out
}

func TestPicker(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want Outcome
	}{
		"enter takes the first":  {[]string{"enter"}, Chosen{Value: "0", Action: keymap.LineAccept}},
		"down moves":             {[]string{"down", "ctrl+n", "enter"}, Chosen{Value: "2", Action: keymap.LineAccept}},
		"up stops at the top":    {[]string{"up", "ctrl+p", "enter"}, Chosen{Value: "0", Action: keymap.LineAccept}},
		"end and back":           {[]string{"end", "up", "enter"}, Chosen{Value: "38", Action: keymap.LineAccept}},
		"typing searches":        {[]string{"1", "7", "enter"}, Chosen{Value: "17", Action: keymap.LineAccept}},
		"backspace widens again": {[]string{"1", "7", "backspace", "backspace", "enter"}, Chosen{Value: "0", Action: keymap.LineAccept}},
		"left and delete":        {[]string{"7", "1", "left", "ctrl+h", "backspace", "enter"}, Chosen{Value: "1", Action: keymap.LineAccept}},
		"nothing matches":        {[]string{"q", "q", "q", "enter"}, Stay{}},
		"esc closes":             {[]string{"1", "esc"}, Closed{}},
		"another key chooses":    {[]string{"down", "alt+r"}, Chosen{Value: "1", Action: keymap.RenameTopic}},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPicker("title", entries(40), 0).Offer(keymap.TopicList, keymap.To("does more", keymap.RenameTopic))
			if got := press(p, c.keys...); got != c.want {
				t.Errorf("%v = %#v, want %#v", c.keys, got, c.want)
			}
		})
	}
}

func TestPickerFindsTheNearestFirst(t *testing.T) {
	var all []Entry
	for _, text := range []string{"Set the system", "Obsession", "New session", "Sessions of the history"} {
		all = append(all, Entry{Value: text, Text: text})
	}
	p := NewPicker("title", all, 0)
	press(p, "s", "e", "s", "s")
	for _, want := range []string{"Sessions of the history", "New session", "Obsession", "Set the system"} {
		if got := press(p, "enter"); got != (Chosen{Value: want, Action: keymap.LineAccept}) {
			t.Errorf("chosen %v, want %q", got, want)
		}
		press(p, "down")
	}
}

func TestPickerTakesWhatIsTypedAsNew(t *testing.T) {
	picker := func() *Picker {
		return NewPicker("title", entries(40), 0).Offer(keymap.TopicList, keymap.To("renames", keymap.RenameTopic)).WithTypedChoice(keymap.NewTopic)
	}
	for name, c := range map[string]struct {
		keys []string
		want Outcome
	}{
		"nothing typed":   {[]string{"down", "alt+n"}, Chosen{Value: "1", Action: keymap.NewTopic}},
		"something else":  {[]string{"q", "q", "alt+n"}, Chosen{Action: keymap.NewTopic, Query: "qq"}},
		"what there is":   {[]string{"1", "7", "alt+n"}, Chosen{Value: "17", Action: keymap.NewTopic, Query: "17"}},
		"the others stay": {[]string{"q", "q", "alt+r"}, Stay{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := press(picker(), c.keys...); got != c.want {
				t.Errorf("%v = %#v, want %#v", c.keys, got, c.want)
			}
		})
	}
}

func TestNewEntriesKeepTheSearchAndTheSelection(t *testing.T) {
	p := NewPicker("title", entries(40), 0)
	press(p, "1", "down", "down")
	want := press(p, "enter")
	p.SetEntries(append([]Entry{{Value: "new", Text: "entry 1 new"}}, entries(45)...), 0)
	if got := press(p, "enter"); got != want {
		t.Errorf("after SetEntries enter = %#v, want %#v", got, want)
	}
	if got := p.query.Text(); got != "1" {
		t.Errorf("the search is %q, want what was typed", got)
	}
}

// Where an entry is too narrow for text and right edge, the short right edge stands there
// whole; a title is cut after a word.
func TestANarrowEntryShowsItsShortEdge(t *testing.T) {
	p := NewPicker("Sessions", []Entry{{Text: "which models are hidden", Extra: "2026-03-04 14:32 · 1 message", Short: "2026-03-04"}}, 0)
	for w, want := range map[int]string{
		60: "›   which models are hidden     2026-03-04 14:32 · 1 message",
		56: "›   which models are hidden 2026-03-04 14:32 · 1 message",
		55: "›   which models are hidden                  2026-03-04",
		34: "›   which models are…   2026-03-04",
	} {
		if got := ansi.Strip(p.Body(w, 4, plainStyles)[pickerHeadLines]); got != want {
			t.Errorf("%d cells:\n%q, want\n%q", w, got, want)
		}
	}
	if got, _, _ := strings.Cut(framed("Undo the changes of others as well?", "", "", nil, 36, plainStyles), "\n"); !strings.Contains(got, "Undo the changes of others as… ") {
		t.Errorf("the title is %q", got)
	}
}

// An entry with nothing at its right edge has the whole line.
func TestAnEntryAloneHasTheWholeLine(t *testing.T) {
	p := NewPicker("Commands", []Entry{{Text: "Save the filter under a name"}}, 0)
	if got, want := ansi.Strip(p.Body(32, 4, plainStyles)[pickerHeadLines]), "›   Save the filter under a name"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func TestLine(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want Outcome
	}{
		"enter takes":      {[]string{"c", "backspace", "d", "enter"}, Chosen{Value: "a > d", Action: keymap.LineAccept}},
		"esc closes":       {[]string{"c", "esc"}, Closed{}},
		"nothing is empty": {[]string{"ctrl+u", "enter"}, Stay{}},
		"cleared":          {[]string{"ctrl+u", "x", "enter"}, Chosen{Value: "x", Action: keymap.LineAccept}},
		"in the middle":    {[]string{"home", "b", "right", "delete", "enter"}, Chosen{Value: "ba> ", Action: keymap.LineAccept}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := press(NewLine("title", "a > ", "hint"), c.keys...); got != c.want {
				t.Errorf("%v = %#v, want %#v", c.keys, got, c.want)
			}
		})
	}
}

func TestPickerShowsTheSelectedLine(t *testing.T) {
	p := NewPicker("title", entries(200), 0)
	for i := range 199 {
		press(p, "down")
		body := strings.Join(p.Body(50, 12, plainStyles), "\n")
		if want := fmt.Sprintf("entry %d ", i+1); !strings.Contains(body+" ", want) {
			t.Fatalf("after %d × down %q is not on the screen:\n%s", i+1, want, body)
		}
	}
}

func TestQuestionIgnoresWhatWasTypedAhead(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	q := NewQuestion("Save?", []string{"+ line"}, []Answer{{keymap.AnswerYes, "save"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, now)
	if press(q, "t"); q.Hints() != "press a key above · enter esc no" {
		t.Errorf("after a letter that is no answer the hint is %q", q.Hints())
	}
	for range 5 { // a hand that types on has not read it
		if got := press(q, "y"); got != (TypedAhead{}) {
			t.Fatalf("y at once = %#v, want it to be handed on", got)
		}
		at = at.Add(GuardTime - time.Millisecond)
	}
	if got := press(q, "enter"); got != (Stay{}) {
		t.Fatalf("enter at once = %#v, want it to be ignored", got)
	}
	if want := "y was too early: press it again"; q.Hints() != want {
		t.Errorf("the hint is %q, want %q", q.Hints(), want)
	}
	at = at.Add(GuardTime)
	if got := press(q, "y"); got != (Chosen{Action: keymap.AnswerYes}) {
		t.Errorf("y after the guard time = %#v", got)
	}
}

func TestQuestionDefaultsToNo(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, key := range []string{"esc", "enter", "n"} {
		q := NewQuestion("Save?", nil, []Answer{{keymap.AnswerYes, "save"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, func() time.Time { at = at.Add(time.Second); return at })
		if got, ok := press(q, key).(Chosen); !ok || got.Action != keymap.AnswerNo {
			t.Errorf("%s = %#v, want no", key, got)
		}
	}
}

// Whatever a question says and however small it is, its answers are on the screen.
func TestTheAnswersOfAQuestionAreVisible(t *testing.T) {
	for n := range 4 {
		for w := 20; w <= 60; w += 10 {
			for h := 1; h < 12; h++ {
				q := NewQuestion("Save?", slices.Repeat([]string{"a line of the question"}, n), []Answer{{keymap.AnswerYes, "save"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, time.Now)
				_, wants := q.Size(w, h)
				body := q.Body(w, wants, style.New(style.Options{}))
				if text := ansi.Strip(strings.Join(body, "\n")); h > 1 && len(body) > h || !strings.Contains(text, "save") || !strings.Contains(text, "no") {
					t.Errorf("%d lines on %d×%d: %d rows\n%s", n, w, h, len(body), text)
				}
				if len(body) > max(wants, min(n, 1)+1) {
					t.Errorf("%d lines on %d×%d: %d rows, asked for %d", n, w, h, len(body), wants)
				}
			}
		}
	}
}

func TestStackGivesTheEarlierOverlayBack(t *testing.T) {
	var s Stack
	s.Push(Help, NewText("help", []string{"a"}))
	s.Push(Models, NewPicker("models", entries(3), 0))
	if got := s.Key("enter", ""); got != (Chosen{Kind: Models, Value: "0", Action: keymap.LineAccept}) {
		t.Errorf("Key = %#v", got)
	}
	if _, kind, ok := s.Top(); !ok || kind != Help {
		t.Errorf("on top is %v, want help", kind)
	}
	s.Key("esc", "")
	if s.Open() {
		t.Error("an overlay is open after esc")
	}
}

func TestEveryOverlayFitsTheScreen(t *testing.T) {
	hostile := "\x1b[31m漢字👨‍👩‍👧‍👦" + strings.Repeat("wide ", 60)
	now := func() time.Time { return time.Time{} }
	all := map[string]Overlay{
		"picker":   NewPicker(hostile, []Entry{{Text: hostile, Extra: hostile, Detail: hostile, Group: hostile}}, 0).WithNotice(hostile).WithLegend(hostile),
		"text":     NewText("title", []string{strings.Repeat("x", 300), "漢字"}).WithHint("hint"),
		"question": NewQuestion("title", []string{strings.Repeat("字", 200)}, []Answer{{keymap.AnswerYes, "yes"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, now),
		"empty":    NewPicker("", nil, 0),
		"line":     NewLine(safetext.Text(hostile), hostile, safetext.Text(hostile)),
	}
	for name, o := range all {
		for w := 40; w <= 200; w += 13 {
			for h := 12; h <= 50; h += 7 {
				var s Stack
				s.Push(Help, o)
				view, x, y := s.View(w, h, plainStyles)
				lines := strings.Split(view, "\n")
				if x < 0 || y < 0 || y+len(lines) > h {
					t.Fatalf("%s at %d×%d: %d lines at %d,%d", name, w, h, len(lines), x, y)
				}
				for _, l := range lines {
					if got := ansi.StringWidth(l); got != ansi.StringWidth(lines[0]) || x+got > w {
						t.Fatalf("%s at %d×%d: a line of %d cells at %d: %q", name, w, h, got, x, l)
					}
				}
			}
		}
	}
}

// What is confirmed is what is shown: a long line is wrapped, and so are the answers.
func TestQuestionShowsAllOfItsLines(t *testing.T) {
	pattern := strings.Repeat("pattern-", 30) + "end"
	item := strings.Repeat("argument-", 20) + "last"
	red := "\x1b[31m"
	q := NewQuestion("Save?", []string{red + "+ " + pattern + "\x1b[m", style.Columns("  "+item, "  b")}, []Answer{
		{keymap.AnswerSave, "save"}, {keymap.AnswerKeep, "keep for next time"}, {keymap.AnswerDiscard, "discard"}, {keymap.AnswerNo, "stay"},
	}, keymap.AnswerNo, time.Now)
	var s Stack
	s.Push(Confirm, q)
	view, _, _ := s.View(40, 30, plainStyles)
	var text strings.Builder
	for _, line := range strings.Split(view, "\n") {
		if n := ansi.StringWidth(line); n > 40 {
			t.Errorf("%q is %d cells wide", line, n)
		}
		text.WriteString(strings.Trim(ansi.Strip(line), "┃│| "))
	}
	for _, want := range []string{pattern, item + "b", "s save", "k keep for next time", "d discard", "n stay"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, view)
		}
	}
	if n := strings.Count(view, red); n < 5 {
		t.Errorf("the colour is on %d lines of the wrapped one", n)
	}
}

// A list of rules is broken after a comma, not within a rule, and nothing of it changes.
func TestALongListOfRulesIsBrokenAfterAComma(t *testing.T) {
	rules := "IGNORE_MODELS_OPENAI=gpt-3.5-turbo*,*-preview*,o3-mini,gpt-4-32k"
	q := NewQuestion("Save?", []string{"\x1b[31m- " + rules + "\x1b[m"}, nil, "n", time.Now)
	for w := len("- IGNORE_MODELS_OPENAI=gpt-3.5-turbo*,"); w < 80; w++ {
		text := ""
		for _, line := range q.Body(w, 30, plainStyles) {
			line = strings.TrimRight(ansi.Strip(line), " ")
			if text += line; ansi.StringWidth(line) > w {
				t.Fatalf("%q is wider than %d", line, w)
			}
			if strings.HasSuffix(line, "-") && line != "-" {
				t.Errorf("a line of %d cells ends within a rule: %q", w, line)
			}
		}
		if !strings.Contains(text, rules) {
			t.Fatalf("at %d cells the rules are shown as %q", w, text)
		}
	}
}

func TestOneKindIsOpenOnce(t *testing.T) {
	var s Stack
	s.Push(Request, NewText("first", nil))
	s.Push(Help, NewText("help", nil))
	s.Push(Request, NewText("second", nil))
	for _, want := range []string{"second", "help"} {
		o, _, ok := s.Top()
		if !ok || o.Title() != want {
			t.Fatalf("the top is %v, want %q", o, want)
		}
		s.Pop()
	}
	if s.Open() {
		t.Error("a third overlay is open")
	}
}

func TestTextScrolls(t *testing.T) {
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("line %02d", i))
	}
	o := NewText("title", lines)
	first := func() string {
		return strings.TrimSpace(o.Body(40, 10, plainStyles)[0])
	}
	first()
	for _, c := range []struct{ key, want, place string }{
		{"down", "line 01", "11/50"},
		{"pgdown", "line 10", "20/50"},
		{"up", "line 09", "19/50"},
		{"end", "line 40", "50/50"},
		{"down", "line 40", "50/50"},
		{"ctrl+u", "line 31", "41/50"},
		{"home", "line 00", "10/50"},
		{"up", "line 00", "10/50"},
	} {
		if out := press(o, c.key); out != (Stay{}) {
			t.Errorf("%s = %#v", c.key, out)
		}
		if got := first(); got != c.want || o.Position() != c.place {
			t.Errorf("after %s: %q at %s, want %q at %s", c.key, got, o.Position(), c.want, c.place)
		}
	}
	o.Scroll(3) // the wheel
	if got := first(); got != "line 03" {
		t.Errorf("after the wheel: %q", got)
	}
	o.SetLines(lines[:2])
	if got := first(); got != "line 00" || o.Position() != "" {
		t.Errorf("of two lines: %q at %q", got, o.Position())
	}
}

func TestTheHintOfATextStaysBelow(t *testing.T) {
	o := NewText("title", []string{"only line"}).WithHint("s shows it all")
	w, h := o.Size(100, 40)
	body := o.Body(w, h, plainStyles)
	if got := ansi.Strip(body[len(body)-1]); got != "s shows it all" || len(body) != 3 {
		t.Errorf("the body is %q", body)
	}
	for _, key := range []string{"esc", "q", "enter"} {
		if got := press(o, key); got != (Closed{}) {
			t.Errorf("%s = %#v", key, got)
		}
	}
}

func TestClicksBesideTheBoxChangeNothing(t *testing.T) {
	var s Stack
	s.Push(Models, NewPicker("title", entries(3), 0))
	const w, h = 80, 24
	view, x, y := s.View(w, h, plainStyles)
	if got := s.Click(x-1, y, w, h); got != (Stay{}) || !s.Open() {
		t.Errorf("a click beside the box = %#v", got)
	}
	for row, line := range strings.Split(ansi.Strip(view), "\n") {
		if strings.Contains(line, "entry 1") {
			if got := s.Click(x+4, y+row, w, h); got != (Chosen{Kind: Models, Value: "1", Action: keymap.LineAccept}) || s.Open() {
				t.Errorf("a click on the second entry = %#v, open %v", got, s.Open())
			}
		}
	}
}

func TestPastedTextSearchesAndIsNoCommand(t *testing.T) {
	var s Stack
	p := NewPicker("title", entries(40), 0)
	s.Push(Models, p)
	s.Key("", "entry 17\n")
	if got := s.Key("enter", ""); got != (Chosen{Kind: Models, Value: "17", Action: keymap.LineAccept}) {
		t.Errorf("after a paste enter = %#v", got)
	}
	s.Push(Confirm, NewQuestion("Save?", nil, []Answer{{keymap.AnswerYes, "save"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, time.Now))
	if got := s.Key("", "y"); got == (Chosen{Kind: Confirm, Action: keymap.AnswerYes}) {
		t.Error("a paste answers a question")
	}
}

func TestTheCursorStandsBehindTheTextOfALine(t *testing.T) {
	var s Stack
	if _, _, ok := s.Cursor(80, 24); ok {
		t.Error("no overlay is open, and there is a cursor")
	}
	s.Push(TopicName, NewLine("Topic", "ab", "hint"))
	view, left, top := s.View(80, 24, plainStyles)
	x, y, ok := s.Cursor(80, 24)
	lines := strings.Split(ansi.Strip(view), "\n")
	if !ok || y-top >= len(lines) {
		t.Fatalf("cursor %v at %d,%d of a box at %d,%d", ok, x, y, left, top)
	}
	if before := ansi.Cut(lines[y-top], 0, x-left); !strings.HasSuffix(before, "ab") {
		t.Errorf("before the cursor stands %q, want the text", before)
	}
	s.Push(Help, NewText("Help", []string{"a line"}))
	if _, _, ok := s.Cursor(80, 24); ok {
		t.Error("a text to read has a cursor")
	}
}

func TestAnOverlayBelowIsFoundByItsKind(t *testing.T) {
	var s Stack
	line := NewLine("Topic", "", "")
	s.Push(TopicName, line)
	s.Push(Help, NewText("Help", []string{"a line"}))
	if o, ok := s.Find(TopicName); !ok || o != Overlay(line) {
		t.Errorf("found %v, %v", o, ok)
	}
	if _, ok := s.Find(Models); ok {
		t.Error("an overlay that is not open is found")
	}
	if got := s.Hints(); got != "↑ ↓ scroll · esc closes" {
		t.Errorf("the hints are %q, want those of the topmost", got)
	}
	if out := s.Key("esc", ""); out != (Closed{}) || s.Hints() != line.Hints() {
		t.Errorf("after esc = %#v the hints are %q, want those of the line below", out, s.Hints())
	}
}

func TestTheWayOutStaysInTheFooter(t *testing.T) {
	const hints = "type to search · ↑ ↓ move · enter selects · esc closes"
	for w, want := range map[int]string{80: hints, 37: "↑ ↓ move · enter selects · esc closes", 30: "enter selects · esc closes", 10: "esc closes", 3: "esc closes"} {
		if got := FitHints(hints, w); got != want {
			t.Errorf("in %d cells the hints are %q, want %q", w, got, want)
		}
	}
}

// Enter gives the marked answer: at first the one that changes nothing, and another only after
// the mark was moved when the question could have been read.
func TestEnterGivesTheMarkedAnswer(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	ask := func() *Text {
		return NewQuestion("Save?", nil, []Answer{{keymap.AnswerYes, "save"}, {keymap.AnswerEdit, "edit"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, func() time.Time { return at })
	}
	for keys, want := range map[string]keymap.Action{
		"enter": keymap.AnswerNo, "left enter": keymap.AnswerEdit, "shift+tab shift+tab enter": keymap.AnswerYes, "right enter": keymap.AnswerYes,
		"tab right right enter": keymap.AnswerNo, "left esc": keymap.AnswerNo, "left n": keymap.AnswerNo,
	} {
		q := ask()
		at = at.Add(GuardTime)
		if got, ok := press(q, strings.Fields(keys)...).(Chosen); !ok || got.Action != want {
			t.Errorf("%s = %#v, want %s", keys, got, want)
		}
	}
	q := ask()
	press(q, "left")
	at = at.Add(GuardTime)
	if got, ok := press(q, "enter").(Chosen); !ok || got.Action != keymap.AnswerNo {
		t.Errorf("a mark moved before the question was read counts: %#v", got)
	}
	q = ask()
	at = at.Add(GuardTime)
	press(q, "right")
	if got, want := q.Hints(), "press a key above · enter save · esc no"; got != want {
		t.Errorf("the hint is %q, want %q", got, want)
	}
	if foot := ansi.Strip(strings.Join(q.Body(60, 9, plainStyles), "\n")); !strings.Contains(foot, plainStyles.Icons.Selected+" y save") || strings.Contains(foot, plainStyles.Icons.Selected+" n no") {
		t.Errorf("the mark is not at save:\n%s", foot)
	}
}

// The hints of a list say what enter does there.
func TestHintsSayWhatEnterDoes(t *testing.T) {
	p := NewPicker("title", entries(3), 0)
	if !strings.Contains(p.Hints(), "enter selects") {
		t.Errorf("hints %q", p.Hints())
	}
	if p.Offer(keymap.List, keymap.To("runs it", keymap.LineAccept)); !strings.Contains(p.Hints(), "enter runs it") {
		t.Errorf("hints %q", p.Hints())
	}
}

// An entry with a number of two digits can be chosen by it; one digit is enough where no
// second can follow.
func TestAPickerWithNumbers(t *testing.T) {
	for keys, want := range map[string]string{"3": "2", "12": "11", "1 enter": "0", "19 4": "3", "0 2": "1", "1 down enter": "1"} {
		var all []Entry
		for i := range 12 {
			all = append(all, Entry{Value: strconv.Itoa(i), Text: "entry"})
		}
		p := NewPicker("title", all, 0).WithNumbers()
		var pressed []string
		for field := range strings.FieldsSeq(keys) {
			if _, err := strconv.Atoi(field); err == nil {
				pressed = append(pressed, strings.Split(field, "")...)
			} else {
				pressed = append(pressed, field)
			}
		}
		if got, _ := press(p, pressed...).(Chosen); got.Value != want {
			t.Errorf("%q chooses %q, want %q", keys, got.Value, want)
		}
	}
}
