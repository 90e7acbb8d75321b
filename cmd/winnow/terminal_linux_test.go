package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"winnow/tui/plain"
)

// patience is how long a test waits for an expected event.
const patience = 2 * time.Minute

// pty is a pseudo terminal with a program on it.
type pty struct {
	t      *testing.T
	master *os.File
	tty    *os.File
	cmd    *exec.Cmd
	ended  chan struct{}

	mu   sync.Mutex
	out  bytes.Buffer
	more chan struct{} // signals new output
}

// startOn starts the program on a terminal of 100×30, through a shell command line.
func startOn(t *testing.T, line string) *pty {
	t.Helper()
	catchSignals(t)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	// Fd would switch to blocking reads, for which closing would wait.
	conn, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var fault error
	if err := conn.Control(func(fd uintptr) { n, fault = unlock(int(fd)) }); err != nil || fault != nil {
		t.Fatal(err, fault)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("OPENAI_API_KEY=sk-test-aaaaaaaaaaaa\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, master: master, tty: tty, ended: make(chan struct{}), more: make(chan struct{}, 1)}
	p.cmd = exec.CommandContext(t.Context(), "sh", "-c", line)
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "WINNOW_HOME="+filepath.Join(dir, "home"), "WINNOW_LOCAL_SERVERS=false", "PROXY_BASE_URL="+refused)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read()
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.ended; _ = master.Close(); _ = tty.Close() })
	return p
}

// unlock unlocks the other end, sets its size and returns its number.
func unlock(fd int) (int, error) {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return 0, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		return 0, err
	}
	return unix.IoctlGetInt(fd, unix.TIOCGPTN)
}

func (p *pty) read() {
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.out.Write(buf[:n])
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// wait waits until the terminal has received a text.
func (p *pty) wait(text string) {
	p.t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		found := strings.Contains(p.out.String(), text)
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-p.more:
		case <-late:
			p.t.Fatalf("%q never came; the terminal got %q", text, p.out.String())
		}
	}
}

// status waits until the program has ended and all its output has been read, and returns the exit status.
func (p *pty) status() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("the program does not end")
	}
	const end = "<the end>" // written after the program's output
	if _, err := p.tty.WriteString(end); err == nil {
		p.wait(end)
	}
	return p.cmd.ProcessState.ExitCode()
}

// cooked returns an error unless the terminal echoes and reads lines, as before.
func (p *pty) cooked() error {
	state, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	if state.Lflag&unix.ICANON == 0 || state.Lflag&unix.ECHO == 0 {
		return errors.New("the terminal is left raw")
	}
	return nil
}

// ready is what the program shows once it accepts keys.
const ready = "What would you like to change?"

func TestSignalsGiveTheTerminalBack(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 131, syscall.SIGINT: 130} {
		p := startOn(t, "exec winnow")
		p.wait(ready)
		if p.cooked() == nil {
			t.Fatal("the program has not set the terminal to raw mode: the test proves nothing")
		}
		if err := p.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := p.status(); got != want {
			t.Errorf("%v: exit status %d, want %d", sig, got, want)
		}
		p.wait("\x1b[?1049l")
		p.wait("\x1b[?25h")
		if err := p.cooked(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
	}
}

func TestCtrlCAtAHiddenPrompt(t *testing.T) {
	p := startOn(t, "exec winnow env set KEY")
	p.wait("value of KEY (not shown): ")
	p.keys("\x03")
	if got := p.status(); got != statusCancelled {
		t.Errorf("exit status %d, want %d\n%s", got, statusCancelled, p.written())
	}
	if err := p.cooked(); err != nil {
		t.Error(err)
	}
}

func TestAStoppedProgramStillEnds(t *testing.T) {
	// The event loop is blocked, because the terminal is not read and its buffer is full.
	p := startOn(t, "exec winnow")
	p.wait(ready)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := p.status(); got != 143 {
		t.Errorf("exit status %d, want 143", got)
	}
	if err := p.cooked(); err != nil {
		t.Error(err)
	}
}

func TestAProgramWithoutItsTerminalEnds(t *testing.T) {
	// With hang-ups ignored, only the terminal itself reports the end.
	p := startOn(t, "trap '' HUP; exec winnow")
	p.wait(ready)
	_ = p.tty.Close()
	if err := p.master.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.status(); got != 129 {
		t.Errorf("exit status %d, want 129", got)
	}
}

func TestACrashIsOfferedAtTheNextStart(t *testing.T) {
	p := startOn(t, "winnow rules add '*mini*' && winnow; winnow")
	p.wait(ready)
	child := childOf(t, p.cmd.Process.Pid)
	// Not through the keyboard, where fast typing would count as a paste.
	add := exec.CommandContext(t.Context(), "winnow", "rules", "add", "*nano*")
	add.Dir, add.Env = p.cmd.Dir, p.cmd.Env
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("a second writer: %v, %s", err, out)
	}
	look := exec.CommandContext(t.Context(), "winnow", "rules", "list")
	look.Dir, look.Env = p.cmd.Dir, p.cmd.Env
	if out, err := look.CombinedOutput(); err != nil || !strings.Contains(string(out), "*mini*") {
		t.Fatalf("a reader beside it: %v, %s", err, out)
	}
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.out.Reset()
	p.mu.Unlock()
	p.wait("These changes to the rules were not saved") // and the lock of the killed program does not block
	p.wait("*mini*")
	p.wait("*nano*")
}

// childOf returns the process that a shell has started.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skipf("the system does not tell children: %v", err)
	}
	var child int
	if _, err := fmt.Sscan(string(data), &child); err != nil {
		t.Fatalf("the shell has no child: %q", data)
	}
	return child
}

// A run that a signal ends stores as much as a killed one: the question is a pair that can be asked again.
func TestASignalKeepsTheQuestionOfAsk(t *testing.T) {
	catchSignals(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			gate := stalledServer(t)
			dir := t.TempDir()
			env := append(os.Environ(), "WINNOW_HOME="+filepath.Join(dir, "home"), "OPENAI_API_KEY=sk-x-0123456789", "OPENAI_BASE_URL="+gate.url, "WINNOW_LOCAL_SERVERS=false")
			c := exec.CommandContext(t.Context(), "winnow", "-m", "openai/x", "ask", "--json", "hide mini")
			c.Dir, c.Env = dir, env
			var out, fault bytes.Buffer
			c.Stdout, c.Stderr = &out, &fault
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			gate.gate.Wait(t)
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err := c.Wait()
			var exit *exec.ExitError
			if want := 128 + int(sig); !errors.As(err, &exit) || exit.ExitCode() != want {
				t.Errorf("exit: %v, want status %d\n%s", err, want, fault.String())
			}
			if !strings.Contains(out.String(), `"type":"error","code":"interrupted"`) || !strings.Contains(fault.String(), "the question is stored") {
				t.Errorf("events: %s, said: %s; want an interruption", out.String(), fault.String())
			}
			pairs := string(execute(t, dir, env, "history", "export"))
			for _, want := range []string{`"user_text":"hide mini"`, `"error_code":"interrupted"`} {
				if !strings.Contains(pairs, want) {
					t.Errorf("the history does not hold %s:\n%s", want, pairs)
				}
			}
		})
	}
}

// Signals that the parent ignores, as under nohup, do not end the program.
func TestAnIgnoredHangupStaysIgnored(t *testing.T) {
	gate := stalledServer(t)
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "sh", "-c", "trap '' HUP; exec winnow -m openai/x ask hi")
	c.Dir, c.Env = dir, append(os.Environ(), "WINNOW_HOME="+filepath.Join(dir, "home"), "OPENAI_API_KEY=sk-x-0123456789", "OPENAI_BASE_URL="+gate.url, "WINNOW_LOCAL_SERVERS=false")
	var fault bytes.Buffer
	c.Stderr = &fault
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	gate.gate.Wait(t)
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	gate.gate.Open()
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, fault.String())
	}
}

// On a terminal, a rollback lists what it undoes and asks for confirmation.
func TestARollbackAsksOnATerminal(t *testing.T) {
	t.Parallel()
	for answer, c := range map[string]struct {
		status int
		said   string
	}{"n": {statusPending, "nothing was rolled back"}, "y": {0, "rolled back to"}} {
		p := startOn(t, "winnow rules add '*mini*' --provider openai >/dev/null && exec winnow checkpoints rollback $(winnow checkpoints list | awk 'END {print $1}')")
		p.wait("steps to undo:")
		p.wait("Roll back? [y/N] ")
		<-time.After(plain.ReadingTime) // earlier input does not count as an answer
		p.keys(answer + "\n")
		p.wait(c.said)
		if got := p.status(); got != c.status {
			t.Errorf("%s: exit status %d\n%s", answer, got, p.written())
		}
	}
}

// On a terminal, the line of a tool appears below the text that announces it, even if that text is incomplete, and
// above the text about its result.
func TestToolLinesOnATerminal(t *testing.T) {
	server := announcingServer(t, "```\nI add one rule:")
	p := startOn(t, "exec winnow --base-url "+server.URL+" -m x ask hide")
	if got := p.status(); got != 0 {
		t.Errorf("exit status %d\n%s", got, p.written())
	}
	p.wait("All done.")
	containsInSequence(t, p.written(), "I add one rule:", "Tool: add_ignore_rule *mini*", "All done.")
}

// On a terminal, a save shows what it would write and asks for confirmation.
func TestAskConfirmsASaveOnATerminal(t *testing.T) {
	for answer, saved := range map[string]bool{"y": true, "n": false} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			p := startOn(t, "exec winnow -m offline/rules ask 'hide o3* and save'")
			p.wait("+ IGNORE_MODELS_OPENAI=")
			p.wait("Run save_changes? [y/N]")
			for over := false; !over; { // input that comes too early does not count as an answer
				p.keys(answer + "\n")
				select {
				case <-p.ended:
					over = true
				case <-time.Tick(100 * time.Millisecond):
				}
			}
			file, err := os.ReadFile(filepath.Join(p.cmd.Dir, ".env"))
			if err != nil || strings.Contains(string(file), "o3*") != saved {
				t.Errorf("the file is %q, %v; want it saved: %v", file, err, saved)
			}
		})
	}
}

// openInput is an input that never returns data.
type openInput struct{ reads chan struct{} }

func (o openInput) Read([]byte) (int, error) {
	close(o.reads)
	select {}
}

func TestTheEndOfTheRunEndsReading(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("WINNOW_HOME", filepath.Join(dir, "home"))
	for _, line := range []string{
		"ask", "ask hide mini", "history import -", "env set KEY", "rules test --json", "config connect --endpoint " + refused + " --key - --yes",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		in, status := openInput{reads: make(chan struct{})}, make(chan int, 1)
		go func() { status <- run(ctx, strings.Fields(line), in, io.Discard, io.Discard) }()
		select {
		case <-in.reads:
		case got := <-status:
			t.Fatalf("%s ends with %d before it reads", line, got)
		}
		cancel()
		select {
		case got := <-status:
			if got != statusCancelled {
				t.Errorf("%s ends with %d, want %d", line, got, statusCancelled)
			}
		case <-time.After(patience):
			t.Fatalf("%s does not end", line)
		}
	}
}
