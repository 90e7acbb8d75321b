package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// commander is a store with a session that looks at it.
type commander struct {
	t  *testing.T
	s  history.Store
	in *assistant.Session
}

func newCommander(t *testing.T, pairs ...*assistant.Pair) *commander {
	t.Helper()
	s := newStore(t)
	put(t, s, pairs...)
	in, err := assistant.NewSession(&llm.Registry{}, assistant.Options{ID: "x", Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return &commander{t, s, in}
}

func (o *commander) ready(line string) Command {
	o.t.Helper()
	q, err := filter.Parse(line)
	if err != nil {
		o.t.Fatal(err)
	}
	command, err := Prepare(o.t.Context(), o.s, q, history.Env{Env: filter.Env{Now: day, Session: "x"}})
	if err != nil {
		o.t.Fatalf("Prepare(%q): %v", line, err)
	}
	return command
}

func (o *commander) do(line string) (Outcome, error) {
	o.t.Helper()
	return Execute(o.t.Context(), o.s, o.ready(line), o.in)
}

func (o *commander) must(line string) Outcome {
	o.t.Helper()
	out, err := o.do(line)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	return out
}

// marked are the marks of all messages, in words.
func (o *commander) marked() string {
	o.t.Helper()
	refs, err := o.s.Refs(o.t.Context(), "", 3.5)
	if err != nil {
		o.t.Fatal(err)
	}
	var out []string
	for _, r := range refs {
		p, err := o.s.Load(o.t.Context(), []int64{r.Seq})
		if err != nil {
			o.t.Fatal(err)
		}
		mark := strings.Repeat("*", p[0].Star) + p[0].Topic
		if p[0].Flag {
			mark += "!"
		}
		out = append(out, mark)
	}
	return strings.Join(out, " ")
}

func starred(text string, stars int) *assistant.Pair {
	p := pair("x", text, "answer")
	p.Star = stars
	return p
}

func TestCommandSaysWhatItDoesInTheRightNumberAndTense(t *testing.T) {
	o := newCommander(t, starred("one", 0), starred("two", 1))
	for _, c := range [...][2]string{ // in this order
		{":filters", "there are no saved filters; add :save NAME to a line to save it"},
		{"s1 :flag --dry-run", "would flag 1 message"},
		{":unflag --dry-run", "would unflag 2 messages"},
		{":unflag", "2 messages unflagged"},
		{"s1 :flag", "1 message flagged"},
		{"c'one' :star 1 --dry-run", "would give 1 message 1 star"},
		{":star 2", "2 messages now have 2 stars"},
		{"c'one' :star 0", "1 message now has no stars"},
		{":topic Work > New --dry-run", "would move 2 messages to Work > New"},
		{"c'one' :topic Work --no-confirm", "1 message moved to Work"},
		{"c'two' :topic", "1 message now has no topic"},
		{"r1 :delete --base --dry-run", "r1 counts from the newest message, so it would select other messages after the deletion"},
		{"o :delete --base --dry-run", "would delete 2 messages"},
		{"c'two' :delete --dry-run", "would delete 1 message"},
		{":export md a.md --dry-run", "would export 2 messages to a.md"},
		{":export --dry-run", "would export 2 messages to winnow-messages-20260304-050607.json"},
		{"x :save this", "saved as @this"},
		{":forget this", "@this is forgotten"},
	} {
		line, want := c[0], c[1]
		out, err := o.do(line)
		if err != nil {
			out.Text = safetext.Clean(err.Error())
		}
		if string(out.Text) != want {
			t.Errorf("%s: %q, want %q", line, out.Text, want)
		}
	}
}

func TestQuestionSaysWhatToAsk(t *testing.T) {
	pairs := make([]*assistant.Pair, ManyPairs+1)
	for i := range pairs {
		pairs[i] = starred("pair", 0)
	}
	pairs[0].Star = 3
	o := newCommander(t, pairs...)
	for line, want := range map[string]string{
		"s3 :delete":                 "Delete 1 message for good? All its answers are deleted too.",
		"s3 :delete --dry-run":       "",
		":flag":                      "Flag 51 messages?",
		":flag --no-confirm":         "",
		":flag --dry-run":            "",
		"s3 :flag":                   "",
		"s3 :topic New":              "There is no topic New. Create it? Move 1 message to New.",
		"s3 :topic New --no-confirm": "",
		"s3 :export":                 "",
	} {
		title, lines := o.ready(line).Question()
		if got := strings.Join(append([]string{string(title)}, lines...), " "); strings.TrimSpace(got) != want {
			t.Errorf("%s: Question = %q, want %q", line, got, want)
		}
	}
	if err := o.s.CreateTopic(t.Context(), "New"); err != nil {
		t.Fatal(err)
	}
	if title, _ := o.ready("s3 :topic New").Question(); title != "" {
		t.Errorf("a topic that is there: %q", title)
	}
	c := o.ready("s3 :delete")
	c.Texts, c.Elsewhere = []string{"evil\x1b[2J\nname"}, 1
	if _, lines := c.Question(); strings.Join(lines, "|") != "“evil name”|All its answers are deleted too.|The message is not in this session." {
		t.Errorf("the lines are %q", lines)
	}
	c.Seqs, c.Texts, c.Elsewhere = make([]int64, 9), []string{"a", "b", "c"}, 2
	if _, lines := c.Question(); strings.Join(lines, "|") != "“a”|“b”|“c”|and 6 more|All their answers are deleted too.|2 of them are in other sessions." {
		t.Errorf("the lines are %q", lines)
	}
}

func TestCommandIsRefusedBeforeAnythingHappens(t *testing.T) {
	pairs := make([]*assistant.Pair, ManyPairs+1)
	for i := range pairs {
		pairs[i] = starred("pair", 0)
	}
	o := newCommander(t, pairs...)
	o.must("r5 :save five")
	for line, want := range map[string]string{
		":delete":        "51 messages match: deleting more than 50 requires --force",
		"r5 :delete":     "r5 counts from the newest message",
		"@five :delete":  "r5 counts from the newest message", // what it stands for is looked at
		"s3 :flag":       "no message matches: there is nothing to flag",
		"s3 :star 2":     "no message matches: there is nothing to rate",
		"s3 :export":     "no message matches: there is nothing to export",
		":save all":      "nothing to save",
		":forget nobody": "no saved filter @nobody",
	} {
		out, err := o.do(line)
		if err == nil || !strings.Contains(err.Error(), want) || out.CanUndo() {
			t.Errorf("%s: %+v, %v; want an error with %q", line, out, err, want)
		}
	}
	if refs, _ := o.s.Refs(t.Context(), "", 3.5); len(refs) != len(pairs) {
		t.Errorf("%d pairs are left of %d", len(refs), len(pairs))
	}
}

func TestMarksOfACommandAreUndoneExactly(t *testing.T) {
	a, b, c := starred("a", 0), starred("b", 2), starred("c", 3)
	a.Topic, b.Flag = "Work > Old", false
	o := newCommander(t, a, b, c)
	before := o.marked()
	for _, line := range []string{":star 1", ":flag", ":unflag", ":topic New --no-confirm", "s2 :star 0"} {
		out := o.must(line)
		if o.marked() == before {
			t.Fatalf("%s changed nothing", line)
		}
		o.undo(out)
		if got := o.marked(); got != before {
			t.Errorf("after %s and its undo the marks are %q, want %q", line, got, before)
		}
	}
}

// undo undoes what a command has done.
func (o *commander) undo(out Outcome) {
	o.t.Helper()
	if !out.CanUndo() {
		o.t.Errorf("%q cannot be undone", out.Text)
	}
	if err := Undo(o.t.Context(), o.s, out); err != nil {
		o.t.Fatal(err)
	}
}

func TestUndoOfANewTopicLeavesNone(t *testing.T) {
	a := starred("one", 1)
	a.Topic = "Work"
	o := newCommander(t, a, starred("two", 2))
	topics := func(want ...string) {
		t.Helper()
		var got []string
		tree, err := o.s.Topics(t.Context())
		for _, p := range tree {
			got = append(got, p.Path)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("topics are %q, %v; want %q", got, err, want)
		}
	}
	o.undo(o.must(":topic 'Work > New > Deep' --no-confirm"))
	topics("Work")
	out := o.must("s2 :topic 'Else > Where' --no-confirm")
	later := starred("three", 3)
	later.Topic = "Else"
	if err := o.s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{later}}); err != nil {
		t.Fatal(err)
	}
	o.undo(out)
	topics("Else", "Work") // somebody is in it by now
	out = o.must("s2 :topic Gone --no-confirm")
	if err := o.s.DeleteTopic(t.Context(), "Gone"); err != nil {
		t.Fatal(err)
	}
	o.undo(out)
	topics("Else", "Work")
}

func TestSavedFiltersAreUndone(t *testing.T) {
	o := newCommander(t, starred("one", 0))
	saved := func(want string) {
		t.Helper()
		lines, err := o.s.SavedFilters(t.Context())
		if err != nil || lines["a"] != want {
			t.Errorf("@a is %q, %v; want %q", lines["a"], err, want)
		}
	}
	first := o.must("s0 :save a")
	second := o.must("s<2 :save a")
	if second.Text != "saved as @a; the previous line was s0" {
		t.Errorf("said %q", second.Text)
	}
	if first.Undone() != "@a removed" || second.Undone() != "@a restored" {
		t.Errorf("undoing says %q and %q", first.Undone(), second.Undone())
	}
	o.undo(second)
	saved("s0")
	forgotten := o.must(":forget a")
	saved("")
	o.undo(forgotten)
	saved("s0")
	o.undo(first)
	saved("")
}

func TestSavedFilterIsNeverACycle(t *testing.T) {
	o := newCommander(t, starred("one", 0))
	o.must("s0 :save aa")
	o.must("@aa :save bb")
	o.must("@bb s0 :save cc")
	for line, want := range map[string]string{
		"@aa :save aa": "@aa → @aa",
		"@bb :save aa": "@bb → @aa → @bb",
		"@cc :save aa": "@cc → @bb → @aa → @cc",
	} {
		var at *filter.Error
		if _, err := o.do(line); !errors.As(err, &at) || !strings.Contains(at.Found, want) {
			t.Errorf("%s: %v, want a cycle %s", line, err, want)
		}
	}
	saved, err := o.s.SavedFilters(t.Context())
	if err != nil || saved["aa"] != "s0" {
		t.Errorf("saved are %v, %v", saved, err)
	}
	if err := o.s.SaveFilter(t.Context(), "no", "s0 :flag"); err == nil {
		t.Error("a line with a command was saved")
	}
}

func TestForgottenFilterLeavesTheViewThatItMade(t *testing.T) {
	o := newCommander(t, starred("one", 0), starred("two", 2))
	o.must("s2 :save two")
	o.must("@two !e :save good")
	q, _ := filter.Parse("@good | s3")
	r, err := o.s.Filter(t.Context(), q, history.Env{})
	if err != nil {
		t.Fatal(err)
	}
	o.in.SetView(r.Refs, "@good | s3")
	if out := o.must(":forget two"); out.Text != "@two is forgotten; the view is unchanged" {
		t.Errorf("said %q", out.Text)
	}
	if got, want := o.in.Filter(), "s2 & !e | s3"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("the line is %q, want %q", got, want)
	}
	again, err := filter.Parse(o.in.Filter())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := o.s.Filter(t.Context(), again, history.Env{}); err != nil || len(r.Refs) != 1 {
		t.Errorf("the line leaves %v, %v", r.Refs, err)
	}
	if out := o.must(":forget good"); out.Text != "@good is forgotten" {
		t.Errorf("a name that the line no longer holds: %q", out.Text)
	}
}

func TestCommandListsFiltersByName(t *testing.T) {
	o := newCommander(t)
	o.must("s2 :save b")
	o.must("s1 :save a")
	if out := o.must(":filters"); !slices.Equal(out.Filters, []SavedFilter{{"a", "s1"}, {"b", "s2"}}) {
		t.Errorf("filters %v", out.Filters)
	}
}

func TestCommandExportsWhatTheLineSelects(t *testing.T) {
	o := newCommander(t, starred("one", 0), starred("two", 2))
	path := filepath.Join(t.TempDir(), "two.md")
	if out := o.must("s2 :export '" + path + "'"); string(out.Text) != "1 message exported to "+path {
		t.Errorf("said %q", out.Text)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "two") || strings.Contains(string(text), "one") {
		t.Errorf("the file says %q, %v", text, err)
	}
	if out, err := o.do("s2 :export '" + path + "'"); !errors.Is(err, fs.ErrExist) || out.Text != "" {
		t.Errorf("over a file: %+v, %v; want nothing done and an fs.ErrExist", out, err)
	}
}

func TestExportNamesWhatWasAsked(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	o := newCommander(t, starred("one", 0))
	o.must(":export md ~/all.md")
	if _, err := os.Stat(filepath.Join(home, "all.md")); err != nil {
		t.Error(err)
	}
	for line, want := range map[string]string{
		":export json ~/no/folder.json":    filepath.Join(home, "no", "folder.json"),
		":export json '" + home + "'":      home + " is a folder",
		":export ~/all.md/x.json --force":  filepath.Join(home, "all.md", "x.json"),
		":export md ~/all.md":              "file exists",
		":export json ~nobody/x --dry-run": "",
	} {
		out, err := o.do(line)
		if want == "" {
			if err != nil || !strings.HasSuffix(string(out.Text), " ~nobody/x") {
				t.Errorf("%s: %q, %v", line, out.Text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "winnow-export") {
			t.Errorf("%s: %v, want one that speaks of %s", line, err, want)
		}
	}
}

func TestCommandDeletes(t *testing.T) {
	o := newCommander(t, starred("one", 0), starred("two", 2))
	if out := o.must("s2 :delete"); out.Text != "1 message deleted" || out.CanUndo() {
		t.Errorf("outcome %+v", out)
	}
	if refs, _ := o.s.Refs(context.Background(), "", 3.5); len(refs) != 1 {
		t.Errorf("%d pairs are left", len(refs))
	}
}

// The question of a command tells topics apart that look alike.
func TestAQuestionHidesNothing(t *testing.T) {
	at.CheckConfirmation(t, func(name string) string {
		title, _ := Command{Command: filter.Command{Verb: filter.SetTopic, Topic: name}, Seqs: []int64{1}, newTopic: true}.Question()
		return string(title)
	})
}
