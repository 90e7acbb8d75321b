package history

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

func TestContextCounts(t *testing.T) {
	s, w := library(t)
	good(t, w, "star_pairs", `{"ids":[1,4],"stars":3}`)
	good(t, w, "flag_pairs", `{"ids":[5],"flag":false}`)
	if err := s.SaveFilter(t.Context(), "best", "s3"); err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, w)
	counts := `{"pairs":6,"sessions":2,"topics":3,"models":2,"saved_filters":1,"starred":{"1":0,"2":0,"3":2},"unflagged":1,"without_topic":2,"failed":1}`
	if got := asJSON(t, c.Counts); got != counts {
		t.Errorf("counts %s\nwant %s", got, counts)
	}
	for what, pair := range map[string][2]string{
		"topics": {asJSON(t, c.Topics), `[{"topic":"AI","pairs":1,"with_subtopics":3},{"topic":"AI \u003e Agents","pairs":2,"with_subtopics":2},{"topic":"Work","pairs":1,"with_subtopics":1}]`},
		"models": {asJSON(t, c.Models), `[{"model":"openai/gpt-5.1","pairs":5},{"model":"anthropic/claude","pairs":1}]`},
		"saved":  {asJSON(t, c.Saved), `[{"name":"best","line":"s3"}]`},
		"newest": {asJSON(t, c.Newest[2:4]), `[{"id":4,"at":"2026-03-04 05:03","session":"s2","topic":"Work","model":"anthropic/claude","stars":3,"flag":true,"user":"fourth: an invoice for kubernetes"},` +
			`{"id":3,"at":"2026-03-04 05:02","session":"s1","topic":"AI \u003e Agents","model":"openai/gpt-5.1","flag":true,"state":"error: net","user":"third: what broke"}]`},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s %s\nwant %s", what, pair[0], pair[1])
		}
	}
	if c.Truncated || c.WindowType != "history" || c.Session != "s2" || c.Topic != "AI" {
		t.Errorf("context %+v", c)
	}
}

func TestContextShowsTheActiveFilter(t *testing.T) {
	s, _ := library(t)
	for line, want := range map[string]string{
		"":         `{"line":"","shows":6}`,
		"x":        `{"line":"x","shows":3}`,
		"o":        `{"line":"o","shows":2}`,
		"c'goat'":  `{"line":"c'goat'","shows":2}`,
		"t'AI":     `{"line":"t'AI","error":"column 2: found an unclosed quote, want ' at its end"}`,
		"@nothing": `{"line":"@nothing","error":"column 1: `,
	} {
		w := New(s, Options{Now: clock, Selected: func() Selected {
			return Selected{Line: line, Session: "s1", Fits: func([]assistant.Ref) int { return 2 }}
		}})
		if got := asJSON(t, contextOf(t, w).Filter); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestContextStaysWithinItsBudget(t *testing.T) {
	s := newStore(t)
	var many []*assistant.Pair
	for i := range 300 {
		p := spoken(fmt.Sprint("session", i/7), fmt.Sprintf("Topic %d > Below %d", i%90, i%5), strings.Repeat("wörter <&> ", 30), "ok")
		p.Model = fmt.Sprint("provider/model", i%70)
		p.Star = i % 4
		many = append(many, p)
	}
	put(t, s, many...)
	for i := range 100 {
		if err := s.SaveFilter(t.Context(), fmt.Sprint("name", i), "s>1 "+strings.Repeat("b ", i)); err != nil {
			t.Fatal(err)
		}
	}
	w := New(s, Options{Now: clock})
	whole := contextOf(t, w)
	if whole.Truncated || len(whole.Newest) != maxContextPairs || len(whole.Topics) != whole.Counts.Topics || len(whole.Saved) != 100 {
		t.Fatalf("the default budget cuts %d pairs, %d of %d topics", len(whole.Newest), len(whole.Topics), whole.Counts.Topics)
	}
	for _, tokens := range []int{400, 1000, 2000, 4000, 8000} {
		w.SetContextBudget(tokens)
		c := contextOf(t, w)
		if got := jsonChars(c); got > estimateChars(tokens) {
			t.Errorf("budget %d: %d characters, want at most %d", tokens, got, estimateChars(tokens))
		}
		if !c.Truncated || c.Note == "" {
			t.Errorf("budget %d: cut without a word", tokens)
		}
		if asJSON(t, c.Counts) != asJSON(t, whole.Counts) {
			t.Errorf("budget %d: counts %s\nwant %s", tokens, asJSON(t, c.Counts), asJSON(t, whole.Counts))
		}
		if tokens >= 1000 && (len(c.Newest) == 0 || len(c.Topics) == 0 || len(c.Models) == 0 || len(c.Saved) == 0) {
			t.Errorf("budget %d: %d pairs, %d topics, %d models, %d filters", tokens, len(c.Newest), len(c.Topics), len(c.Models), len(c.Saved))
		}
	}
}

func TestModelCountsAreExact(t *testing.T) {
	s := newStore(t)
	want := map[string]int{"a/x": 3, "A/X": 1, "b/a/x": 2, "x": 4, "": 1}
	for _, model := range []string{"a/x", "A/X", "b/a/x", "x", ""} {
		for range want[model] {
			p := spoken("s", "", "u", "a")
			p.Model = model
			put(t, s, p)
		}
	}
	w := New(s, Options{Now: clock})
	first := contextOf(t, w)
	const counted = `[{"model":"x","pairs":4},{"model":"a/x","pairs":3},{"model":"b/a/x","pairs":2},{"model":"","pairs":1},{"model":"A/X","pairs":1}]`
	if got := asJSON(t, first.Models); first.Counts.Models != 5 || got != counted {
		t.Errorf("models %s, want %s", got, counted)
	}
}

func TestContextFollowsEveryChange(t *testing.T) {
	line := "x"
	s, _ := library(t)
	w := New(s, Options{Now: clock, Selected: func() Selected { return Selected{Line: line, Session: "s2"} }})
	text := func() string { return asJSON(t, contextOf(t, w)) }
	seen := map[string]string{text(): "the beginning"}
	if seen[text()] == "" {
		t.Fatal("the context is not stable")
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a star", func() error { _, err := s.Mark(t.Context(), []int64{1}, mark{stars, "1"}.storeMark()); return err }},
		{"a flag", func() error { _, err := s.Mark(t.Context(), []int64{1}, mark{flags, flagOff}.storeMark()); return err }},
		{"a topic", func() error { return s.CreateTopic(t.Context(), "New") }},
		{"a saved filter", func() error { return s.SaveFilter(t.Context(), "a", "s1") }},
		{"a line", func() error { line = "s1"; return nil }},
		{"a pair", func() error { put(t, s, spoken("s9", "", "seventh", "")); return nil }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if now := text(); seen[now] != "" {
			t.Errorf("%s: the context is that of %s", step.what, seen[now])
		} else {
			seen[now] = step.what
		}
	}
}

func TestChangesTellWhatOthersDid(t *testing.T) {
	line := "x"
	s, _ := library(t)
	w := New(s, Options{Now: clock, Selected: func() Selected { return Selected{Line: line} }})
	good(t, w, "star_pairs", `{"ids":[6],"stars":1}`)
	contextOf(t, w)
	// What the tools do is not told; what others do beside it is.
	good(t, w, "star_pairs", `{"ids":[1,2],"stars":2}`)
	good(t, w, "set_topic", `{"ids":[1],"topic":"Fresh","create":true}`)
	contextOf(t, w)
	if got, _ := w.Changes(0); len(got) != 0 {
		t.Errorf("of the tools' own changes it tells %v", got)
	}
	two, path := 2, "Shelf"
	for _, m := range []struct {
		seqs []int64
		mark history.Mark
	}{{[]int64{2, 3, 5}, history.Mark{Star: &two}}, {[]int64{4, 5, 6}, history.Mark{Topic: &path}}} {
		if _, err := s.Mark(t.Context(), m.seqs, m.mark); err != nil {
			t.Fatal(err)
		}
	}
	good(t, w, "flag_pairs", `{"ids":[1],"flag":false}`)
	put(t, s, spoken("s2", "Shelf", "seventh", "")) // a new pair is no change of marks
	line = "s2"
	contextOf(t, w)
	changes, mark := w.Changes(0)
	got := ""
	for _, c := range changes {
		delete(c, "timestamp")
		got += asJSON(t, c)
	}
	want := `{"count":2,"ids":"3, 5","stars":"2","type":"pairs_marked"}` + `{"count":3,"ids":"4-6","topics":"Shelf","type":"pairs_marked"}` +
		`{"line":"s2","type":"filter_changed"}`
	if got != want {
		t.Errorf("changes %s\nwant %s", got, want)
	}
	if again, _ := w.Changes(mark); len(again) != 0 {
		t.Errorf("told twice: %v", again)
	}
}

func TestTheWindowIsAPage(t *testing.T) {
	_, w := library(t)
	var pages assistant.Pages
	if err := Register(&pages, w); err != nil {
		t.Fatal(err)
	}
	if err := Register(&pages, w); err == nil {
		t.Error("the page can be registered twice")
	}
	offered, err := pages.At(w.Where())
	if err != nil {
		t.Fatal(err)
	}
	page := offered.Page
	if page.Name != PageName || !strings.Contains(page.Context(w.Where()), "all pairs") {
		t.Errorf("page %+v", page)
	}
	names := map[string]bool{}
	for _, x := range w.Tools() {
		names[x.Name] = true
		if !strings.Contains(w.Describe(), "`"+x.Name+"`") {
			t.Errorf("the prompt does not name %s", x.Name)
		}
		if x.Write != x.Lasting || x.Write != (x.Preview != nil) {
			t.Errorf("%s: write %v, lasting %v", x.Name, x.Write, x.Lasting)
		}
	}
	if len(names) != 8 {
		t.Errorf("%d tools", len(names))
	}
}
