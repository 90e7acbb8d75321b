package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A second program, ask and mcp beside a running program read and ask; what would change
// something names the program that has the window.
func TestBesideARunningProgram(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	b.run(0, "rules", "add", "*nano*")
	first := startVterm(t, b.dir, b.env)
	first.until("the first program", func(f string) bool { return strings.Contains(f, ready) })
	holder := fmt.Sprintf("winnow (process %d) is already making changes here, since ", first.cmd.Process.Pid)

	if out := b.run(0, "ask", "which models are hidden?"); !strings.Contains(string(out), "nano") {
		t.Errorf("ask answers %s", out)
	}
	if strings.Contains(b.stderr, holder) {
		t.Errorf("ask that only reads says %q", b.stderr)
	}
	for _, args := range [][]string{
		{"ask", "hide every mini model"},
		{"ask", "--yes", "save the rules"},
		{"rules", "add", "*mini*"},
		{"rules", "remove", "*nano*"},
		{"rules", "save"},
		{"rules", "discard"},
		{"rules", "restore", "original"},
		{"checkpoints", "rollback", "1"},
		{"serve", "--http", "127.0.0.1:0"},
	} {
		b.run(1, args...)
		lines := strings.Split(strings.TrimSpace(b.stderr), "\n")
		said, next := lines[max(0, len(lines)-2)], lines[len(lines)-1]
		if strings.Count(b.stderr, holder) != 1 || !strings.HasPrefix(said, "winnow: ") || !strings.Contains(said, holder) || !strings.HasPrefix(next, "close it, ") {
			t.Errorf("%q says\n%s", args, b.stderr)
		}
	}
	if b.run(0, "--plain"); strings.Count(b.stderr, "read only: "+holder) != 1 {
		t.Errorf("the lines say %q", b.stderr)
	}
	a := b.connect()
	if got := a.call("get_models_matching_pattern", map[string]any{"pattern": "*nano*"}); !got.Success {
		t.Errorf("a reading tool: %+v", got)
	}
	if got := a.call("add_ignore_rule", map[string]any{"pattern": "*mini*"}); got.Success || !strings.Contains(got.Message, holder) {
		t.Errorf("a writing tool: %+v", got)
	}

	second := startVterm(t, b.dir, b.env)
	second.until("read only in header and pane", func(f string) bool {
		head, rest, _ := strings.Cut(f, "\n")
		return strings.Contains(head, "read only") && strings.Contains(rest, "read only: winnow") && strings.Contains(f, ready)
	})
	if f, _ := second.frame(); strings.Contains(f, "were not saved") {
		t.Errorf("the second program offers to recover what the first one has:\n%s", f)
	}
	first.to("VIEW")
	first.press("\t")
	first.until("the pane", func(f string) bool { return modeOf(f) == "PANE" })
	first.press("i")
	first.until("the line for a pattern", func(f string) bool {
		return strings.Contains(f, "┃ ignore ") || strings.Contains(footer(f), "leaves")
	})
	first.press("o3*")
	first.press("\r")
	second.until("what the first program does", func(f string) bool {
		return strings.Contains(footer(f), fmt.Sprintf("winnow (process %d) ", first.cmd.Process.Pid)) && strings.Contains(f, "o3*")
	})
	second.to("VIEW")
	second.press("\t")
	second.until("the pane", func(f string) bool { return modeOf(f) == "PANE" })
	second.press("x") // delete the rule
	second.until("who has the window", func(f string) bool { return modeOf(f) == "PANE" && strings.Contains(footer(f), holder[:40]) })
	second.to("INPUT")
	second.press("draft of the second")
	second.until("its draft", func(f string) bool { return strings.Contains(f, "draft of the second") })
	second.press("\x13") // ctrl+s
	second.until("why nothing is saved", func(f string) bool { return strings.Contains(footer(f), holder[:40]) })
	if rules := string(b.run(0, "rules", "list")); strings.Contains(rules, "removal staged") || !strings.Contains(rules, "*nano*") {
		t.Errorf("rules list prints\n%s", rules)
	}
	second.press("\x11") // ctrl+q
	second.until("its end", func(string) bool {
		select {
		case <-second.ended:
			return true
		default:
			return false
		}
	})

	if err := syscall.Kill(first.cmd.Process.Pid, syscall.SIGKILL); err != nil { // a dead program locks nobody
		t.Fatal(err)
	}
	<-first.ended
	third := startVterm(t, b.dir, b.env)
	third.until("the draft of the second program", func(f string) bool { return strings.Contains(f, "draft of the second") })
	if f, _ := third.frame(); strings.Contains(f, "read only") {
		t.Errorf("read only beside a dead program:\n%s", f)
	}
}
