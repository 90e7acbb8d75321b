package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// orders is a store with a session that looks at it.
type orders struct {
	t  *testing.T
	s  *Store
	in *assistant.Session
}

func newOrders(t *testing.T, pairs ...*assistant.Pair) *orders {
	t.Helper()
	s := newStore(t)
	put(t, s, pairs...)
	in, err := assistant.NewSession(&assistant.Registry{}, assistant.Options{ID: "x", Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return &orders{t, s, in}
}

func (o *orders) ready(line string) Order {
	o.t.Helper()
	q, err := filter.Parse(line)
	if err != nil {
		o.t.Fatal(err)
	}
	order, err := o.s.Order(o.t.Context(), q, Env{Env: filter.Env{Now: day, Session: "x"}})
	if err != nil {
		o.t.Fatalf("Order(%q): %v", line, err)
	}
	return order
}

func (o *orders) do(line string) (Outcome, error) {
	o.t.Helper()
	return o.s.CarryOut(o.t.Context(), o.ready(line), o.in)
}

func (o *orders) must(line string) Outcome {
	o.t.Helper()
	out, err := o.do(line)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	return out
}

// marked are the marks of all pairs, in words.
func (o *orders) marked() string {
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

func TestOrderSaysWhatItDoesInTheRightNumberAndTense(t *testing.T) {
	o := newOrders(t, starred("one", 0), starred("two", 1))
	for _, c := range [...][2]string{ // in this order
		{":filters", "no filter is saved; a line with :save NAME saves it"},
		{"s1 :flag --dry-run", "would flag 1 pair"},
		{":unflag --dry-run", "would unflag 2 pairs"},
		{":unflag", "2 pairs unflagged"},
		{"s1 :flag", "1 pair flagged"},
		{"c'one' :star 1 --dry-run", "would give 1 pair 1 star"},
		{":star 2", "2 pairs now have 2 stars"},
		{"c'one' :star 0", "1 pair now has no stars"},
		{":topic Work > New --dry-run", "would move 2 pairs to Work > New"},
		{"c'one' :topic Work --no-confirm", "1 pair moved to Work"},
		{"c'two' :topic", "1 pair moved to no topic"},
		{"r1 :delete --base --dry-run", "r1 counts from the newest pair, so it selects others after deleting"},
		{"o :delete --base --dry-run", "would delete 2 pairs"},
		{"c'two' :delete --dry-run", "would delete 1 pair"},
		{":export md a.md --dry-run", "would export 2 pairs to a.md"},
		{":export --dry-run", "would export 2 pairs to winnow-all-20260304-050607.json"},
		{"x :save this", "saved as @this"},
		{":forget this", "@this is forgotten"},
	} {
		line, want := c[0], c[1]
		out, err := o.do(line)
		if err != nil {
			out.Said = err.Error()
		}
		if out.Said != want {
			t.Errorf("%s: %q, want %q", line, out.Said, want)
		}
	}
}

func TestOrderAsks(t *testing.T) {
	pairs := make([]*assistant.Pair, ManyPairs+1)
	for i := range pairs {
		pairs[i] = starred("pair", 0)
	}
	pairs[0].Star = 3
	o := newOrders(t, pairs...)
	for line, want := range map[string]string{
		"s3 :delete":                 "Delete 1 pair for good?",
		"s3 :delete --dry-run":       "",
		":flag":                      "Flag 51 pairs?",
		":flag --no-confirm":         "",
		":flag --dry-run":            "",
		"s3 :flag":                   "",
		"s3 :topic New":              "There is no topic New. Make it?",
		"s3 :topic New --no-confirm": "",
		"s3 :export":                 "",
	} {
		if title, _ := o.ready(line).Question(); title != want {
			t.Errorf("%s asks %q, want %q", line, title, want)
		}
	}
	if err := o.s.CreateTopic(t.Context(), "New"); err != nil {
		t.Fatal(err)
	}
	if title, _ := o.ready("s3 :topic New").Question(); title != "" {
		t.Errorf("a topic that is there: %q", title)
	}
}

func TestOrderIsRefusedBeforeAnythingHappens(t *testing.T) {
	pairs := make([]*assistant.Pair, ManyPairs+1)
	for i := range pairs {
		pairs[i] = starred("pair", 0)
	}
	o := newOrders(t, pairs...)
	o.must("r5 :save five")
	for line, want := range map[string]string{
		":delete":        "51 pairs: more than 50 are deleted only with --force",
		"r5 :delete":     "r5 counts from the newest pair",
		"@five :delete":  "r5 counts from the newest pair", // what it stands for is looked at
		"s3 :flag":       "no pair matches: there is nothing to flag",
		"s3 :export":     "no pair matches: there is nothing to export",
		":save all":      "nothing to save",
		":forget nobody": "no saved filter @nobody",
	} {
		out, err := o.do(line)
		if err == nil || !strings.Contains(err.Error(), want) || out.CanTakeBack() {
			t.Errorf("%s: %+v, %v; want an error with %q", line, out, err, want)
		}
	}
	if refs, _ := o.s.Refs(t.Context(), "", 3.5); len(refs) != len(pairs) {
		t.Errorf("%d pairs are left of %d", len(refs), len(pairs))
	}
}

func TestMarksOfACommandAreTakenBackExactly(t *testing.T) {
	a, b, c := starred("a", 0), starred("b", 2), starred("c", 3)
	a.Topic, b.Flag = "Work > Old", false
	o := newOrders(t, a, b, c)
	before := o.marked()
	for _, line := range []string{":star 1", ":flag", ":unflag", ":topic New --no-confirm", "s2 :star 0"} {
		out := o.must(line)
		if o.marked() == before {
			t.Fatalf("%s changed nothing", line)
		}
		o.takeBack(out)
		if got := o.marked(); got != before {
			t.Errorf("after %s and its undo the marks are %q, want %q", line, got, before)
		}
	}
}

// takeBack undoes what a command has done.
func (o *orders) takeBack(out Outcome) {
	o.t.Helper()
	if !out.CanTakeBack() {
		o.t.Errorf("%q cannot be taken back", out.Said)
	}
	if err := o.s.TakeBack(o.t.Context(), out); err != nil {
		o.t.Fatal(err)
	}
}

func TestUndoOfANewTopicLeavesNone(t *testing.T) {
	a := starred("one", 1)
	a.Topic = "Work"
	o := newOrders(t, a, starred("two", 2))
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
	o.takeBack(o.must(":topic 'Work > New > Deep' --no-confirm"))
	topics("Work")
	out := o.must("s2 :topic 'Else > Where' --no-confirm")
	later := starred("three", 3)
	later.Topic = "Else"
	if err := o.s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{later}}); err != nil {
		t.Fatal(err)
	}
	o.takeBack(out)
	topics("Else", "Work") // somebody is in it by now
	out = o.must("s2 :topic Gone --no-confirm")
	if err := o.s.DeleteTopic(t.Context(), "Gone"); err != nil {
		t.Fatal(err)
	}
	o.takeBack(out)
	topics("Else", "Work")
}

func TestSavedFiltersAreTakenBack(t *testing.T) {
	o := newOrders(t, starred("one", 0))
	saved := func(want string) {
		t.Helper()
		lines, err := o.s.SavedFilters(t.Context())
		if err != nil || lines["a"] != want {
			t.Errorf("@a is %q, %v; want %q", lines["a"], err, want)
		}
	}
	first := o.must("s0 :save a")
	second := o.must("s<2 :save a")
	if second.Said != "saved as @a, which was s0" {
		t.Errorf("said %q", second.Said)
	}
	o.takeBack(second)
	saved("s0")
	forgotten := o.must(":forget a")
	saved("")
	o.takeBack(forgotten)
	saved("s0")
	o.takeBack(first)
	saved("")
}

func TestSavedFilterIsNeverACycle(t *testing.T) {
	o := newOrders(t, starred("one", 0))
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
	if err := o.s.SetFilters(t.Context(), map[string]string{"bb": "s1", "aa": "@bb"}); err != nil {
		t.Errorf("filters that were saved before: %v", err)
	}
	if saved, _ := o.s.SavedFilters(t.Context()); len(saved) != 2 || saved["aa"] != "@bb" {
		t.Errorf("saved are %v", saved)
	}
}

func TestForgottenFilterLeavesTheViewThatItMade(t *testing.T) {
	o := newOrders(t, starred("one", 0), starred("two", 2))
	o.must("s2 :save two")
	o.must("@two !e :save good")
	q, _ := filter.Parse("@good | s3")
	r, err := o.s.Filter(t.Context(), q, Env{})
	if err != nil {
		t.Fatal(err)
	}
	o.in.SetView(r.Refs, "@good | s3", 0)
	if out := o.must(":forget two"); out.Said != "@two is forgotten, the view stays" {
		t.Errorf("said %q", out.Said)
	}
	if got, want := o.in.Filter(), "s2 & !e | s3"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("the line is %q, want %q", got, want)
	}
	again, err := filter.Parse(o.in.Filter())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := o.s.Filter(t.Context(), again, Env{}); err != nil || len(r.Refs) != 1 {
		t.Errorf("the line leaves %v, %v", r.Refs, err)
	}
	if out := o.must(":forget good"); out.Said != "@good is forgotten" {
		t.Errorf("a name that the line no longer holds: %q", out.Said)
	}
}

func TestOrderListsFiltersByName(t *testing.T) {
	o := newOrders(t)
	o.must("s2 :save b")
	o.must("s1 :save a")
	if out := o.must(":filters"); !slices.Equal(out.Filters, []SavedFilter{{"a", "s1"}, {"b", "s2"}}) {
		t.Errorf("filters %v", out.Filters)
	}
}

func TestOrderExportsWhatTheLineSelects(t *testing.T) {
	o := newOrders(t, starred("one", 0), starred("two", 2))
	path := filepath.Join(t.TempDir(), "two.md")
	if out := o.must("s2 :export '" + path + "'"); out.Said != "1 pair exported to "+path {
		t.Errorf("said %q", out.Said)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "two") || strings.Contains(string(text), "one") {
		t.Errorf("the file says %q, %v", text, err)
	}
	var there *ExistsError
	if _, err := o.do("s2 :export '" + path + "'"); !errors.As(err, &there) {
		t.Errorf("over a file: %v", err)
	}
}

func TestExportNamesWhatWasAsked(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	o := newOrders(t, starred("one", 0))
	o.must(":export md ~/all.md")
	if _, err := os.Stat(filepath.Join(home, "all.md")); err != nil {
		t.Error(err)
	}
	for line, want := range map[string]string{
		":export json ~/no/folder.json":    filepath.Join(home, "no", "folder.json"),
		":export json '" + home + "'":      home + " is a folder",
		":export ~/all.md/x.json --force":  filepath.Join(home, "all.md", "x.json"),
		":export md ~/all.md":              "already",
		":export json ~nobody/x --dry-run": "",
	} {
		out, err := o.do(line)
		if want == "" {
			if err != nil || !strings.HasSuffix(out.Said, " ~nobody/x") {
				t.Errorf("%s: %q, %v", line, out.Said, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "winnow-export") {
			t.Errorf("%s: %v, want one that speaks of %s", line, err, want)
		}
	}
}

func TestOrderDeletes(t *testing.T) {
	o := newOrders(t, starred("one", 0), starred("two", 2))
	if out := o.must("s2 :delete"); out.Said != "1 pair deleted" || out.CanTakeBack() {
		t.Errorf("outcome %+v", out)
	}
	if refs, _ := o.s.Refs(context.Background(), "", 3.5); len(refs) != 1 {
		t.Errorf("%d pairs are left", len(refs))
	}
}
