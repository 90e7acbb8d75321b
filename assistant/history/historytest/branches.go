package historytest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// refsOf returns the seqs of the pairs of a session.
func refsOf(t *testing.T, s history.Store, session string) (seqs []int64) {
	t.Helper()
	refs, err := s.Refs(t.Context(), session, 3.5)
	must(t, err)
	for _, r := range refs {
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

// sessionOf returns the session with an id from the store's list.
func sessionOf(t *testing.T, s history.Store, id string) history.Session {
	t.Helper()
	all, err := s.Sessions(t.Context())
	must(t, err)
	i := slices.IndexFunc(all, func(v history.Session) bool { return v.ID == id })
	if i < 0 {
		t.Fatalf("no session %s in %+v", id, all)
	}
	return all[i]
}

// aSessionBranches checks that the view of a branch consists of the parent's pairs up to
// the branch, followed by the branch's own pairs. Filters, counts and titles must agree
// with the view, and no pair may be copied.
func aSessionBranches(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	must(t, s.Touch(ctx, history.Session{ID: "root", Folder: "/f", Window: "w", Model: "m"}))
	one, two, three := pair("root", "one", "1"), pair("root", "two", "2"), pair("root", "three", "3")
	put(t, s, one, pair("other", "elsewhere", ""), two, three)
	must(t, s.Branch(ctx, "limb", assistant.Branch{Parent: "root", UpTo: two.Seq}))
	if got := refsOf(t, s, "limb"); !slices.Equal(got, []int64{one.Seq, two.Seq}) {
		t.Errorf("a new branch shows %v", got)
	}
	if v := sessionOf(t, s, "limb"); v.Pairs != 2 || v.First != one.Seq || v.Title != "one" || v.Branch.Parent != "root" || v.Folder != "/f" || v.Window != "w" || v.Model != "m" {
		t.Errorf("a new branch: %+v", v)
	}
	four := pair("limb", "four", "4")
	put(t, s, four)
	must(t, s.Branch(ctx, "twig", assistant.Branch{Parent: "limb", UpTo: four.Seq}))
	five := pair("twig", "five", "5")
	put(t, s, five)
	must(t, s.Branch(ctx, "early", assistant.Branch{Parent: "twig", UpTo: one.Seq}))
	for id, want := range map[string][]int64{
		"root": {one.Seq, two.Seq, three.Seq}, "limb": {one.Seq, two.Seq, four.Seq}, "twig": {one.Seq, two.Seq, four.Seq, five.Seq}, "early": {one.Seq},
	} {
		if got := refsOf(t, s, id); !slices.Equal(got, want) {
			t.Errorf("session %s shows %v, want %v", id, got, want)
		}
		if got := line(t, s, "x'"+id+"'", history.Env{}); !slices.Equal(got, want) {
			t.Errorf("x'%s' finds %v, want %v", id, got, want)
		}
	}
	for id, title := range map[string]string{"limb": "four", "twig": "five", "early": "five"} {
		if v := sessionOf(t, s, id); v.Title != title || v.Named {
			t.Errorf("the title of %s is %q, want %q", id, v.Title, title)
		}
	}
	if err := s.Branch(ctx, "twig", assistant.Branch{Parent: "root"}); !errors.Is(err, assistant.ErrSessionExists) {
		t.Errorf("Branch to an existing session: %v", err)
	}
	if err := s.Branch(ctx, "new", assistant.Branch{Parent: "nobody"}); !errors.Is(err, history.ErrNoSession) {
		t.Errorf("Branch from a missing session: %v", err)
	}
	must(t, s.Commit(ctx, &assistant.Batch{Delete: []int64{two.Seq}}))
	if got := refsOf(t, s, "twig"); !slices.Equal(got, []int64{one.Seq, four.Seq, five.Seq}) {
		t.Errorf("after deleting a pair of root, session twig shows %v", got)
	}
}

// aSessionIsRenamed checks that a title set by the user is shown instead of the first
// message, until the title is removed.
func aSessionIsRenamed(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	put(t, s, pair("a", "first message", ""))
	must(t, s.SetTitle(ctx, "a", "  The\nplan\x1b[31m  "))
	if v := sessionOf(t, s, "a"); !v.Named || v.Title != "The plan" {
		t.Errorf("renamed: %+v", v)
	}
	if v, found, err := s.Session(ctx, "a"); err != nil || !found || v.Title != "The plan" {
		t.Errorf("Session = %+v, %v, %v", v, found, err)
	}
	must(t, s.Touch(ctx, history.Session{ID: "a", Model: "m"}), s.SetTitle(ctx, "a", strings.Repeat("ö", 2*history.MaxTitle)))
	if v := sessionOf(t, s, "a"); len([]rune(v.Title)) != history.MaxTitle {
		t.Errorf("the title has %d runes", len([]rune(v.Title)))
	}
	must(t, s.SetTitle(ctx, "a", ""))
	if v := sessionOf(t, s, "a"); v.Named || v.Title != "first message" {
		t.Errorf("after removing the title: %+v", v)
	}
	if err := s.SetTitle(ctx, "nobody", "x"); !errors.Is(err, history.ErrNoSession) {
		t.Errorf("SetTitle of a missing session: %v", err)
	}
}

// aCancelledAnswerIsOffered checks that a cancelled answer is excluded from view and
// search until the user keeps it, and is deleted when the user discards it.
func aCancelledAnswerIsOffered(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	offered := func(session string, want int64) {
		t.Helper()
		if got, err := s.Cancelled(ctx, session); err != nil || got != want {
			t.Errorf("Cancelled(%s) = %d, %v; want %d", session, got, err, want)
		}
	}
	offered("a", 0)
	p := pair("a", "question", "")
	p.State = assistant.PairSending
	put(t, s, pair("a", "before", "b"), p)
	partial := *p
	partial.State, partial.AssistantText = assistant.PairPartial, "half a zebra"
	must(t, s.Commit(ctx, &assistant.Batch{Cancelled: &partial}))
	offered("a", p.Seq)
	offered("b", 0)
	if got := refsOf(t, s, "a"); len(got) != 1 || len(line(t, s, "c'zebra'", history.Env{})) != 0 {
		t.Errorf("a cancelled answer is in view: %v", got)
	}
	must(t, s.Commit(ctx, &assistant.Batch{Keep: "a"}))
	offered("a", 0)
	got, err := s.Load(ctx, []int64{p.Seq})
	must(t, err)
	if got[0].State != assistant.PairPartial || got[0].AssistantText != "half a zebra" || got[0].Notice != "" {
		t.Errorf("kept: %+v", got[0])
	}
	refs, err := s.Refs(ctx, "a", 3.5)
	must(t, err)
	if len(refs) != 2 || refs[1].Contributes || refs[1].Cost != 0 || len(line(t, s, "c'zebra'", history.Env{})) != 1 || len(line(t, s, "e", history.Env{})) != 0 {
		t.Errorf("Refs with a kept answer: %+v", refs)
	}
	beside := pair("a", "question", "other half")
	beside.State, beside.AnswerTo = assistant.PairPartial, refs[0].Seq
	must(t, s.Commit(ctx, &assistant.Batch{Cancelled: beside}))
	offered("a", beside.Seq)
	must(t, s.Commit(ctx, &assistant.Batch{Forget: "a"}), s.Commit(ctx, &assistant.Batch{Forget: "a"}), s.Commit(ctx, &assistant.Batch{Forget: "b"}))
	offered("a", 0)
	if got, err := s.Load(ctx, []int64{beside.Seq}); err != nil || len(got) != 0 {
		t.Errorf("after discarding, Load = %+v, %v", got, err)
	}
	if got := refsOf(t, s, "a"); len(got) != 2 {
		t.Errorf("after discarding, the session shows %v", got)
	}
	if report, err := s.Check(ctx); err != nil || len(report.Problems) > 0 {
		t.Errorf("Check = %+v, %v", report, err)
	}
}

// messagesUseTheirSession checks that messages of this program use their session, and that added ones do not.
func messagesUseTheirSession(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	opened := now.AddDate(-9, 0, 0)
	must(t, s.Touch(ctx, history.Session{ID: "a", Folder: "/f", Started: now, Used: opened}), s.Touch(ctx, history.Session{ID: "b", Folder: "/f", Started: now, Used: opened.Add(time.Minute)}))
	p, early, late := pair("a", "first", ""), pair("added", "x", ""), pair("added", "y", "")
	late.CreatedAt = now.Add(time.Minute)
	put(t, s, p)
	_, err := s.Append(ctx, []*assistant.Pair{late, early})
	must(t, err)
	check := func(what string) {
		t.Helper()
		all, err := s.Sessions(ctx)
		must(t, err)
		last, _, err := s.LastSession(ctx, "/f")
		must(t, err)
		if len(all) != 3 || all[0].ID != "a" || !all[0].Used.After(opened) || last.ID != "a" {
			t.Errorf("%s: LastSession %+v, Sessions %+v", what, last, all)
		}
		for _, v := range all {
			if v.ID == "added" && v.Used.UnixMilli() != late.CreatedAt.UnixMilli() {
				t.Errorf("%s: the added session was used at %v; want %v", what, v.Used, late.CreatedAt)
			}
		}
	}
	check("a message")
	must(t, s.Touch(ctx, history.Session{ID: "b", Used: opened.Add(2 * time.Minute)}), s.Commit(ctx, &assistant.Batch{Answers: []assistant.PairAnswer{{Seq: p.Seq, ID: "again", Add: &assistant.Variant{ID: "again"}}}}))
	check("an answer")
}
