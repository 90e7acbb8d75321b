package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"

	"winnow/checkpoint/jsondelta"
)

// faults makes the files of a journal fail at the call with a given number.
type faults struct {
	mu    sync.Mutex
	calls int
	at    int   // 0: never
	lasts bool  // all later calls fail too
	err   error // what the call returns
}

func (f *faults) fail() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.at > 0 && (f.calls == f.at || f.lasts && f.calls > f.at) {
		return f.err
	}
	return nil
}

func (f *faults) set(at int, lasts bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.at, f.lasts, f.err = 0, at, lasts, err
}

func (f *faults) wrap(raw *os.File) file { return faultyFile{raw, f} }

type faultyFile struct {
	*os.File
	faults *faults
}

// WriteAt writes half of p before it fails, as a full disk does.
func (f faultyFile) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.faults.fail(); err != nil {
		n, _ := f.File.WriteAt(p[:len(p)/2], offset)
		return n, err
	}
	return f.File.WriteAt(p, offset)
}

func (f faultyFile) Sync() error { return f.faults.fail() }

func (f faultyFile) Truncate(size int64) error {
	if err := f.faults.fail(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// snapshot is all that a journal answers, as text.
func snapshot(t *testing.T, j *Journal) string {
	t.Helper()
	step, _ := j.LastStep()
	saved, _ := j.SavedState()
	pending := must[*Intent](t)(j.Pending())
	text, err := json.Marshal(map[string]any{"list": j.List(""), "now": j.Current(), "saved": saved, "pending": pending, "step": step})
	ok(t, err)
	return string(text)
}

func TestFailedWriteChangesNothingAndCanBeRetried(t *testing.T) {
	calls := map[string]func(*Journal) error{
		"Start":  func(j *Journal) error { return second(j.Start("s2", doc(60))) },
		"Resume": func(j *Journal) error { return second(j.Start("s", doc(60))) },
		"Add":    func(j *Journal) error { return second(j.Add(Checkpoint{PairSeq: 60}, doc(60))) },
		"Record": func(j *Journal) error { return j.Record(doc(60), []ToolSummary{{Name: "x", OK: true}}) },
		"Edit":   func(j *Journal) error { return second(j.Edit("", "e", doc(60), doc(61))) },
		"Saved":  func(j *Journal) error { return j.Saved(doc(60)) },
		"Begin": func(j *Journal) error {
			return second(j.BeginRollback(j.List("")[0].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
		},
	}
	for name, call := range calls {
		for _, lasts := range []bool{false, true} {
			for at := 1; at <= 2; at++ { // write, sync; when it lasts the cut fails too
				for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
					var f faults
					path := journalPath(t)
					j := open(t, path, Options{wrap: f.wrap})
					must[Checkpoint](t)(j.Start("s", doc(0)))
					must[Checkpoint](t)(j.Add(Checkpoint{}, doc(1)))
					what := fmt.Sprintf("%s, call %d, lasts %v, %v", name, at, lasts, cause)
					before := snapshot(t, j)
					f.set(at, lasts, cause)
					if err := call(j); !errors.Is(err, cause) {
						t.Fatalf("%s: %v", what, err)
					}
					if after := snapshot(t, j); after != before {
						t.Fatalf("%s: memory changed\nfrom %s\nto   %s", what, before, after)
					}
					f.set(0, false, nil)
					ok(t, call(j))
					want := snapshot(t, j)
					crash(t, j)
					j = open(t, path, Options{})
					if got := snapshot(t, j); got != want || j.Report().Damaged || j.Report().TornBytes > 0 {
						t.Fatalf("%s: after retry and open\n     %s\nwant %s\n%+v", what, got, want, j.Report())
					}
				}
			}
		}
	}
}

func TestFinishThatFailsStaysPending(t *testing.T) {
	for _, end := range []func(*Journal, Intent) error{(*Journal).Finish, (*Journal).Abandon} {
		var f faults
		path := journalPath(t)
		j := open(t, path, Options{wrap: f.wrap})
		start := must[Checkpoint](t)(j.Start("s", doc(0)))
		ok(t, j.Record(doc(1), nil))
		in := must[Intent](t)(j.BeginRollback(start.ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
		f.set(1, true, syscall.EIO)
		if err := end(j, in); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if p := must[*Intent](t)(j.Pending()); p == nil || p.ID != in.ID {
			t.Errorf("Pending = %+v", p)
		}
		f.set(0, false, nil)
		ok(t, end(j, in))
		if p := must[*Intent](t)(j.Pending()); p != nil {
			t.Errorf("Pending = %+v", p)
		}
	}
}

func TestDiskFullWhileRepairing(t *testing.T) {
	whole, states, list := sample(t)
	whole[len(whole)/2] ^= 1
	path := write(t, whole)
	for at := 1; at <= 2; at++ {
		var f faults
		f.set(at, true, syscall.ENOSPC)
		if _, err := Open(path, Options{wrap: f.wrap}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Open = %v, want ENOSPC", err)
		}
		if got := must[[]byte](t)(os.ReadFile(path)); !slices.Equal(got, whole) {
			t.Fatal("the damaged file was changed")
		}
	}
	j := open(t, path, Options{})
	checkStates(t, j, states)
	if len(j.List("")) == 0 || len(j.List("")) > len(list) {
		t.Errorf("List = %v", ids(j.List("")))
	}
}

func TestDiskFullWhileCompacting(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{wrap: quiet})
	for n := range keepSessions + 1 {
		must[Checkpoint](t)(j.Start(fmt.Sprint("s", n), doc(n)))
	}
	must[Checkpoint](t)(j.Start("s", doc(0)))
	ok(t, j.Close())
	var f faults
	f.set(1, true, syscall.ENOSPC)
	j = open(t, path, Options{wrap: f.wrap, compactAbove: 1})
	f.set(0, false, nil)
	if len(j.List("s0")) != 1 || len(j.List("s")) != 1 {
		t.Errorf("report %+v, list %v", j.Report(), j.List("s"))
	}
	must[Checkpoint](t)(j.Add(Checkpoint{}, doc(1)))
	if left, err := os.ReadDir(path[:len(path)-len("/rules.journal")]); err != nil || len(left) != 3 { // the journal and its locks
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestManyGoroutines(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{wrap: quiet})
	must[Checkpoint](t)(j.Start("s", doc(0)))
	const each = 30
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for n := range each {
				c, err := j.Add(Checkpoint{}, doc(100*g+n))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := j.State(c.ID); err != nil || !jsondelta.Equal(got, doc(100*g+n)) {
					t.Errorf("State = %s, %v", got, err)
				}
				j.List("s")
				j.LastStep()
				j.Current()
				j.Clean()
			}
		})
	}
	all.Wait()
	if got := len(j.List("s")); got != 4*each+1 {
		t.Errorf("%d checkpoints", got)
	}
}
