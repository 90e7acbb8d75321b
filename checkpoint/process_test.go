package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"winnow/checkpoint/jsondelta"
	"winnow/checkpoint/privatefile"
)

// childEnv makes the test binary a process that writes to the journal it
// names, until it is killed.
const childEnv = "WINNOW_CHECKPOINT_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Println("error", writeForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
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
				_, err := Open(path, Options{})
				var locked *LockedError
				if !errors.As(err, &locked) || locked.PID != child.Process.Pid {
					t.Errorf("Open beside process %d = %v, want a *LockedError", child.Process.Pid, err)
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

func TestSecondWriterInOneProcess(t *testing.T) {
	path := journalPath(t)
	since := time.Date(2026, 11, 22, 14, 3, 0, 0, time.Local)
	j := open(t, path, Options{Program: "winnow test", Now: func() time.Time { return since }})
	_, err := Open(path, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Fatalf("Open = %v, want a *LockedError", err)
	}
	want := fmt.Sprintf("winnow test (process %d) is already making changes here, since 2026-11-22 14:03", os.Getpid())
	if err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
	ok(t, os.WriteFile(path+lockSuffix, []byte("12\n"), privatefile.FileMode)) // of an earlier version
	if _, err := Open(path, Options{}); err.Error() != "another winnow (process 12) is already making changes here" {
		t.Errorf("error is %q", err)
	}
	ok(t, j.Close())
	open(t, path, Options{})
}

func TestBesideAWriterTheJournalIsReadAndNotWritten(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{Program: "first"})
	must[Checkpoint](t)(j.Start("s", doc(1)))
	c := must[Checkpoint](t)(j.Add(Checkpoint{PairSeq: 1}, doc(1)))
	ok(t, j.Record(doc(2), nil))
	back := must[Checkpoint](t)(j.Edit("s", "edit", doc(2), doc(3)))
	ok(t, j.Finish(must[Intent](t)(j.BeginRollback(back.ID, ScopeRules, 0, "")))) // can be undone
	b := open(t, path, Options{Beside: true})
	if l := b.Locked(); l == nil || l.Program != "first" || l.PID != os.Getpid() {
		t.Fatalf("Locked = %+v", l)
	}
	wantState(t, "the current state", b.Current(), doc(2))
	if run := b.LastRun(); !run.Closed || run.Session != "" {
		t.Errorf("LastRun = %+v: the other run goes on", run)
	}
	var locked *LockedError
	for what, err := range map[string]error{
		"Add":      second(b.Add(Checkpoint{}, doc(2))),
		"Edit":     second(b.Edit("", "x", doc(2), doc(3))),
		"Record":   b.Record(doc(3), nil),
		"Rollback": second(b.BeginRollback(c.ID, ScopeBoth, 0, "")),
	} {
		if !errors.As(err, &locked) {
			t.Errorf("%s = %v, want a *LockedError", what, err)
		}
	}
	must[Checkpoint](t)(b.Start("t", doc(2))) // record nothing
	ok(t, b.Saved(doc(2)))
	ok(t, b.ForgetRollback())
	intent := must[Intent](t)(j.BeginRollback(c.ID, ScopeBoth, 0, ""))
	if pending, err := open(t, path, Options{Beside: true}).Pending(); pending != nil || err != nil {
		t.Errorf("Pending = %v, %v: the other process finishes its own rollback", pending, err)
	}
	ok(t, j.Abandon(intent))
	ok(t, b.Close())
	ok(t, j.Record(doc(4), nil))
	ok(t, j.Close())
	again := open(t, path, Options{Beside: true}) // nobody writes: it is the writer
	if again.Locked() != nil {
		t.Errorf("Locked = %v", again.Locked())
	}
	ok(t, again.Record(doc(5), nil))
}
