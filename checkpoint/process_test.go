package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/checkpoint/jsondelta"
)

// childEnv makes the test binary a process that writes to the journal it
// names, until it is killed.
const childEnv = "WINNOW_CHECKPOINT_CHILD"

// RunChild never returns in such a process.
func RunChild() {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Println("error", writeForever(path))
		os.Exit(1)
	}
}

// writeForever prints a line for all that it made durable.
func writeForever(path string) error {
	j, err := Open(path, Options{FullEvery: 3})
	if err != nil {
		return err
	}
	if _, err := j.Start("child", doc(0)); err != nil {
		return err
	}
	fmt.Println("open")
	for n := 0; ; n++ {
		c, err := j.Add(Checkpoint{PairSeq: int64(n + 1)}, doc(n))
		if err != nil {
			return err
		}
		fmt.Println("add", c.ID, n)
		if err := j.Record(doc(n+1), []ToolSummary{{Name: "t", OK: true}}); err != nil {
			return err
		}
		fmt.Println("record", n+1)
	}
}

func TestKilledProcessLosesNothingItReported(t *testing.T) {
	path := journalPath(t)
	const rounds = 20
	durable := map[string]int{} // id to n, over all rounds
	for round := range rounds {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+path)
		out := must[interface{ Read([]byte) (int, error) }](t)(child.StdoutPipe())
		ok(t, child.Start())
		lines := bufio.NewScanner(out)
		last := -1
		for seen := 0; lines.Scan(); seen++ {
			if seen == 1 {
				beside, err := Open(path, Options{})
				if err != nil || beside.Alone() || !beside.LastRun().Closed {
					t.Errorf("Open beside process %d = %v", child.Process.Pid, err)
				} else if err := beside.Close(); err != nil {
					t.Errorf("Close beside process %d = %v", child.Process.Pid, err)
				}
				if r, err := Open(path, Options{ReadOnly: true}); err != nil || r.Report().Damaged {
					t.Errorf("ReadOnly beside a writer: %v", err)
				}
			}
			if seen == 2+round { // and go on reading what it printed until then
				ok(t, child.Process.Kill())
			}
			var id string
			var n int
			switch word, _, _ := strings.Cut(lines.Text(), " "); word {
			case "add":
				must[int](t)(fmt.Sscanf(lines.Text(), "add %s %d", &id, &n))
				durable[id] = n
			case "record":
				must[int](t)(fmt.Sscanf(lines.Text(), "record %d", &last))
			case "error":
				t.Fatal(lines.Text())
			}
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		j, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("round %d: a dead process blocks: %v", round, err)
		}
		if r := j.Report(); r.Damaged || j.LastRun().Closed || j.LastRun().Session != "child" {
			t.Fatalf("round %d: %+v, %+v", round, r, j.LastRun())
		}
		for id, n := range durable {
			got, err := j.State(id)
			ok(t, err)
			wantState(t, "state of "+id, got, doc(n))
		}
		// What is there may be one step newer than what was printed.
		if now := j.Current(); last >= 0 && !jsondelta.Equal(now, doc(last)) && !jsondelta.Equal(now, doc(last+1)) {
			t.Fatalf("round %d: current = %s after record %d", round, now, last)
		}
		ok(t, j.Close())
	}
}

// Each of two processes that have a journal open sees what the other one wrote before it
// writes, and a state that was read before is refused.
func TestTwoWriters(t *testing.T) {
	path := journalPath(t)
	since := time.Date(2026, 11, 22, 14, 3, 0, 0, time.Local)
	adopted := ""
	a := open(t, path, Options{Program: "first", Now: func() time.Time { return since }})
	b := open(t, path, Options{Program: "second", Adopt: func(j *Journal) error { adopted += "b"; return nil }})
	if !a.Alone() || b.Alone() {
		t.Errorf("alone: %v, %v", a.Alone(), b.Alone())
	}
	must[Checkpoint](t)(a.Start("s", doc(1)))
	if _, err := b.Edit("t", "stale", doc(0), doc(5)); !errors.Is(err, ErrStale) {
		t.Errorf("a state from before the other's change: %v", err)
	}
	wantState(t, "what b knows", b.Current(), doc(1))
	must[Checkpoint](t)(b.Edit("t", "edit", doc(1), doc(2)))
	unlock := must[func()](t)(a.Lock(t.Context()))
	wantState(t, "what a knows", a.Current(), doc(2))
	var locked *LockedError
	_, err := b.TryLock()
	want := fmt.Sprintf("timed out waiting for the writer lock: first (process %d) has held it since 2026-11-22 14:03", os.Getpid())
	if !errors.As(err, &locked) || err.Error() != want {
		t.Errorf("the lock of another: %v, want %s", err, want)
	}
	ok(t, b.ForgetRollback()) // does not wait
	must[Checkpoint](t)(a.Add(Checkpoint{Session: "s", PairSeq: 1}, doc(2)))
	ok(t, a.Record(doc(3), []ToolSummary{{Name: "tool", OK: true}}))
	c := open(t, path, Options{}) // reads while another writes
	wantState(t, "what c reads", c.Current(), doc(3))
	if moved, err := b.Follow(); !moved || err != nil || adopted != "bb" {
		t.Errorf("Follow = %v, %v; adopted %q", moved, err, adopted)
	}
	wantState(t, "what b follows", b.Current(), doc(3))
	if moved, err := b.Follow(); moved || err != nil {
		t.Errorf("Follow again = %v, %v", moved, err)
	}
	unlock()
	must[Checkpoint](t)(c.Edit("u", "edit", doc(3), doc(4)))
	ok(t, a.Close())
	if l := c.LastWriter(); l.Program != "" && l.Program != "first" {
		t.Errorf("LastWriter = %+v", l)
	}
	if len(c.List("")) != 4 {
		t.Errorf("%d checkpoints, want 4: %+v", len(c.List("")), c.List(""))
	}
}

func TestAdoptThatFailsIsTriedAgain(t *testing.T) {
	path := journalPath(t)
	a := open(t, path, Options{})
	fail := errors.New("no")
	b := open(t, path, Options{Adopt: func(*Journal) error { return fail }})
	must[Checkpoint](t)(a.Start("s", doc(1)))
	for range 2 {
		if _, err := b.Lock(t.Context()); !errors.Is(err, fail) {
			t.Errorf("Lock = %v", err)
		}
	}
	fail = nil
	unlock := must[func()](t)(b.Lock(t.Context()))
	unlock()
}

// Processes that write at the same time lose no record of another.
func TestManyWriters(t *testing.T) {
	path := journalPath(t)
	const writers, each = 4, 15
	n := 0 // the state, as the journal orders it
	var all sync.WaitGroup
	for w := range writers {
		j := open(t, path, Options{FullEvery: 3})
		all.Go(func() {
			for range each {
				unlock, err := j.Lock(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				if before := j.Current(); n > 0 && !jsondelta.Equal(before, doc(n)) {
					t.Errorf("the state is %s, want %d", before, n)
				}
				n++
				if _, err := j.Edit(fmt.Sprint(w), "edit", doc(n-1), doc(n)); err != nil {
					t.Error(err)
				}
				unlock()
			}
		})
	}
	all.Wait()
	j := open(t, path, Options{})
	wantState(t, "the last state", j.Current(), doc(writers*each))
	if got := len(j.List("")); got != writers*each || j.Report().Damaged {
		t.Errorf("%d checkpoints, %+v", got, j.Report())
	}
}

// A crash is noticed by the next process alone; a process that goes on is no crash. The
// session that crashed is the one that has not ended.
func TestACrashAndAProcessThatGoesOn(t *testing.T) {
	path := journalPath(t)
	a, b := open(t, path, Options{}), open(t, path, Options{})
	must[Checkpoint](t)(a.Start("s", doc(1)))
	unlock := must[func()](t)(b.Lock(t.Context()))
	must[Checkpoint](t)(b.Start("beside", doc(1)))
	unlock()
	ok(t, b.Close())
	c := open(t, path, Options{})
	if !c.LastRun().Closed {
		t.Error("a process that goes on is a crash")
	}
	ok(t, c.Close())
	crash(t, a)
	d := open(t, path, Options{})
	if run := d.LastRun(); run.Closed || run.Session != "s" {
		t.Errorf("after a crash the last run is %+v", run)
	}
	ok(t, d.Close())
	if run := open(t, path, Options{}).LastRun(); !run.Closed {
		t.Errorf("after an end the last run is %+v", run)
	}
}
