package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/checkpoint"
)

// Programs in one folder read, ask and change the rules at the same time: each sees the others' changes, and the lock
// is held only during a change.
func TestProgramsSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	b.run(0, "rules", "add", "*nano*")
	first := startVterm(t, b.dir, b.env)
	first.until("the first program", func(f string) bool { return strings.Contains(f, ready) })
	if out := b.run(0, "ask", "which models are hidden?"); !strings.Contains(string(out), "nano") {
		t.Errorf("ask answers %s", out)
	}
	b.run(0, "rules", "add", "o3*")
	first.until("what another program did", func(f string) bool {
		return strings.Contains(footer(f), "winnow rules add (process ") && strings.Contains(f, "o3*")
	})
	b.run(0, "ask", "hide every mini model")
	first.until("what ask did", func(f string) bool {
		return strings.Contains(footer(f), "winnow ask (process ") && strings.Contains(f, "mini")
	})

	second := startVterm(t, b.dir, b.env)
	second.until("the second program", func(f string) bool { return strings.Contains(f, ready) && strings.Contains(f, "o3*") })
	if f, _ := second.frame(); strings.Contains(f, "were not saved") || strings.Contains(f, "read only") {
		t.Errorf("the second program offers a recovery or is read-only:\n%s", f)
	}
	first.to("VIEW")
	first.press("\t")
	first.until("the pane", func(f string) bool { return modeOf(f) == "PANE" })
	first.press("x") // delete the rule
	second.until("what the first program does", func(f string) bool {
		return strings.Contains(footer(f), fmt.Sprintf("winnow (process %d) ", first.cmd.Process.Pid)) && strings.Contains(f, "stopped hiding *nano*")
	})
	second.to("VIEW")
	second.press("\t")
	second.until("the pane", func(f string) bool { return modeOf(f) == "PANE" })
	second.press("x")
	first.until("what the second program does", func(f string) bool {
		return strings.Contains(footer(f), fmt.Sprintf("winnow (process %d) ", second.cmd.Process.Pid)) && strings.Contains(f, "stopped hiding o3*")
	})
	b.run(0, "rules", "save")
	for name, screen := range map[string]*vterm{"first": first, "second": second} {
		screen.until("the "+name+" without unsaved rules", func(f string) bool { return !strings.Contains(f, "unsaved") })
	}
	if err := syscall.Kill(first.cmd.Process.Pid, syscall.SIGKILL); err != nil { // a killed program must not block the other
		t.Fatal(err)
	}
	<-first.ended
	b.run(0, "rules", "add", "*turbo*")
	second.until("what comes after", func(f string) bool { return strings.Contains(f, "*turbo*") })
}

// Two programs that are in one session show each other's messages, which are then also in their requests.
func TestTwoProgramsInOneSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	b.run(0, "ask", "show the rules of openai")
	first := startVterm(t, b.dir, b.env, "--continue")
	first.until("the first program", func(f string) bool { return strings.Contains(f, "1/1") })
	second := startVterm(t, b.dir, b.env, "--continue")
	second.until("the second program", func(f string) bool { return strings.Contains(f, "1/1") })
	first.paste("list the providers")
	first.wait("› list the providers")
	first.press("\n")
	first.until("its own message", func(f string) bool { return strings.Contains(f, "2/2") })
	if f, _ := first.frame(); strings.Contains(f, "another winnow") {
		t.Errorf("its own message is announced as another program's:\n%s", f)
	}
	second.until("the message of the first program", func(f string) bool {
		return strings.Contains(f, "list the providers") && strings.Contains(f, "2/2") && strings.Contains(footer(f), "another winnow added 1 message")
	})
	b.run(0, "ask", "--continue", "show the models of openai")
	for name, screen := range map[string]*vterm{"first": first, "second": second} {
		screen.until("what ask added, in the "+name, func(f string) bool {
			return strings.Contains(f, "show the models of openai") && strings.Contains(f, "3/3")
		})
	}
}

// While another program writes, a program that only reads works, and a program that would change something reports
// who holds which lock.
func TestAProgramWaitsForAnotherThatWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	b.run(0, "rules", "add", "*nano*")
	home := ""
	for _, v := range b.env {
		if dir, ok := strings.CutPrefix(v, "WINNOW_HOME="); ok {
			home = dir
		}
	}
	found, err := filepath.Glob(filepath.Join(home, "state", "journals", "*", "journal"))
	if err != nil || len(found) != 1 {
		t.Fatalf("journals %q, %v", found, err)
	}
	j, err := checkpoint.Open(found[0], checkpoint.Options{Program: "winnow serve"})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := j.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	holder := fmt.Sprintf("timed out waiting for the writer lock: winnow serve (process %d) has held it since ", os.Getpid())
	for _, args := range [][]string{{"ask", "which models are hidden?"}, {"rules", "list"}, {"rules", "diff"}, {"checkpoints", "list"}} {
		cmd := exec.CommandContext(t.Context(), "winnow", args...)
		cmd.Dir, cmd.Env = b.dir, b.env
		out, err := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != 0 && status != statusPending || strings.Contains(string(out), holder) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	var writers sync.WaitGroup
	for _, args := range [][]string{{"ask", "hide every mini model"}, {"rules", "add", "*mini*"}} {
		writers.Go(func() {
			cmd := exec.CommandContext(t.Context(), "winnow", args...)
			var stderr strings.Builder
			cmd.Dir, cmd.Env, cmd.Stderr = b.dir, b.env, &stderr
			err := cmd.Run()
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			said, next := lines[max(0, len(lines)-2)], lines[len(lines)-1]
			if cmd.ProcessState.ExitCode() != 1 || strings.Count(stderr.String(), holder) != 1 || !strings.HasPrefix(said, "winnow: ") || !strings.Contains(said, holder) || !strings.HasPrefix(next, "try again ") {
				t.Errorf("%q: %v\n%s", args, err, stderr.String())
			}
		})
	}
	writers.Wait()
	unlock()
	b.run(0, "rules", "add", "*mini*")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// Three agents add 15 rules each at the same time, each through its own server.
func TestThreeServersLoseNoRule(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	const servers, each = 3, 15
	var agents []agent
	for range servers {
		agents = append(agents, b.connect())
	}
	var all sync.WaitGroup
	for n, a := range agents {
		all.Go(func() {
			for i := range each {
				res, err := a.client.CallTool(context.Background(), &sdk.CallToolParams{Name: "add_ignore_rule", Arguments: map[string]any{"pattern": fmt.Sprintf("rule-%d-%02d", n, i)}})
				if err != nil || res.IsError {
					t.Errorf("server %d, rule %d: %v, %+v", n, i, err, res)
				}
			}
		})
	}
	all.Wait()
	out := string(b.run(0, "rules", "list", "--json"))
	for n := range servers {
		for i := range each {
			if rule := fmt.Sprintf("rule-%d-%02d", n, i); !strings.Contains(out, rule) {
				t.Errorf("%s is lost", rule)
			}
		}
	}
}

// When several programs ask and change rules at the same time, no change is lost.
func TestAsksAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	const asks = 6
	var all sync.WaitGroup
	for n := range asks {
		all.Go(func() {
			cmd := exec.CommandContext(context.Background(), "winnow", "ask", fmt.Sprintf("ignore rule-%d*", n))
			cmd.Dir, cmd.Env = b.dir, b.env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("ask %d: %v\n%s", n, err, out)
			}
		})
	}
	all.Wait()
	out := string(b.run(0, "rules", "list"))
	for n := range asks {
		if rule := fmt.Sprintf("rule-%d*", n); !strings.Contains(out, rule) {
			t.Errorf("%s is lost:\n%s", rule, out)
		}
	}
}
