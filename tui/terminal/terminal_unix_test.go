//go:build unix

package terminal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// runs is a model that calls itself as a command and quits.
type runs func()

func (r runs) Init() tea.Cmd {
	return func() tea.Msg {
		r()
		return tea.QuitMsg{}
	}
}
func (r runs) Update(tea.Msg) (tea.Model, tea.Cmd) { return r, nil }
func (r runs) View() tea.View {
	v := tea.NewView("")
	v.ProgramStatus = &tea.ProgramStatus{State: tea.ProgramStateWorking}
	return v
}

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// standardError is file descriptor 2. With -json, package testing points os.Stderr at standard output.
var standardError = os.Stderr

// run runs a model on files that are no terminals.
func run(t *testing.T, model tea.Model) (status int, stderr, screen string, ended bool, err error) {
	t.Helper()
	in, typed, err := os.Pipe() // nothing is typed
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typed.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer func(before *os.File) { os.Stderr = before }(os.Stderr)
	os.Stderr = standardError
	var captured lockedBuffer
	// After a panic Bubble Tea does not wait for the goroutine that reads, whose
	// cancelling of a file is not safe against that: it reads from what is no file.
	status, err = Run(New(model, strings.NewReader(""), out, os.Environ()), Options{
		In: in, Out: out, Stderr: &captured, AtEnd: func(error) { ended = true }, Close: func() { t.Error("files are closed by force") },
	})
	drawn, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return status, captured.String(), string(drawn), ended, err
}

func TestStandardErrorIsCaptured(t *testing.T) {
	status, stderr, screen, ended, err := run(t, runs(func() {
		if _, err := syscall.Write(2, []byte("from a library")); err != nil {
			t.Error(err)
		}
	}))
	if status != 0 || err != nil || !ended {
		t.Errorf("status %d, %v, AtEnd called: %v", status, err, ended)
	}
	if stderr != "from a library" || strings.Contains(screen, "library") {
		t.Errorf("captured %q, the screen got %q", stderr, screen)
	}
}

func TestASignalEndsIt(t *testing.T) {
	for s, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129} {
		signalled := runs(func() {
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Error(err)
			}
			select {} // the signal ends the program
		})
		if status, _, _, ended, err := run(t, signalled); status != want || err != nil || !ended {
			t.Errorf("%v: status %d, %v, AtEnd called: %v; want %d", s, status, err, ended, want)
		}
	}
}

// However the program ends, the terminal is not left with the status of one that works.
func TestTheStatusEnds(t *testing.T) {
	for name, do := range map[string]runs{
		"in order":    func() {},
		"by a signal": func() { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM); select {} },
		"by a panic":  func() { panic("broken") },
	} {
		_, _, screen, _, _ := run(t, do)
		before, after, cleared := strings.Cut(screen, "\x1b]7501;state=clear\a")
		drawn := strings.Contains(before, "\x1b]7501;state=working") || name == "by a panic" // which may come before the first frame
		if !drawn || !cleared || strings.Contains(after, "\x1b]7501;") {
			t.Errorf("%s: the terminal got %q", name, screen)
		}
	}
}

func TestAPanicIsAnErrorWithItsStack(t *testing.T) {
	_, stderr, screen, ended, err := run(t, runs(func() { panic("broken") }))
	if !errors.Is(err, tea.ErrProgramPanic) || !ended {
		t.Errorf("err %v, AtEnd called: %v", err, ended)
	}
	if !strings.Contains(stderr, "broken") || !strings.Contains(stderr, "goroutine ") || strings.Contains(screen, "broken") {
		t.Errorf("captured %q, the screen got %q", stderr, screen)
	}
}
