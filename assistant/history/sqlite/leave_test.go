package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// after is a context that ends when it has been asked so often.
type after struct {
	context.Context
	left atomic.Int64
	done chan struct{}
}

func endsAfter(n int) *after {
	a := &after{Context: context.Background(), done: make(chan struct{})}
	a.left.Store(int64(n))
	return a
}

func (a *after) Done() <-chan struct{} {
	a.ask()
	return a.done
}

func (a *after) Err() error {
	a.ask()
	select {
	case <-a.done:
		return context.Canceled
	default:
		return nil
	}
}

func (a *after) ask() {
	if a.left.Add(-1) == 0 {
		close(a.done)
	}
}

// openIntact opens the database, which nothing has been removed from.
func openIntact(t *testing.T, path string) *store {
	t.Helper()
	s := open(t, path, Options{})
	if r := s.Report(); r.LostWAL || r.Salvage != nil {
		t.Errorf("Report = %+v; nothing was removed", r)
	}
	return s
}

// TestTheLogOfADeadOwnerIsCheckpointedByAnother: the last to close a database checkpoints
// the log and removes it, also that of an owner who died meanwhile.
// Nothing is lost by that, and nothing must be said to be.
func TestTheLogOfADeadOwnerIsCheckpointedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	c := startChild(t, "hold", path)
	s := open(t, path, Options{})
	c.kill()
	put(t, s, pair("x", "q", "a"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Fatal("the log is still there: this test shows nothing")
	}
	s = openIntact(t, path)
	if s.Report().Interrupted != 1 {
		t.Errorf("%d pairs of the dead owner are ended", s.Report().Interrupted)
	}
}

// TestAnOpenThatFailsLosesNothing: an Open that is given up at any point leaves
// a database that a dead owner had open as it was, or checkpointed.
func TestAnOpenThatFailsLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	failed := 0
	for n := 1; n < 400; n += 1 + n/5 {
		startChild(t, "hold", path).kill()
		s, err := openStore(endsAfter(n), path, Options{})
		if err == nil {
			s.Close()
			break
		}
		failed++
		openIntact(t, path).Close()
	}
	if failed == 0 {
		t.Error("no Open was given up")
	}
}

// A read whose context ends between two rows found no damage.
func TestACancelledReadIsNotDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path, Options{OnDamage: func(e *history.DamageError) { t.Errorf("reported %v", e) }})
	for range 3 {
		put(t, s, pair("x", "q", "a"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Read(ctx, func(tx *sqlstore.Tx) {
		tx.Each("SELECT seq FROM pair", nil, func(scan sqlstore.Scanner) {
			cancel()
			for tx.Err() == nil { // until database/sql has closed the rows
				var seq int64
				scan(&seq)
			}
		})
	})
	if !errors.Is(err, context.Canceled) || damaged(err) {
		t.Errorf("Read = %v; want that the context was cancelled", err)
	}
	s.Close()
	openIntact(t, path)
}

// An Open that found damage only while it connected, and whose salvage then failed, has removed the log.
// The next Open salvages the file and does not call the log lost.
func TestDamageFoundWhileConnectingIsSalvagedNextTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	c := startChild(t, "hold", path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE pair SET star = 'x'")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	c.kill()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{step: func(name string) {
		if name == "salvage" {
			cancel()
		}
	}}
	if _, err := openStore(ctx, path, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("Open = %v; want that its salvage was cancelled", err)
	}
	if r := open(t, path, Options{}).Report(); r.Salvage == nil || r.LostWAL {
		t.Errorf("Report = %+v; want a salvage and no lost log", r)
	}
}

// A large database that a dead process had open and that is closed before it was checked
// lost nothing, and the next Open checks it.
func TestClosedBeforeItWasChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	put(t, s, pair("x", "q", "a"))
	large := `"` + strings.Repeat("x", maxCheckAtOpen) + `"`
	if err := errors.Join(s.SetSessionState(t.Context(), "x", []byte(large)), s.Close()); err != nil {
		t.Fatal(err)
	}
	startChild(t, "hold", path).kill()
	for range 2 {
		s, err := openStore(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.checkDue.Load() || s.Report().LostWAL {
			t.Errorf("a check is due: %v; Report = %+v", s.checkDue.Load(), s.Report())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	checked := open(t, path, Options{})
	checked.background.Wait()
	if err := checked.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, path, Options{}); again.checkDue.Load() {
		t.Error("a checked database is to be checked again")
	}
}

// TestKilledWhileClosing: wherever the process is killed that closes the
// database, before the check of the whole file, while
// checkpointing the log, the next Open finds nothing missing.
func TestKilledWhileClosing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	for round := range 12 {
		c := startChild(t, "close", path)
		for range round * round * 3 { // the further, the later it strikes
			c.out.Scan()
		}
		c.kill()
		s := openIntact(t, path)
		if got := len(seqs(t, s, "")); got < (round+1)*closePairs {
			t.Errorf("round %d: %d pairs, want %d", round, got, (round+1)*closePairs)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// closePairs is how many pairs a child writes before it closes.
const closePairs = 60

// childClose writes pairs, and closes.
func childClose(path string) {
	s := childOpen(path, Options{})
	b := &assistant.Batch{}
	for range closePairs {
		b.Put = append(b.Put, pair("closed", "some words for the index, "+assistant.NewID(time.Now()), string(make([]byte, 20_000))))
	}
	if err := s.Commit(context.Background(), b); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("ready\n")
	go func() { // as far as somebody reads
		for {
			os.Stdout.WriteString("closing\n")
		}
	}()
	s.Close()
	awaitEnd()
}
