package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// fakeLog is a history.WindowLog in memory, which can be away.
type fakeLog struct {
	mu       sync.Mutex
	away     bool
	attempts []time.Time // that failed
	during   func()      // happens once, while changes are added
	changes  []history.WindowChange
	parts    []int // how many changes each call added
}

func (l *fakeLog) AddWindowChanges(_ context.Context, host, path string, changes []checkpoint.Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		l.attempts = append(l.attempts, time.Now())
		return errors.New("the server cannot be reached")
	}
	if l.during != nil {
		l.during()
		l.during = nil
	}
	l.parts = append(l.parts, len(changes))
	for _, c := range changes {
		l.changes = append(l.changes, history.WindowChange{Host: host, Path: path, Change: c})
	}
	return nil
}

func (l *fakeLog) WindowChanges(_ context.Context, after int64, last int) ([]history.WindowChange, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.changes[after:])
	return all[max(0, len(all)-last):], int64(len(l.changes)), nil
}

// calls are those that failed, and how many changes each of the others added.
func (l *fakeLog) calls() (failed []time.Time, parts []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.attempts), slices.Clone(l.parts)
}

func (l *fakeLog) setAway(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
}

// served is a window whose changes Record adds.
type served struct {
	hub   *serve.Log[windowlock.Change]
	log   fakeLog
	said  lockedText
	mu    sync.Mutex
	whole []checkpoint.Change
	wait  func()
}

// lockedText is a text that a logger writes while a test reads it.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *lockedText) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *lockedText) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func (s *served) start() {
	s.hub = serve.NewLog[windowlock.Change](1, 10, 0, nil)
	s.wait = serve.RecordChanges(serve.RecordOptions{
		Changes: s.hub, History: &s.log, Host: "h", Path: "/p", Log: slog.New(slog.NewTextHandler(&s.said, nil)),
		Read: func() []checkpoint.Change {
			s.mu.Lock()
			defer s.mu.Unlock()
			return slices.Clone(s.whole)
		},
	})
}

// change makes n changes and announces them.
func (s *served) change(n int) {
	for range n {
		s.mu.Lock()
		s.whole = append(s.whole, checkpoint.Change{Seq: int64(len(s.whole) + 1)})
		s.mu.Unlock()
		s.hub.Add(windowlock.Change{})
	}
}

// added are the numbers of the changes in the history.
func (s *served) added() string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	var b strings.Builder
	for _, c := range s.log.changes {
		fmt.Fprint(&b, c.Host, c.Path, c.Seq, " ")
	}
	return b.String()
}

func TestChangesAreAddedOnceAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &served{whole: []checkpoint.Change{{Seq: 1}}}
		s.start()
		synctest.Wait()
		if got := s.added(); got != "h/p1 " {
			t.Errorf("at the start %q is added", got)
		}
		for range 3 {
			s.change(2)
			time.Sleep(2 * time.Second)
		}
		if got := s.added(); got != "h/p1 h/p2 h/p3 h/p4 h/p5 h/p6 h/p7 " {
			t.Errorf("%q is added", got)
		}
		s.change(1)
		s.hub.Close()
		s.wait()
		if got := s.added(); !strings.HasSuffix(got, "h/p7 h/p8 ") {
			t.Errorf("at the end %q is added", got)
		}
	})
}

func TestWhileTheHistoryIsAwayNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &served{}
		s.start()
		s.log.setAway(true)
		s.change(1)
		for range 100 { // changes do not make it try more often
			time.Sleep(5 * time.Second)
			s.change(5)
		}
		tries, _ := s.log.calls()
		for i := range tries[1:] {
			want := min(5*time.Second<<i, time.Minute)
			if got := tries[i+1].Sub(tries[i]); got != want {
				t.Errorf("pause %d is %v, want %v", i, got, want)
			}
		}
		if len(tries) < 10 || strings.Count(s.said.String(), "level=WARN") != 1 {
			t.Errorf("%d attempts, of which is said:\n%s", len(tries), &s.said)
		}
		s.log.setAway(false)
		time.Sleep(time.Minute)
		if strings.Count(s.said.String(), "level=INFO") != 1 {
			t.Errorf("when the history is there again it says:\n%s", &s.said)
		}
		if got := strings.Fields(s.added()); len(got) != 501 || slices.Compact(got)[500] != "h/p501" {
			t.Errorf("%d changes are added of 501: %v", len(got), got)
		}
		s.log.setAway(true)
		s.change(1)
		time.Sleep(10 * time.Second)
		s.log.setAway(false)
		s.hub.Close() // in a pause
		s.wait()
		if got := s.added(); !strings.HasSuffix(got, "h/p502 ") {
			t.Errorf("at the end %q is added", got[len(got)-20:])
		}
	})
}

// A history that is away at the end does not hold it up.
func TestTheEndDoesNotWaitForAHistoryThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &served{log: fakeLog{away: true}, whole: []checkpoint.Change{{Seq: 1}}}
		s.start()
		time.Sleep(time.Hour)
		began := time.Now()
		s.hub.Close()
		s.wait()
		if took := time.Since(began); took > 0 || !strings.Contains(s.said.String(), "will be stored at the next start") {
			t.Errorf("it took %v and said:\n%s", took, &s.said)
		}
	})
}

// Changes that follow each other closely are added together, many in several parts.
func TestChangesAreAddedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &served{}
		s.start()
		synctest.Wait()
		for range 4 {
			s.change(1)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		s.change(450)
		time.Sleep(time.Second)
		if _, parts := s.log.calls(); fmt.Sprint(parts) != "[4 200 200 50]" {
			t.Errorf("the changes are added in parts of %v", parts)
		}
		s.hub.Close()
		s.wait()
	})
}

// A change that is made while others are added is added as well.
func TestAChangeDuringAnAdditionIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &served{whole: []checkpoint.Change{{Seq: 1}}}
		s.log.during = func() { s.change(1) }
		s.start()
		time.Sleep(time.Minute)
		if got := s.added(); got != "h/p1 h/p2 " {
			t.Errorf("%q is added", got)
		}
		s.hub.Close()
		s.wait()
	})
}

// stuckLog is a history whose server accepts a request and never answers it.
type stuckLog struct{ fakeLog }

func (*stuckLog) AddWindowChanges(ctx context.Context, _, _ string, _ []checkpoint.Change) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestTheEndWaitsSecondsForAHistoryThatIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := serve.NewLog[windowlock.Change](1, 10, 0, nil)
		wait := serve.RecordChanges(serve.RecordOptions{
			Changes: hub, History: &stuckLog{}, Host: "h", Path: "/p", Log: slog.New(slog.DiscardHandler),
			Read: func() []checkpoint.Change { return []checkpoint.Change{{Seq: 1}} },
		})
		began := time.Now()
		hub.Close()
		wait()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// The changes are of this machine unless another name is set.
func TestTheLogNamesTheMachine(t *testing.T) {
	var log fakeLog
	hub := serve.NewLog[windowlock.Change](1, 10, 0, nil)
	wait := serve.RecordChanges(serve.RecordOptions{
		Changes: hub, History: &log, Path: "/p", Log: slog.New(slog.DiscardHandler),
		Read: func() []checkpoint.Change { return []checkpoint.Change{{Seq: 1}} },
	})
	hub.Close()
	wait()
	if host, err := os.Hostname(); err != nil || len(log.changes) != 1 || log.changes[0].Host != host {
		t.Errorf("the log has %+v, the machine is %q, %v", log.changes, host, err)
	}
}

// Both sources list the same, begin with the newest and go on with what is new.
func TestSourcesGoOnWhereTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	log := &fakeLog{}
	ofJournal, ofHistory := serve.JournalChanges(path, 2, "shown"), serve.HistoryChanges(log, 2)
	next := func(name string, source serve.ChangeSource) string {
		all, err := source(t.Context())
		if err != nil {
			t.Fatal(name, err)
		}
		var b strings.Builder
		for _, c := range all {
			fmt.Fprintf(&b, "%s %s %s\n", c.Kind, c.What, c.Changed[0].After)
		}
		return b.String()
	}
	if got := next("no journal", serve.JournalChanges(path, 2)); got != "" {
		t.Errorf("without a journal there are %q", got)
	}
	j, err := checkpoint.Open(path, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := func(n int) []byte { return fmt.Appendf(nil, `{"shown":%d,"rules":%d}`, n, n/2) }
	if _, err := j.Start("s", state(0)); err != nil {
		t.Fatal(err)
	}
	n := 0
	edit := func(until int) {
		for ; n < until; n++ {
			if _, err := j.Edit("s", fmt.Sprint("edit ", n), state(n), state(n+1)); err != nil {
				t.Fatal(err)
			}
		}
		log.changes = nil
		if err := log.AddWindowChanges(t.Context(), "h", "/p", checkpoint.Changes(j, "shown")); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		until int
		want  string
	}{{6, "edit edit 3 2\nedit edit 5 3\n"}, {6, ""}, {12, "edit edit 7 4\nedit edit 9 5\nedit edit 11 6\n"}} {
		edit(step.until)
		for name, source := range map[string]serve.ChangeSource{"journal": ofJournal, "history": ofHistory} {
			if got := next(name, source); got != step.want {
				t.Errorf("%s: after %d edits\n%swant\n%s", name, step.until, got, step.want)
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
