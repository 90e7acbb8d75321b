package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/safetext"
)

var _ assistant.Store = (*store)(nil)

// open opens a store at path and closes it with the test. A large database
// is checked at once.
func open(t testing.TB, path string, o Options) *store {
	t.Helper()
	o.noDelay = true
	s, err := openStore(t.Context(), path, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newStore(t testing.TB) *store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "data", "history.db"), Options{})
}

// day is the first moment of the tests' clock.
var day = time.Date(2026, 3, 4, 5, 6, 7, 800900, time.FixedZone("", 3600))

// pair returns a complete pair with these texts.
func pair(session, user, answer string) *assistant.Pair {
	return &assistant.Pair{
		Session: session, Model: "openai/gpt-5.1", UserText: safetext.Text(user), AssistantText: safetext.Text(answer),
		Flag: true, State: assistant.PairComplete, CreatedAt: day,
	}
}

// full returns a pair that has something in every field.
func full() *assistant.Pair { return historytest.FullPair() }

func commit(t testing.TB, s *store, b *assistant.Batch) {
	t.Helper()
	if err := s.Commit(context.Background(), b); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func put(t testing.TB, s *store, pairs ...*assistant.Pair) {
	t.Helper()
	commit(t, s, &assistant.Batch{Put: pairs})
}

// seqs lists the uncut pairs of a session as Refs gives them.
func seqs(t testing.TB, s *store, session string) []int64 {
	t.Helper()
	refs, err := s.Refs(t.Context(), session, 3.5)
	if err != nil {
		t.Fatalf("Refs: %v", err)
	}
	out := []int64{}
	for _, r := range refs {
		out = append(out, r.Seq)
	}
	return out
}

func load(t testing.TB, s *store, want ...int64) []assistant.Pair {
	t.Helper()
	got, err := s.Load(t.Context(), want)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return got
}

// asJSON compares what matters of two values, whatever the types of Data.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestEveryFieldOfAPairComesBack(t *testing.T) {
	s := newStore(t)
	p := full()
	v := reflect.ValueOf(*p)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "Seq" && v.Field(i).IsZero() {
			t.Errorf("full() leaves %s empty: give it a value", name)
		}
	}
	put(t, s, p)
	got := load(t, s, p.Seq)[0]
	if asJSON(t, got) != asJSON(t, p) {
		t.Errorf("Load = %s\nwant %s", asJSON(t, got), asJSON(t, p))
	}
	if !got.CreatedAt.Equal(p.CreatedAt) || got.Seq != p.Seq {
		t.Errorf("Load: created %v seq %d; want %v, %d", got.CreatedAt, got.Seq, p.CreatedAt, p.Seq)
	}
}

func TestCommitNumbersPairsInOrderAndReplacesOthers(t *testing.T) {
	s := newStore(t)
	a, b := pair("x", "one", "1"), pair("x", "two", "2")
	put(t, s, a, b)
	if a.Seq == 0 || b.Seq <= a.Seq || a.ID == "" {
		t.Fatalf("Seq = %d, %d, ID %q", a.Seq, b.Seq, a.ID)
	}
	a.AssistantText, a.ToolCalls = "uno", []assistant.ToolCall{{ID: "c", Name: "n", Arguments: json.RawMessage("{}")}}
	put(t, s, a)
	a.ToolCalls = nil
	put(t, s, a)
	if got := load(t, s, b.Seq, 999, a.Seq); len(got) != 2 || got[0].UserText != "two" || got[1].AssistantText != "uno" || got[1].ToolCalls != nil {
		t.Errorf("Load = %+v", got)
	}
	if got := seqs(t, s, "x"); !slices.Equal(got, []int64{a.Seq, b.Seq}) {
		t.Errorf("Refs = %v", got)
	}
	commit(t, s, &assistant.Batch{Delete: []int64{b.Seq}})
	c := pair("x", "three", "3")
	put(t, s, c)
	if c.Seq <= b.Seq {
		t.Errorf("Seq %d was given twice (%d deleted)", c.Seq, b.Seq)
	}
}

func TestCommitOfAKnownIDIsThatPair(t *testing.T) {
	s := newStore(t)
	a := pair("x", "one", "1")
	put(t, s, a)
	again := *a
	again.Seq, again.AssistantText = 0, "changed"
	put(t, s, &again)
	if again.Seq != a.Seq || len(seqs(t, s, "")) != 1 {
		t.Errorf("Seq = %d, pairs %v; want %d alone", again.Seq, seqs(t, s, ""), a.Seq)
	}
}

func TestBatchIsAllOrNothing(t *testing.T) {
	s := newStore(t)
	a := pair("x", "one", "1")
	put(t, s, a)
	bad := pair("x", "two", "2")
	bad.ToolCalls = []assistant.ToolCall{{Name: "f", Result: &assistant.ToolResult{Data: func() {}}}}
	good := pair("x", "three", "3")
	err := s.Commit(t.Context(), &assistant.Batch{Delete: []int64{a.Seq}, Put: []*assistant.Pair{good, bad}})
	if err == nil {
		t.Fatal("Commit of a result that is no JSON succeeded")
	}
	if got := seqs(t, s, "x"); !slices.Equal(got, []int64{a.Seq}) || good.Seq != 0 {
		t.Errorf("after a failed batch: %v, Seq %d; want %v, 0", got, good.Seq, []int64{a.Seq})
	}
}

func TestIntentIsCarriedOutOnce(t *testing.T) {
	s := newStore(t)
	a, b := pair("x", "one", "1"), pair("x", "two", "2")
	put(t, s, a, b)
	p := pair("x", "three", "3")
	p.ID = "id-three"
	batch := &assistant.Batch{Intent: "i1", Delete: []int64{a.Seq}, Put: []*assistant.Pair{p}}
	commit(t, s, batch)
	first := p.Seq
	commit(t, s, &assistant.Batch{Intent: "other"})
	commit(t, s, &assistant.Batch{Delete: []int64{p.Seq}})
	p.Seq = 0
	commit(t, s, batch)
	if got := seqs(t, s, "x"); !slices.Equal(got, []int64{b.Seq}) {
		t.Errorf("pairs %v after the intent was repeated (first gave %d); want %d alone", got, first, b.Seq)
	}
}

func TestCutHidesAndUncutBringsBack(t *testing.T) {
	s := newStore(t)
	var all []int64
	for i := range 4 {
		p := pair(fmt.Sprint("s", i%2), "q", "a")
		put(t, s, p)
		all = append(all, p.Seq)
	}
	newer := pair("s1", "new", "n")
	commit(t, s, &assistant.Batch{Cut: &assistant.Cut{Name: "c1", Sessions: []string{"s1"}, From: all[1]}, Put: []*assistant.Pair{newer}})
	if got, want := seqs(t, s, ""), []int64{all[0], all[2], newer.Seq}; !slices.Equal(got, want) {
		t.Errorf("after cut: %v, want %v", got, want)
	}
	if err := s.Commit(t.Context(), &assistant.Batch{Cut: &assistant.Cut{Sessions: []string{"s1"}}}); err == nil {
		t.Error("a cut without a name was taken")
	}
	commit(t, s, &assistant.Batch{Uncut: "c1", Delete: []int64{newer.Seq}})
	if got := seqs(t, s, ""); !slices.Equal(got, all) {
		t.Errorf("after uncut: %v, want %v", got, all)
	}
}

func TestRefsCostWhatPairsCost(t *testing.T) {
	s := newStore(t)
	pairs := []*assistant.Pair{full(), pair("x", "größe 你好", "a\n[[tool:0]]\nb"), pair("x", "", "")}
	pairs[0].ToolCalls[0].Result.Data = map[string]any{"k": "<&>"}
	pairs[2].State = assistant.PairSending
	put(t, s, pairs...)
	for _, cpt := range []float64{1, 3.5, 7} {
		refs, err := s.Refs(t.Context(), "", cpt)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range refs {
			if want := assistant.PairCost(pairs[i], cpt); r.Cost != want || r.Contributes != assistant.PairContributes(pairs[i]) {
				t.Errorf("pair %d at %v: cost %d sends %v; want %d", i, cpt, r.Cost, r.Contributes, want)
			}
		}
	}
}

func TestOrderIsBySequenceWhateverTheClockSays(t *testing.T) {
	at := day
	s := open(t, filepath.Join(t.TempDir(), "h.db.d", "h.db"), Options{Now: func() time.Time { return at }})
	var want []int64
	for _, jump := range []time.Duration{0, 0, -20 * 365 * 24 * time.Hour, 60 * 365 * 24 * time.Hour, -time.Hour} {
		at = day.Add(jump)
		p := pair("x", "q", "a")
		p.CreatedAt = at
		put(t, s, p)
		want = append(want, p.Seq)
	}
	if !slices.IsSorted(want) {
		t.Fatalf("Seqs %v", want)
	}
	if got := seqs(t, s, "x"); !slices.Equal(got, want) {
		t.Errorf("Refs = %v, want %v", got, want)
	}
	at = day.Add(-99 * 365 * 24 * time.Hour)
	if err := s.Touch(t.Context(), history.Session{ID: "later", Folder: "/f"}); err != nil {
		t.Fatal(err)
	}
	at = day.Add(99 * 365 * 24 * time.Hour)
	if err := s.Touch(t.Context(), history.Session{ID: "x", Folder: "/f"}); err != nil {
		t.Fatal(err)
	}
	at = day
	if err := s.Touch(t.Context(), history.Session{ID: "later"}); err != nil {
		t.Fatal(err)
	}
	last, found, err := s.LastSession(t.Context(), "/f")
	if err != nil || !found || last.ID != "later" {
		t.Errorf("LastSession = %q, %v, %v; want later", last.ID, found, err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := newStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(context.Background(), &assistant.Batch{}); err == nil {
		t.Error("Commit on a closed store succeeded")
	}
	if _, err := s.Load(context.Background(), []int64{1}); err == nil {
		t.Error("Load on a closed store succeeded")
	}
}
