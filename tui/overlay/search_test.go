package overlay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
	"winnow/tui/style"
)

// many are entries as a large proxy lists them.
func many(n int) []Entry {
	out := make([]Entry, n)
	for i := range out {
		id := fmt.Sprintf("Model-%d-preview-%05d", i%97, i)
		out[i] = Entry{Value: id, Text: id, Group: fmt.Sprintf("provider %d", i/1000)}
	}
	return out
}

func TestALongPickerSearchesOffTheUpdateLoop(t *testing.T) {
	var s Stack
	p := NewPicker("models", many(10_000), 0)
	s.Push(Models, p)
	first, ok := s.Key("7", "7").(Work)
	second, ok2 := s.Key("0", "0").(Work)
	if !ok || !ok2 {
		t.Fatal("a key searches at once")
	}
	showOld := first.Run()
	second.Run()()
	if n := len(p.matches.found); n == 0 || n == len(p.entries) || p.pending {
		t.Errorf("the search found %d of %d, pending %v", n, len(p.entries), p.pending)
	}
	want := len(p.matches.found)
	showOld()
	if len(p.matches.found) != want {
		t.Error("a late answer to an earlier query is shown")
	}
}

func TestEnterFinishesAPendingSearch(t *testing.T) {
	p := NewPicker("models", many(10_000), 0)
	press(p, "0", "9", "9", "9", "8")
	if got := press(p, "enter").(Chosen).Value; !strings.HasSuffix(got, "09998") {
		t.Errorf("enter chose %s, which the query does not find", got)
	}
}

// A frame and a key cost the same with ten thousand entries as with a hundred.
func TestALongPickerDrawsWhatIsSeen(t *testing.T) {
	cost := func(n int) float64 {
		p := NewPicker("models", many(n), 0)
		press(p, "7")
		p.searchNow()
		return testing.AllocsPerRun(20, func() {
			press(p, "down")
			p.Body(60, 20, plainStyles)
		})
	}
	if few, lots := cost(100), cost(10_000); lots > few*1.2 {
		t.Errorf("a frame of 10,000 entries makes %v allocations, one of 100 makes %v", lots, few)
	}
}

func TestHeadingsAndSecondLinesCanBeClicked(t *testing.T) {
	p := NewPicker("title", []Entry{{Value: "a", Text: "a", Group: "g", Detail: "more"}, {Value: "b", Text: "b", Group: "h"}}, 0)
	body := p.Body(50, 12, plainStyles)
	for i, want := range []struct{ line, value string }{{"g", ""}, {"a", "a"}, {"more", "a"}, {"h", ""}, {"b", "b"}} {
		if !strings.Contains(ansi.Strip(body[pickerHeadLines+i]), want.line) {
			t.Fatalf("line %d is %q, want %s", i, body[pickerHeadLines+i], want.line)
		}
		got, _ := p.Click(pickerHeadLines + i).(Chosen)
		if got.Value != want.value {
			t.Errorf("a click on %s chooses %q, want %q", want.line, got.Value, want.value)
		}
	}
}

// Two ids that differ by a hidden character look different.
func TestEntriesShowHiddenCharacters(t *testing.T) {
	p := NewPicker("models", []Entry{{Value: "x", Text: "gpt-4\u200bo", Extra: "e\u202e", Detail: "m\u2066", Group: "g\u3164"}}, 0)
	body := ansi.Strip(strings.Join(p.Body(80, 10, plainStyles), "\n"))
	for _, want := range []string{"gpt-4‹U+200B›o", "e‹U+202E›", "m‹U+2066›", "g‹U+3164›"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not shown:\n%s", want, body)
		}
	}
}

// A hand that holds a key down, or types steadily, answers no question.
func TestSteadyKeysAnswerNoQuestion(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	q := NewQuestion("Save?", nil, []Answer{{keymap.AnswerYes, "save"}, {keymap.AnswerNo, "no"}}, keymap.AnswerNo, func() time.Time { return at })
	for range 20 {
		at = at.Add(320 * time.Millisecond)
		if got := press(q, "y"); got != (TypedAhead{}) {
			t.Fatalf("a y among others = %#v", got)
		}
	}
	at = at.Add(320 * time.Millisecond)
	if got := press(q, "enter"); got != (Stay{}) {
		t.Errorf("an enter among others = %#v", got)
	}
	if at = at.Add(GuardTime); press(q, "y") != (Chosen{Action: keymap.AnswerYes}) {
		t.Error("y after the guard time does not answer")
	}
}

// Every word of a query must match; texts that have it in one piece come first.
func TestSearchFindsWordsInAnyOrder(t *testing.T) {
	var all []Entry
	for _, name := range []string{"gpt-5.1-codex", "gemini-2.0-flash", "gpt-4o-mini", "mini-gpt", "claude-opus"} {
		all = append(all, Entry{Value: name, Text: name, Group: "openai"})
	}
	for query, want := range map[string]string{
		"": "gpt-5.1-codex gemini-2.0-flash gpt-4o-mini mini-gpt claude-opus", "mini": "mini-gpt gpt-4o-mini gemini-2.0-flash",
		"mini gpt": "mini-gpt gpt-4o-mini", "gpt mini": "mini-gpt gpt-4o-mini", "g4o": "gpt-4o-mini", "openai opus": "claude-opus", "xyz": "",
	} {
		var got []string
		for _, i := range search(all, 0, query).found {
			got = append(got, all[i].Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

// Letters that are scattered over a sentence are no match, and words that are not shown find
// their entry first.
func TestSearchMeansWhatItFinds(t *testing.T) {
	all := []Entry{
		{Text: "Undo the last rollback"},
		{Text: "Export the shown messages to a file"},
		{Text: "Open or close the focused block"},
		{Text: "Tokens and price of this session", Also: "cost"},
		{Text: "Quit winnow", Also: "quit exit"},
	}
	for query, want := range map[string]string{
		"dark": "", "exit": "Quit winnow", "EXI": "Quit winnow", "xit": "", "undo": "Undo the last rollback",
		"cost": "Tokens and price of this session; Open or close the focused block", "session cost": "Tokens and price of this session",
	} {
		var got []string
		for _, i := range search(all, 0, query).found {
			got = append(got, all[i].Text)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

// A picker with a start shows that before one types, and searches the rest.
func TestAPickerWithAStart(t *testing.T) {
	p := NewPicker("commands", []Entry{{Value: "b", Text: "beta", Group: "Recent"}, {Value: "a", Text: "alpha"}, {Value: "b", Text: "beta"}}, 0).WithStart(1)
	body := ansi.Strip(strings.Join(p.Body(50, 12, plainStyles), "\n"))
	if !strings.Contains(body, "Recent") || strings.Contains(body, "alpha") {
		t.Errorf("before one types:\n%s", body)
	}
	press(p, "a")
	body = ansi.Strip(strings.Join(p.Body(50, 12, plainStyles), "\n"))
	if strings.Count(body, "beta") != 1 || !strings.Contains(body, "alpha") {
		t.Errorf("after a letter:\n%s", body)
	}
	if got, _ := press(p, "enter").(Chosen); got.Value != "a" {
		t.Errorf("enter chooses %q", got.Value)
	}
}

// The characters that match are underlined.
func TestTheMatchIsMarked(t *testing.T) {
	for _, c := range []struct{ text, query, want string }{
		{"gpt-4o-mini", "mini", "7 8 9 10"}, {"gpt-4o-mini", "g4", "0 4"}, {"gpt-4o-mini", "", ""}, {"模型-mini", "mini", ""},
	} {
		at := marked(c.text, c.query)
		var got []string
		for i := range len(c.text) {
			if at[i] {
				got = append(got, fmt.Sprint(i))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q in %q marks %q, want %q", c.query, c.text, got, c.want)
		}
	}
	p := NewPicker("models", []Entry{{Value: "x", Text: "gpt-4o-mini"}, {Value: "y", Text: "gpt-4o"}}, 0)
	press(p, "m", "i")
	if line := p.Body(50, 12, style.New(style.Options{Dark: true}))[pickerHeadLines]; !strings.Contains(ansi.Strip(line), "gpt-4o-mini") || !strings.Contains(line, "\x1b[4;1mmi\x1b[m") {
		t.Errorf("nothing is underlined: %q", line)
	}
}

// Models of several endpoints have the same names, and a search has no headings.
func TestASearchForModelsNamesTheirEndpoints(t *testing.T) {
	entries, _ := ModelList{Models: live("local-2/gpt-5.2", "local-2/gpt-5.2-mini", "local-3/gpt-5.2", "local/gpt-5.2", "proxy/openai/gpt-5.2")}.Entries("")
	for query, want := range map[string][]string{
		"local-2":      {"local-2/gpt-5.2", "local-2/gpt-5.2-mini"},
		"gpt-5.2":      {"local-2/gpt-5.2", "local-2/gpt-5.2-mini", "local-3/gpt-5.2", "local/gpt-5.2", "proxy/openai/gpt-5.2"},
		"proxy/openai": {"proxy/openai/gpt-5.2"},
		"lcl-3":        {"local-3/gpt-5.2"},
	} {
		p := NewPicker("Model", slices.Clone(entries), 0)
		press(p, strings.Split(query, "")...)
		var got []string
		for _, line := range p.Body(60, 20, plainStyles)[2:] {
			if fields := strings.Fields(strings.TrimPrefix(ansi.Strip(line), plainStyles.Icons.Selected)); len(fields) > 0 {
				got = append(got, fields[0])
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q shows %q, want %q", query, got, want)
		}
	}
}

// A group never starts at the foot of a column with a single line.
func TestAGroupDoesNotStartAtTheFootOfAColumn(t *testing.T) {
	for rows := 6; rows < 16; rows++ {
		var all []Entry
		for i := range 9 {
			all = append(all, Entry{Value: fmt.Sprint("a", i), Text: fmt.Sprint("a", i), Group: "first"})
		}
		for i := range 9 {
			all = append(all, Entry{Value: fmt.Sprint("b", i), Text: fmt.Sprint("b", i), Group: "second"})
		}
		for i, s := range NewPicker("title", all, 0).WithColumns(20).spots(20, rows) {
			if s.kind == headingLine && s.row > rows-3 {
				t.Errorf("%d rows: line %d, the heading %q, is in row %d", rows, i, s.text, s.row)
			}
		}
	}
}
