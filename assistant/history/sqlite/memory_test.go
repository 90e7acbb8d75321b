package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

// topicList is "path own all" of every topic.
func topicList(t *testing.T, s *store) []string {
	t.Helper()
	topics, err := s.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, v := range topics {
		out = append(out, fmt.Sprintf("%s %d %d", v.Path, v.Pairs, v.Total))
	}
	return out
}

func TestTopics(t *testing.T) {
	s := newStore(t)
	var pairs []*assistant.Pair
	for _, topic := range []string{"", "AI", "AI > Agents", "AI>Agents", "Work > AI > Agents"} {
		p := pair("x", "q", "a")
		p.Topic = topic
		pairs = append(pairs, p)
	}
	put(t, s, pairs...)
	steps := []struct {
		name string
		do   func() error
		fail bool
		want []string
	}{
		{"made by pairs", func() error { return nil }, false, []string{"AI 1 3", "AI > Agents 2 2", "Work 0 1", "Work > AI 0 1", "Work > AI > Agents 1 1"}},
		{"create", func() error { return s.CreateTopic(t.Context(), "New > Sub") }, false, nil},
		{"create the root", func() error { return s.CreateTopic(t.Context(), " > ") }, true, nil},
		{"rename", func() error { return s.MoveTopic(t.Context(), "New > Sub", "New > Other") }, false, nil},
		{"rename to nothing", func() error { return s.MoveTopic(t.Context(), "New", " > ") }, true, nil},
		{"delete with nothing in it", func() error {
			return errors.Join(s.DeleteTopic(t.Context(), "New > Other"), s.DeleteTopic(t.Context(), "New"))
		}, false, []string{"AI 1 3", "AI > Agents 2 2", "Work 0 1", "Work > AI 0 1", "Work > AI > Agents 1 1"}},
		{"move below itself", func() error { return s.MoveTopic(t.Context(), "AI", "AI > Agents > AI") }, true, nil},
		{"move onto another", func() error { return s.MoveTopic(t.Context(), "Work > AI", "AI") }, true, nil},
		{"move what is not", func() error { return s.MoveTopic(t.Context(), "None", "A") }, true, nil},
		{"move", func() error { return s.MoveTopic(t.Context(), "AI", "Play > Machines") }, false, []string{"Play 0 3", "Play > Machines 1 3", "Play > Machines > Agents 2 2", "Work 0 1", "Work > AI 0 1", "Work > AI > Agents 1 1"}},
		{"move back", func() error { return s.MoveTopic(t.Context(), "Play > Machines", "Work > Agents") }, false, []string{"Play 0 0", "Work 0 4", "Work > AI 0 1", "Work > AI > Agents 1 1", "Work > Agents 1 3", "Work > Agents > Agents 2 2"}},
		{"delete, children and namesakes go up", func() error { return s.DeleteTopic(t.Context(), "Work > AI") }, false, []string{"Play 0 0", "Work 0 4", "Work > Agents 2 4", "Work > Agents > Agents 2 2"}},
		{"delete a namesake's parent", func() error { return s.DeleteTopic(t.Context(), "Work > Agents") }, false, []string{"Play 0 0", "Work 2 4", "Work > Agents 2 2"}},
		{"delete a first one", func() error { return s.DeleteTopic(t.Context(), "Work") }, false, []string{"Agents 2 2", "Play 0 0"}},
		{"delete the root", func() error { return s.DeleteTopic(t.Context(), "") }, true, nil},
	}
	for _, step := range steps {
		err := step.do()
		if (err != nil) != step.fail || step.fail && !errors.Is(err, history.ErrTopic) {
			t.Errorf("%s: %v", step.name, err)
		}
		if got := topicList(t, s); step.want != nil && !slices.Equal(got, step.want) {
			t.Errorf("%s: topics\n%s\nwant\n%s", step.name, strings.Join(got, "\n"), strings.Join(step.want, "\n"))
		}
	}
	var paths []string
	for _, p := range load(t, s, seqs(t, s, "")...) {
		paths = append(paths, p.Topic)
	}
	if want := []string{"", "", "Agents", "Agents", ""}; !slices.Equal(paths, want) {
		t.Errorf("topics of pairs %q, want %q", paths, want)
	}
}

func TestMarkSetsManyAtOnce(t *testing.T) {
	s := newStore(t)
	put(t, s, pair("x", "1", "a"), pair("x", "2", "a"), pair("x", "3", "a"))
	three, off, topic := 3, false, "AI > New"
	if before, err := s.Mark(t.Context(), []int64{1, 3}, history.Mark{Star: &three, Flag: &off, Topic: &topic}); len(before.Marks) != 2 || err != nil {
		t.Fatalf("Mark = %+v, %v; want 2 marks", before, err)
	}
	for i, p := range load(t, s, 1, 2, 3) {
		marked := i != 1
		if (p.Star == 3 && !p.Flag && p.Topic == topic) != marked {
			t.Errorf("pair %d: %d stars, flag %v, topic %q", p.Seq, p.Star, p.Flag, p.Topic)
		}
	}
	four := 4
	if _, err := s.Mark(t.Context(), []int64{1}, history.Mark{Star: &four}); err == nil {
		t.Error("four stars were given")
	}
}

func TestSessions(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	const id = "new"
	if err := s.Touch(ctx, history.Session{ID: id, Folder: "/f", Window: "/f/.env", Model: "openai/x", Page: "rules"}); err != nil {
		t.Fatal(err)
	}
	put(t, s, pair("other", "q", "a"), pair(id, "q", "a"))
	if err := s.Touch(ctx, history.Session{ID: id, Model: "anthropic/y"}); err != nil {
		t.Fatal(err)
	}
	got, found, err := s.Session(ctx, id)
	if err != nil || !found || got.Model != "anthropic/y" || got.Window != "/f/.env" || got.Page != "rules" {
		t.Errorf("Session = %+v, %v, %v", got, found, err)
	}
	list, err := s.Sessions(ctx)
	if err != nil || len(list) != 2 || list[0].ID != id || list[0].Pairs != 1 || list[0].Title != "q" || list[1].ID != "other" {
		t.Errorf("Sessions = %+v, %v", list, err)
	}
	if _, found, err := s.LastSession(ctx, "/elsewhere"); found || err != nil {
		t.Errorf("LastSession of a new folder: %v, %v", found, err)
	}
}

func TestRememberedLines(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	for i := range history.MaxFilterLines + 5 {
		if err := s.AddFilterLine(ctx, fmt.Sprint("s", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddFilterLine(ctx, "s50"); err != nil {
		t.Fatal(err)
	}
	lines, err := s.FilterLines(ctx)
	if err != nil || len(lines) != history.MaxFilterLines || lines[0] != "s50" || lines[1] != "s104" || slices.Contains(lines[1:], "s50") {
		t.Errorf("FilterLines = %d lines, %.3q, %v", len(lines), lines, err)
	}
	for _, text := range []string{"a", "b", "a"} {
		if err := s.AddSent(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	if sent, err := s.Sent(ctx, 10); err != nil || !slices.Equal(sent, []string{"a", "b"}) {
		t.Errorf("Sent = %q, %v", sent, err)
	}
}

func TestDraftsFiltersAndSettingsLast(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	err := errors.Join(
		s.SaveDraft(ctx, "w", history.Draft{Text: "typed", Stash: []string{"a", "b"}}), s.SaveDraft(ctx, "gone", history.Draft{Text: "x"}), s.SaveDraft(ctx, "gone", history.Draft{}),
		s.SaveFilter(ctx, "good", "s3"), s.SaveFilter(ctx, "bad", "s1"), s.SaveFilter(ctx, "bad", ""),
		s.Set(ctx, "model /f", "openai/x"), s.Set(ctx, "k", "v"), s.Set(ctx, "k", ""),
		s.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, s.Path(), Options{})
	if d, err := s.Draft(ctx, "w"); err != nil || d.Text != "typed" || !slices.Equal(d.Stash, []string{"a", "b"}) {
		t.Errorf("Draft = %+v, %v", d, err)
	}
	if d, err := s.Draft(ctx, "gone"); err != nil || d.Text != "" {
		t.Errorf("a forgotten draft is %+v, %v", d, err)
	}
	if f, err := s.SavedFilters(ctx); err != nil || len(f) != 1 || f["good"] != "s3" {
		t.Errorf("SavedFilters = %v, %v", f, err)
	}
	if v, err := s.Get(ctx, "model /f"); err != nil || v != "openai/x" {
		t.Errorf("Get = %q, %v", v, err)
	}
	if v, err := s.Get(ctx, "k"); err != nil || v != "" {
		t.Errorf("a forgotten value is %q, %v", v, err)
	}
}
