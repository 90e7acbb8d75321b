package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
)

// applied is the result of after_save in the data of a result.
func appliedIn(t *testing.T, data any) assistant.Applied {
	t.Helper()
	raw, err := json.Marshal(data)
	var out struct{ Applied assistant.Applied }
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Applied
}

// The result of after_save reaches programs, agents and doctor, and a save does not wait for it.
func TestTheResultOfAfterSaveIsTold(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-1\n")
	proxy := assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/gpt-4o"))
	gate := filepath.Join(b.dir, "gate")
	b.must(mkfifo(gate))
	b.env = append(b.env, "PROXY_BASE_URL="+proxy.URL, `WINNOW_AFTER_SAVE=sh -c "read line < gate"`)
	s := b.serve()
	id := s.open(`{}`)
	save := func(pattern string) string {
		t.Helper()
		s.call("POST", "/v1/window/edit", `{"session":"`+id+`","tool":"add_ignore_rule","arguments":{"pattern":"`+pattern+`"}}`, "")
		var plan assistant.SavePlan
		b.must(json.Unmarshal([]byte(s.call("GET", "/v1/window/plan?session="+id, "", "")), &plan))
		return s.call("POST", "/v1/window/save", `{"session":"`+id+`","digest":"`+plan.Digest+`"}`, "")
	}
	events := s.follow(id)
	if saved := save("*mini*"); !strings.Contains(saved, `"applied":{"state":"running","message":"Running sh -c`) {
		t.Errorf("saved: %s", saved)
	}
	if window := s.call("GET", "/v1/window", "", ""); !strings.Contains(window, `"applied":{"state":"running"`) {
		t.Errorf("the window while it runs: %.300s", window)
	}
	b.must(writeLine(gate)) // waits for the command
	for events.Scan() && !strings.Contains(events.Text(), `"kind":"applied"`) {
	}
	if e := events.Text(); !strings.Contains(e, `"what":"live"`) || !strings.Contains(e, "The rules are live") {
		t.Errorf("told: %s", e)
	}
	if window := s.call("GET", "/v1/window", "", ""); !strings.Contains(window, `"applied":{"state":"live"`) {
		t.Errorf("the window: %.300s", window)
	}
	agent := s.httpAgent(s.token)
	if got := agent.call("add_ignore_rule", map[string]any{"pattern": "*nano*"}); !got.Success {
		t.Fatalf("%+v", got)
	}
	go func() { _ = writeLine(gate) }()
	got := agent.call("save_changes", nil)
	if a := appliedIn(t, got.Data); !got.Success || a.State != assistant.AppliedLive || !strings.Contains(got.Message, "The rules are live") {
		t.Errorf("an agent saves: %+v, %+v", got, a)
	}
	if got := agent.call("show_applied", nil); appliedIn(t, got.Data).State != assistant.AppliedLive {
		t.Errorf("show_applied: %+v", got)
	}
	if report := string(b.run(0, "doctor", "--json")); !strings.Contains(report, "The rules are live") {
		t.Errorf("doctor: %s", report)
	}
	alone := b.connect("--allow-save") // joins the hub
	if got := alone.call("show_applied", nil); appliedIn(t, got.Data).State != assistant.AppliedLive {
		t.Errorf("another agent: %+v", got)
	}
}

// An agent without a hub gets the result, too, although its window is closed after each call.
func TestAnAgentAloneGetsTheResultOfAfterSave(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-1\n")
	proxy := assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/gpt-4o"))
	b.env = append(b.env, "PROXY_BASE_URL="+proxy.URL, `WINNOW_AFTER_SAVE=sh -c "echo done > mark"`)
	a := b.connect("--allow-save")
	if got := a.call("show_applied", nil); !got.Success || got.Data != nil {
		t.Errorf("before a save: %+v", got)
	}
	a.call("add_ignore_rule", map[string]any{"pattern": "*mini*"})
	got := a.call("save_changes", nil)
	if applied := appliedIn(t, got.Data); !got.Success || applied.State != assistant.AppliedLive {
		t.Errorf("save_changes: %+v", got)
	}
	if got := a.call("show_applied", nil); appliedIn(t, got.Data).State != assistant.AppliedLive {
		t.Errorf("later: %+v", got)
	}
}

// Esc on the screen that saved cancels the command: it ends with its children, and the save stays.
func TestEscCancelsAfterSave(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	gate, pids := filepath.Join(b.dir, "gate"), filepath.Join(b.dir, "pids")
	b.must(mkfifo(gate))
	b.must(mkfifo(pids))
	b.run(0, "rules", "add", "*nano*")
	screen := startVterm(t, b.dir, append(b.env, `WINNOW_AFTER_SAVE=sh -c "cat < gate & echo $! > pids; wait"`))
	screen.until("the program", func(f string) bool { return strings.Contains(f, ready) })
	screen.press("\x13")
	screen.wait("Save these changes?")
	for saved := false; !saved; { // a key that comes too early does not count, and delays the time from which keys do
		screen.press("y")
		saved = screen.within(time.Second, func(f string) bool { return !strings.Contains(f, "Save these changes?") })
	}
	screen.wait("after_save is running · esc cancels")
	raw, err := os.ReadFile(pids) // waits for the command
	b.must(err)
	screen.press(escape)
	screen.wait("after_save was cancelled. The rules are saved")
	screen.until("nothing to cancel", func(f string) bool { return !strings.Contains(f, "after_save is running") })
	if file, err := os.ReadFile(filepath.Join(b.dir, ".env")); err != nil || !strings.Contains(string(file), "*nano*") {
		t.Errorf("the file is %q, %v", file, err)
	}
	child := strings.TrimSpace(string(raw))
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") { // it has ended, although perhaps nothing has waited for it
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the child of the command is still running: %s", stat)
		}
	}
}

// follow follows the events of a session.
func (s served) follow(id string) *bufio.Scanner {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+"/v1/sessions/"+id+"/events", nil)
	s.must(err)
	resp, err := withToken(s.token).RoundTrip(req)
	s.must(err)
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() { // the server follows from here on
		s.t.Fatal("the stream has ended")
	}
	return lines
}

// mkfifo makes a pipe that a command can wait at.
func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// writeLine lets a command that waits at a pipe go on; it waits until there is one.
func writeLine(path string) error { return os.WriteFile(path, []byte("go\n"), 0o600) }
