package aftersave

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"winnow/adapters/config"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// waiting starts a run whose command and its child wait; child is the process id of the child.
func waiting(t *testing.T, o Options) (r *Runner, child int, results chan assistant.Applied) {
	t.Helper()
	dir := t.TempDir()
	gate, pids := filepath.Join(dir, "gate"), filepath.Join(dir, "pids")
	for _, pipe := range []string{gate, pids} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	results = make(chan assistant.Applied, 1)
	o.Command = config.Words{"sh", "-c", "cat < " + gate + " & echo $! > " + pids + "; wait"}
	o.Environ, o.Redactor, o.Done = os.Environ(), &safetext.Redactor{}, func(a assistant.Applied) { results <- a }
	r = New(o)
	t.Cleanup(func() { _ = r.Close() })
	r.Saved()
	raw, err := os.ReadFile(pids) // waits for the command
	if err == nil {
		child, err = strconv.Atoi(strings.TrimSpace(string(raw)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, child, results
}

func TestACancelledCommandEndsWithItsChildren(t *testing.T) {
	r, child, results := waiting(t, Options{Check: func(context.Context) (string, error) { t.Error("the proxy is asked"); return "", nil }})
	r.CancelApplied()
	if a := <-results; a.State != assistant.AppliedCancelled || !strings.Contains(string(a.Message), "cancelled. The rules are saved") {
		t.Errorf("told: %+v", a)
	}
	for deadline := time.Now().Add(30 * time.Second); syscall.Kill(child, 0) == nil && !zombie(child); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the child is still running")
		}
	}
	r.CancelApplied() // nothing runs
}

// zombie reports whether a process has ended, although nothing has waited for it: where no init process does, a child
// whose parent has ended stays one.
func zombie(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(raw), ") Z ")
}

func TestACancelledCheckIsTold(t *testing.T) {
	asked, results := make(chan bool), make(chan assistant.Applied, 1)
	r := New(Options{
		Command: config.Words{"true"}, Environ: os.Environ(), Redactor: &safetext.Redactor{}, Done: func(a assistant.Applied) { results <- a },
		Check: func(ctx context.Context) (string, error) { asked <- true; <-ctx.Done(); return "", ctx.Err() },
	})
	t.Cleanup(func() { _ = r.Close() })
	r.Saved()
	<-asked
	r.CancelApplied()
	if a := <-results; a.State != assistant.AppliedCancelled || !strings.HasPrefix(string(a.Message), "The check") {
		t.Errorf("told: %+v", a)
	}
}
