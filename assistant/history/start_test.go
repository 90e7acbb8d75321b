package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
)

// crowd makes a store of n pairs in two sessions, none of them in the full-text
// index, with answers of so many words.
func crowd(t testing.TB, path string, n, words int) []*assistant.Pair {
	t.Helper()
	s, err := Open(t.Context(), path, Options{noIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	pairs := make([]*assistant.Pair, n)
	for i := range pairs {
		pairs[i] = pair([]string{"even", "odd"}[i%2], fmt.Sprint("question ", i), strings.Repeat("answer ", words))
	}
	put(t, s, pairs...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return pairs
}

func waitingForWords(t testing.TB, s *Store) (n int64) {
	t.Helper()
	err := s.read(t.Context(), func(r *reader) (err error) {
		n, err = r.number("SELECT count(*) FROM unindexed")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// usual opens a store as a program does, whose background work begins later.
func usual(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What a start does waits neither for the index of all pairs nor for the
// full-text index: neither has begun when it is done.
func TestAStartWaitsForNoIndex(t *testing.T) {
	const n = 3 * blockPairs
	path := filepath.Join(t.TempDir(), "h", "history.db")
	crowd(t, path, n, 20)
	s := usual(t, path)
	read := 0
	s.index.betweenSlices = func() { read++ }
	if err := s.Touch(t.Context(), Session{ID: "even", Folder: "/home"}); err != nil {
		t.Fatal(err)
	}
	if got := seqs(t, s, "even"); len(got) != n/2 {
		t.Fatalf("%d pairs", len(got))
	}
	if got, err := s.Newest(t.Context(), "", 0, 30); err != nil || len(got) != 30 {
		t.Fatalf("Newest = %d, %v", len(got), err)
	}
	if err := s.SaveDraft(t.Context(), "k", Draft{Text: "typed"}); err != nil {
		t.Fatal(err)
	}
	if read != 0 || s.index.current.Load() != nil {
		t.Errorf("%d blocks of the index were read", read)
	}
}

// The pairs of a session are found by an index of the database: no query of a
// start looks at every pair.
func TestAStartScansNoPairs(t *testing.T) {
	s := newStore(t)
	for _, query := range []string{
		strings.Replace(pairsOfSession, "?", "1", 1),
		"SELECT DISTINCT owner FROM pair WHERE owner IS NOT NULL",
	} {
		err := s.read(t.Context(), func(r *reader) error {
			return r.each("EXPLAIN QUERY PLAN "+query, nil, func(scan scanner) error {
				var id, parent, unused int
				var detail string
				err := scan(&id, &parent, &unused, &detail)
				if strings.Contains(detail, "SCAN pair") && !strings.Contains(detail, "pair_owner") || strings.Contains(detail, "TEMP B-TREE FOR ORDER BY") {
					t.Errorf("%s: %s", query, detail)
				}
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Between two blocks of the index anything may be committed: it is served, and
// the index that comes out knows it.
func TestTheIndexIsReadBetweenCommits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	pairs := crowd(t, path, 3*blockPairs, 20)
	s := usual(t, path)
	pieces := 0
	s.index.betweenSlices = func() {
		pieces++
		gone, moved := pairs[pieces], pairs[blockPairs+pieces]
		moved.Session, moved.Topic = fmt.Sprint("new ", pieces), "A > B"
		commit(t, s, &assistant.Batch{
			Delete: []int64{gone.Seq},
			Put:    []*assistant.Pair{moved, pair("even", "late", "answer")},
		})
	}
	if err := s.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pieces < 3 {
		t.Fatalf("read in %d pieces", pieces)
	}
	for _, session := range []string{"even", "odd", "new 1", "none"} {
		want, err := s.sessionRefs(t.Context(), session, 3.5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Refs(t.Context(), session, 3.5)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("session %s: the index has %d pairs, %v; the database %d", session, len(got), err, len(want))
		}
	}
	if got, want := len(seqs(t, s, "")), 3*blockPairs; got != want {
		t.Errorf("%d pairs in all, want %d", got, want)
	}
}

// One turn of background indexing is small, whatever waits.
func TestIndexingTakesSmallBites(t *testing.T) {
	const mostPairs, mostBytes = 64, 8 << 10
	for _, words := range []int{1, 20, 500} {
		path := filepath.Join(t.TempDir(), "h", "history.db")
		crowd(t, path, 200, words)
		s := usual(t, path)
		s.writer.stop() // the test takes its place
		for left := waitingForWords(t, s); left > 0; {
			if !s.idle() {
				t.Fatalf("idle rests while %d pairs wait", left)
			}
			now := waitingForWords(t, s)
			if bite := left - now; bite < 1 || bite > mostPairs || bite*int64(words*len("answer ")) > mostBytes {
				t.Fatalf("%d pairs of %d words in one turn", bite, words)
			}
			left = now
		}
		var synchronous int
		if err := s.writer.conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != 2 {
			t.Errorf("synchronous = %d, %v after background work; want FULL", synchronous, err)
		}
	}
}

// A job that waits is served before the next piece of background work, and
// background work waits until the store has settled.
func TestJobsComeBeforeBackgroundWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	real := open(t, path, Options{noIndex: true})
	real.writer.stop()
	conn := real.writer.conn
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(conn)
		w.committed = func() {}
		w.settled = time.After(settleTime)
		began, step := make(chan struct{}), make(chan struct{})
		var pieces atomic.Int64
		w.idle = func() bool {
			pieces.Add(1)
			began <- struct{}{}
			<-step
			return true
		}
		go w.run()
		nothing := func(*tx) error { return nil }
		if err := w.do(t.Context(), nothing); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if pieces.Load() != 0 {
			t.Error("background work began before the store had settled")
		}
		<-began // after settleTime, with nobody waiting
		for n := int64(1); n <= 20; n++ {
			served := make(chan int64)
			for range 3 {
				go func() {
					before := int64(0)
					if err := w.do(t.Context(), func(*tx) error { before = pieces.Load(); return nil }); err != nil {
						t.Error(err)
					}
					served <- before
				}()
			}
			synctest.Wait() // they wait behind piece n
			step <- struct{}{}
			for range 3 {
				if before := <-served; before != n {
					t.Errorf("served after %d pieces instead of %d", before, n)
				}
			}
			<-began
		}
		go w.stop()
		step <- struct{}{}
		<-w.done
	})
}

// A file whose check was cut short by Close is not taken for one that was
// closed in peace: the next Open has it checked.
func TestADoubtOutlivesClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	crowd(t, path, 1, 1)
	first := usual(t, path)
	if !first.markFits() {
		t.Fatal("a database that was closed in peace bears no mark of it")
	}
	first.vouched.Store(false) // as while checkLater is under way
	first.dropMark()
	last := usual(t, path) // found it open, and inspected nothing
	for _, s := range []*Store{first, last} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s.markFits() {
			t.Error("a file that nobody found sound is marked as sound")
		}
	}
}

// A large file is not read whole after a crash that left it as it was when the
// log was last folded into it; when it is another, it is.
func TestACrashOfAFoldedFileNeedsNoCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := usual(t, path)
	put := func(text string) {
		t.Helper()
		if err := s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", AssistantText: text, State: assistant.PairComplete}}}); err != nil {
			t.Fatal(err)
		}
	}
	put(strings.Repeat("x", checkNow+1))
	s.writer.stop() // the test takes its place
	fold := func() {
		t.Helper()
		s.writer.unfolded = foldEvery
		if s.foldLog(); size(path) <= checkNow {
			t.Fatal("the log was not folded")
		}
	}
	fold()
	crashed := func() verdict {
		t.Helper()
		v, err := s.inspect(t.Context(), census{unclean: true, logged: true})
		if err != nil || v.err != nil {
			t.Fatal(v.err, err)
		}
		return v
	}
	if crashed().unsure {
		t.Error("a file that is as its last fold left it is to be checked")
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil { // as when somebody wrote in it
		t.Fatal(err)
	}
	if !crashed().unsure {
		t.Error("a file that somebody changed is not to be checked")
	}
	if fold(); !crashed().unsure {
		t.Error("a fold made a changed file pass for a sound one")
	}
}
