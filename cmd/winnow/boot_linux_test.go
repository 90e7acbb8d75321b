package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// startHeld starts the program, which cannot open its history until release is called.
func startHeld(t *testing.T) (p *pty, release func()) {
	t.Helper()
	home := t.TempDir()
	run := filepath.Join(home, "data", "history.db.run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(run, "open.lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	p = startOn(t, "WINNOW_HOME='"+home+"' exec winnow")
	p.wait(loading)
	return p, func() {
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
}

// loading is what the screen shows until everything is open.
const loading = "loading…"

func TestTheScreenStandsBeforeAnythingIsOpen(t *testing.T) {
	p, release := startHeld(t)
	p.keys("ß") // nothing else draws this character
	p.wait("ß")
	if strings.Contains(p.written(), ready) {
		t.Fatal("the program is already open: the test proves nothing")
	}
	release()
	p.wait(ready)
	p.keys("\x11") // ctrl+q
	p.wait("\x1b[?1049l")
	if got := p.status(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
}

func TestOneLeavesBeforeAnythingIsOpen(t *testing.T) {
	p, _ := startHeld(t)
	p.keys("\x11")
	if got := p.status(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
	p.wait("\x1b[?1049l")
	if err := p.cooked(); err != nil {
		t.Error(err)
	}
}

func TestSignalsEndTheProgramBeforeAnythingIsOpen(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		p, _ := startHeld(t)
		if err := p.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := p.status(); got != want {
			t.Errorf("%v: exit status %d, want %d", sig, got, want)
		}
		p.wait("\x1b[?1049l")
		if err := p.cooked(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
	}
}

// A failure of the start is printed after the screen; a notice is shown on the screen, and not again.
func TestWhatTheStartSaysIsSaidOnce(t *testing.T) {
	for name, c := range map[string]struct {
		line, said    string
		status, after int
	}{
		"a failure": {"mkdir home; : >home/data; exec winnow", "winnow: ", 1, 1},
		"a notice":  {"PROXY_BASE_URL=ftp://nowhere exec winnow", "the proxy of this folder is ignored", 0, 0},
	} {
		p := startOn(t, c.line)
		p.wait(c.said)
		if c.status == 0 {
			p.wait(ready)
			p.keys("\x11")
		}
		if got := p.status(); got != c.status {
			t.Errorf("%s: exit status %d, want %d", name, got, c.status)
		}
		if err := p.cooked(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, after, left := strings.Cut(p.written(), "\x1b[?1049l")
		if !left || strings.Count(after, c.said) != c.after {
			t.Errorf("%s: after the screen the terminal got %q, want it to say %q %d times", name, after, c.said, c.after)
		}
	}
}

func TestADraftOfTheFirstMomentIsThereNextTime(t *testing.T) {
	p := startOn(t, "winnow; exec winnow")
	p.wait(loading)
	p.keys("said early\x11")
	p.wait("\x1b[?1049l")
	late := time.After(patience)
	for {
		if _, next, _ := strings.Cut(p.written(), "\x1b[?1049l"); strings.Contains(next, "said early") {
			return
		}
		select {
		case <-p.more:
		case <-late:
			t.Fatalf("the draft is not there; the terminal got %q", p.written())
		}
	}
}

// keys types on the terminal.
func (p *pty) keys(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// written returns the output so far.
func (p *pty) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}
