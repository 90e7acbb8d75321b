package main

import (
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// writes is a model that calls itself as a command and quits.
type writes func()

func (w writes) Init() tea.Cmd {
	return func() tea.Msg {
		w()
		return tea.QuitMsg{}
	}
}
func (w writes) Update(tea.Msg) (tea.Model, tea.Cmd) { return w, nil }
func (w writes) View() tea.View                      { return tea.NewView("") }

// TestNothingElseWritesOnTheTerminal: what a library writes to the standard
// logger or to file descriptor 2 while the screen stands goes into the log,
// without keys and without anything that a terminal obeys.
func TestNothingElseWritesOnTheTerminal(t *testing.T) {
	a := testApp(t)
	const key = "sk-secret-0123456789"
	a.redactor.Add(key)
	model := writes(func() {
		log.Print("Unsolicited response with " + key + "\x1b]52;c;aGk=\x07")
		if _, err := syscall.Write(2, []byte("descriptor 2 \x1b[2Jwith "+key+"\nand a last line")); err != nil {
			t.Error(err)
		}
	})
	if screen, err := runUnseen(t, a, model); err != nil || strings.Contains(string(screen), key) {
		t.Fatalf("the screen got %q, %v", screen, err)
	}
	text, err := os.ReadFile(filepath.Join(a.flags.home, "state", "log", "winnow.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Unsolicited response", "descriptor 2", "and a last line", `"standard logger"`, `"stderr"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the log does not hold %q:\n%s", want, text)
		}
	}
	for _, bad := range []string{key, "\x1b", `\u001b`, "aGk="} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the log holds %q:\n%s", bad, text)
		}
	}
}

// TestSuspendingFromOutside: SIGTSTP gives the terminal back, SIGCONT draws the
// screen again.
func TestSuspendingFromOutside(t *testing.T) {
	p := startOn(t, "exec winnow")
	p.wait(ready)
	pid := p.cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	p.wait("\x1b[?1049l")
	for late := time.After(patience); p.cooked() != nil; {
		select {
		case <-time.Tick(time.Millisecond):
		case <-late:
			t.Fatal(p.cooked())
		}
	}
	p.mu.Lock()
	p.out.Reset()
	p.mu.Unlock()
	// Bubble Tea does not see a SIGCONT that comes before it waits for one, so
	// the signal is repeated, as an impatient user would repeat fg.
	resumed := make(chan struct{})
	var repeated sync.WaitGroup
	defer repeated.Wait()
	defer close(resumed)
	repeated.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			_ = syscall.Kill(pid, syscall.SIGCONT)
			select {
			case <-resumed:
				return
			case <-tick.C:
			}
		}
	})
	p.wait("\x1b[?1049h")
	p.wait("INPUT")
}
