//go:build unix

package postgres

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/safetext"
)

// letters of the random texts: few, so that needles are found; some that fold, that
// LIKE or a trigram knows, or that PostgreSQL cannot store.
var letters = []rune(`aaabbcABC İK"*'%_\ 你好é` + "\x00\ufffd\n")

// day is the time at which the random lines are evaluated.
var day = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// generator makes random pairs and lines.
type generator struct{ *rand.Rand }

func pick[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

func (g generator) text(least, most int) string {
	var b strings.Builder
	for range least + g.IntN(most-least+1) {
		b.WriteRune(pick(g, letters...))
	}
	return b.String()
}

func (g generator) pair() *assistant.Pair {
	p := &assistant.Pair{
		Author: pick(g, "", "bob", "Anna"), Session: pick(g, "s1", "s2", "t3"), Topic: pick(g, "", "AI", "AI > Agents", "Work", "Work > AI"), Model: pick(g, "openai/gpt-5", "Anthropic/claude", "x"),
		UserText: safetext.Text(g.text(0, 12)), AssistantText: safetext.Text(g.text(0, 30)), Reasoning: safetext.Text(g.text(0, 12)), Star: g.IntN(4), Flag: g.IntN(2) == 0,
		State:     pick(g, assistant.PairIdle, assistant.PairComplete, assistant.PairError),
		CreatedAt: day.Add(time.Duration(g.IntN(120)-60)*8*time.Hour + time.Duration(g.IntN(3))),
	}
	if g.IntN(10) == 0 {
		p.UserText += "\xffab\xc3"
	}
	if g.IntN(3) == 0 {
		p.Attachments = []assistant.Attachment{{Name: "a"}}
	}
	return p
}

func (g generator) line(depth int) string {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	switch n := g.IntN(10); {
	case n < 3 && depth > 0:
		return "(" + g.line(depth-1) + " & " + g.line(depth-1) + ")"
	case n < 5 && depth > 0:
		return "(" + g.line(depth-1) + " | " + g.line(depth-1) + ")"
	case n == 5 && depth > 0:
		return "!" + g.line(depth-1)
	case n < 7:
		return "c" + quote(g.text(1, 4))
	}
	return pick(g,
		"t'AI...'", "t'AI'", "t'nowhere'", "t", "t2", "t40", "s>1", "s0", "r5", "r0", "r900", "b", "g", "m'*gpt*'", "m'CLAUDE'", "m",
		"d<7d", "d>2w", "d<36h", "d2026-03-04", "d<=2026-03-01", "e", "i", "x", "x's'", "o", "o2", "@saved", "c/a.b/", "c/^$/", `c/\bAB|ı/`, "c/[^a-z]k/", "c'a*b'", "aab", "CabC", "abc_b", "abİ", "éab", "aKa", "u", "u'B*'")
}

// Random lines select the same pairs in the same order in both engines.
// WINNOW_POSTGRES_LINES sets how many lines are tried.
func TestBothEnginesSelectTheSame(t *testing.T) {
	t.Parallel()
	lines, pairs := at.Rounds(50, 150), 400
	if n, err := strconv.Atoi(os.Getenv("WINNOW_POSTGRES_LINES")); err == nil {
		lines, pairs = n, 2000
	}
	lite, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h", "history.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lite.Close() })
	stores := []history.Store{lite, newStore(t)}
	seed := uint64(time.Now().UnixNano())
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	var all []*assistant.Pair
	for range pairs {
		all = append(all, g.pair())
	}
	ordinals := fillBoth(t, stores, all)
	env := history.Env{
		Env:  filter.Env{Now: day, Location: time.UTC, SelectedTopic: "AI", SelectedModel: "openai/gpt-5", Session: "s1"},
		Fits: func(base []assistant.Ref) int { return min(20, len(base)) },
	}
	for range lines {
		line := g.line(3)
		q, err := filter.Parse(line)
		if err != nil {
			t.Fatalf("Parse(%s): %v", line, err)
		}
		var got [2][]string
		for i, s := range stores {
			r, err := s.Filter(t.Context(), q, env)
			n, countErr := s.Count(t.Context(), q, env)
			if err != nil || countErr != nil || n != len(r.Refs) {
				t.Fatalf("engine %d, seed %d: %s: %d of %d pairs, %v, %v", i, seed, line, len(r.Refs), n, err, countErr)
			}
			for _, ref := range r.Refs {
				got[i] = append(got[i], fmt.Sprint(ordinals[i][ref.Seq], ref.Cost, ref.Contributes))
			}
			got[i] = append(got[i], fmt.Sprint(r.Hints))
		}
		if !slices.Equal(got[0], got[1]) {
			t.Fatalf("seed %d: %s:\nSQLite     %v\nPostgreSQL %v", seed, line, got[0], got[1])
		}
	}
}

// fillBoth makes the same random changes to both stores, and returns for each the
// place of every pair by its seq.
func fillBoth(t *testing.T, stores []history.Store, pairs []*assistant.Pair) (places [2]map[int64]int) {
	t.Helper()
	star, topic := 2, "Work > Mail"
	for i, s := range stores {
		places[i] = map[int64]int{}
		var seqs []int64
		for piece := range slices.Chunk(pairs, 100) {
			batch := &assistant.Batch{}
			for _, p := range piece {
				own := *p
				own.ID = fmt.Sprint("id", len(seqs)+len(batch.Put))
				batch.Put = append(batch.Put, &own)
			}
			must(t, s.Commit(t.Context(), batch))
			for _, p := range batch.Put {
				places[i][p.Seq] = len(seqs)
				seqs = append(seqs, p.Seq)
			}
		}
		_, err := s.Mark(t.Context(), seqs[20:60], history.Mark{Star: &star, Topic: &topic})
		must(t, err, s.SaveFilter(t.Context(), "saved", "s2 | c'b'"),
			s.Commit(t.Context(), &assistant.Batch{Delete: seqs[5:9]}),
			s.Commit(t.Context(), &assistant.Batch{Cut: &assistant.Cut{Name: "cut", Sessions: []string{"t3"}, From: seqs[len(seqs)-30]}}))
	}
	return places
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
