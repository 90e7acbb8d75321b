package pane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// textRow is a row of the tests; one that begins with # is a heading.
type textRow string

func (r textRow) Selectable() bool { return !strings.HasPrefix(string(r), "#") }

// newTabs makes two tabs: a list with headings, and one without anything to select.
func newTabs() *Tabs[textRow] {
	rows := []textRow{"#first", "a", "b", "#second", "c"}
	for i := range 20 {
		rows = append(rows, textRow(fmt.Sprint("row ", i)))
	}
	return &Tabs[textRow]{Lists: []List[textRow]{{Rows: rows}, {Rows: []textRow{"#nothing"}}}}
}

func (t *Tabs[R]) frame(h int) []string {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	return t.Draw(Frame{Styles: &st, Titles: []string{"One", "Two"}}, 20, h, DrawFuncs[R]{
		Row: func(r R, current bool, w int) string {
			sign := " "
			if current {
				sign = ">"
			}
			return style.Fit(sign+fmt.Sprint(r), w, "")
		},
		Foot: func(w, _ int) []string { return []string{style.Fit("foot", w, "")} },
	})
}

func TestTheCursorPassesOverHeadings(t *testing.T) {
	tabs := newTabs()
	for _, step := range []struct {
		action keymap.Action
		want   string
	}{
		{"pane-first", "a"},
		{"pane-down", "b"},
		{"pane-down", "c"},
		{"pane-up", "b"},
		{"pane-up", "a"},
		{"pane-up", "a"},
		{"pane-last", "row 19"},
		{"pane-down", "row 19"},
		{"pane-first", "a"},
	} {
		if !tabs.Move(step.action) {
			t.Fatalf("%s moves nothing", step.action)
		}
		tabs.frame(8)
		if r, _ := tabs.List().Current(); string(r) != step.want {
			t.Errorf("after %s the cursor is on %q, want %q", step.action, r, step.want)
		}
	}
	if tabs.Move("add-ignore") {
		t.Error("another action moves the cursor")
	}
	tabs.Move("next-tab")
	if r, ok := tabs.List().Current(); ok || tabs.Open != 1 {
		t.Errorf("a list without anything to select has %q under the cursor", r)
	}
	if tabs.Move("next-tab"); tabs.Open != 0 {
		t.Errorf("after the last tab comes tab %d", tabs.Open)
	}
}

func TestTheCursorIsAlwaysVisible(t *testing.T) {
	for h := 4; h < 12; h++ {
		tabs := newTabs()
		for i := range 60 {
			tabs.Move([]keymap.Action{"pane-down", "pane-page-down", "pane-page-up"}[min(i/40+i%2*(i/20), 2)])
			lines := tabs.frame(h)
			if len(lines) != h || !strings.Contains(strings.Join(lines, "\n"), ">") {
				t.Fatalf("%d lines, step %d: the cursor is not visible:\n%s", h, i, strings.Join(lines, "\n"))
			}
		}
		tabs.Move("pane-first")
		if lines := tabs.frame(h); h > 4 && !strings.Contains(lines[headLines], "#first") {
			t.Errorf("%d lines: the heading above the first row is not visible:\n%s", h, strings.Join(lines, "\n"))
		}
	}
}

func TestClicks(t *testing.T) {
	tabs := newTabs()
	tabs.Move("pane-first")
	tabs.frame(8)
	for _, c := range []struct {
		x, y  int
		again bool
		want  string
	}{{3, 4, false, "b"}, {3, 4, true, "b"}, {3, 1, false, "b"}, {3, 2, false, "b"}, {3, 8, false, "b"}, {3, 99, false, "b"}, {3, -1, false, "b"}} {
		again := tabs.Click(c.x, c.y)
		if r, _ := tabs.List().Current(); again != c.again || string(r) != c.want {
			t.Errorf("a click at %d,%d: on %q, again %v; want %q, %v", c.x, c.y, r, again, c.want, c.again)
		}
	}
	if tabs.Click(9, 0); tabs.Open != 1 {
		t.Errorf("a click on the second title opens tab %d", tabs.Open)
	}
}

func TestNotesGiveWayByRank(t *testing.T) {
	ink := style.Style{}
	notes := []Note{
		{Rank: 9, Text: "line"}, {Rank: 5, Text: "name: one two three four five six", Short: "short", Style: ink, MaxLines: 9}, {Rank: 0, Text: "bar"}, {Rank: 10, Text: "source"},
	}
	for n, want := range []string{
		"", "bar", " short|bar", "line| short|bar", "line| short|bar|source", "line| name: one two| three four…|bar|source",
		"line| name: one two| three four| five six|bar|source", "line| name: one two| three four| five six|bar|source",
	} {
		lines := LayoutNotes(notes, 14, n, "…")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("in %d lines: %q, want %q", n, got, want)
		}
	}
}

func TestKeysAreLeftOutWhenNothingIsBound(t *testing.T) {
	keys := Keys(func(action keymap.Action) string { return map[keymap.Action]string{"save": "F5"}[action] })
	if got := Join("a", keys.Hint("save", "saves"), keys.Hint("quit", "quits"), "b"); got != "a · F5 saves · b" {
		t.Errorf("joined %q", got)
	}
	if got := keys.Hints(keymap.To("saves", keymap.Save), keymap.To("quits", keymap.Quit)); !slices.Equal(got, []Hint{{"F5", "saves"}}) {
		t.Errorf("hints %v", got)
	}
	for want, got := range map[string]Notify{"a · F5 saves": keys.Notify("a", "save", "saves"), "F5 saves": keys.Notify("", "save", "saves"), "a": keys.Notify("a", "quit", "quits")} {
		if string(got.Text) != want {
			t.Errorf("notice %q, want %q", got.Text, want)
		}
	}
	if got := Keys(nil).Hint("save", "saves"); got != "" {
		t.Errorf("without keys: %q", got)
	}
}

func TestSaveSheet(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	hidden := make([]string, 104)
	for i := range hidden {
		hidden[i] = fmt.Sprint("m", i)
	}
	var lines []string
	for _, l := range SavePlanLines(assistant.SavePlan{
		Files: []assistant.FileDiff{{Path: "/x/.env\u202e", Creates: true, Lines: []assistant.FileLine{{Kind: "+", Text: "IGNORE_MODELS_P=a"}}}},
		Effects: []assistant.Effect{
			{Kind: assistant.EffectRemoves, Sentence: "p: 104 models become hidden", Items: hidden, Marked: 1},
			{Sentence: "q: no model changes"},
			{Kind: assistant.EffectAdds, Sentence: "s: 2 models become shown", Items: []string{"a", "b"}},
			{Kind: assistant.EffectAsks, Sentence: "restart the proxy"},
		},
	}, "", &st) {
		if rows, ok := style.LayColumns(l, 40); ok {
			lines = append(lines, rows...)
		} else {
			lines = append(lines, l)
		}
	}
	text := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{
		"/x/.env‹U+202E› (new file)\n", "+ IGNORE_MODELS_P=a\n", "p: 104 models become hidden\n" + st.Icons.Warn + " m0            m1            m2\n", "  and 4 more\n",
		"q: no model changes\n", "s: 2 models become shown\n  a    b\n", st.Icons.Warn + " restart the proxy",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet lacks %q:\n%s", want, text)
		}
	}
	if got := SavePlanLines(assistant.SavePlan{}, "", &st); len(got) != 1 || !strings.Contains(got[0], "nothing would change") {
		t.Errorf("an empty plan: %q", got)
	}
}

// What a user confirms is drawn as the plan shows it.
func TestTheLinesOfAPlanHideNothing(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	at.CheckConfirmation(t, func(name string) string {
		shown := safetext.Visible(name)
		return strings.Join(DiffLines([]safetext.Text{"+ " + shown, assistant.ItemIndent + shown, assistant.MarkedIndent + shown, shown}, &st), "\n")
	})
}

func TestConflictShowsBothSides(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	c := &assistant.Conflict{Path: "/x/.env", Theirs: []assistant.Change{
		{Title: "IGNORE_MODELS_P", After: "c\u200b"}, {Title: "IGNORE_MODELS_P", Before: "a"}, {Title: "API_KEY", Before: "••••", After: "••••"},
	}}
	mine := []assistant.Change{{Title: "p allow", After: "d"}, {Title: "p ignore", Before: "b"}, {Title: "brightness", Before: "40 %", After: "80 %"}}
	want := "theirs:\n+ IGNORE_MODELS_P c‹U+200B›\n- IGNORE_MODELS_P a\nAPI_KEY changed\n\nyours:\n+ p allow d\n- p ignore b\nbrightness: 40 % → 80 %"
	if got := strings.Join(ConflictLines(c, mine, "", &st.Icons), "\n"); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	if got := ConflictTitle(c); got != ".env was changed by another program" {
		t.Errorf("title %q", got)
	}
	gone := &assistant.Conflict{Path: "/x/.env", Missing: true}
	if got := ConflictLines(gone, nil, "", &st.Icons)[0]; got != "theirs: the file is gone" {
		t.Errorf("a file that is gone: %q", got)
	}
}
