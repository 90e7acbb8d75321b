package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openPty makes a pseudo terminal: what is written to screen is read from tty, and the
// other way round.
func openPty(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return screen, tty
}

func mode(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// answer reads the questions of AskKeyboard, and then writes what a terminal does: each
// piece when the one before has been read.
func answer(t *testing.T, screen, tty *os.File, pieces []string) {
	t.Helper()
	const questions = "\x1b[?u\x1b[c"
	buffer := make([]byte, len(questions))
	for asked := ""; asked != questions; {
		n, err := screen.Read(buffer)
		asked += string(buffer[:n])
		if err != nil || !strings.HasPrefix(questions, asked) {
			t.Errorf("the terminal is asked %q, %v", asked, err)
			return
		}
	}
	waits := len(pieces) > 0 && strings.HasSuffix(pieces[len(pieces)-1], "c") // AskKeyboard does not end before
	if m := mode(t, tty); waits && m.Lflag&(unix.ICANON|unix.ECHO) != 0 {
		t.Error("the answers are shown")
	}
	for _, piece := range pieces {
		for unread := 1; unread > 0; {
			unread, _ = unix.IoctlGetInt(int(tty.Fd()), unix.TIOCINQ)
		}
		if _, err := screen.WriteString(piece); err != nil {
			t.Error(err)
		}
	}
}

func TestTheTerminalIsAskedForItsKeyboard(t *testing.T) {
	const soon, late = 20 * time.Millisecond, time.Minute
	for name, c := range map[string]struct {
		pieces []string
		limit  time.Duration
		want   Keyboard
		err    error
	}{
		"kitty":             {[]string{"\x1b[?0u\x1b[?62;4c"}, late, KittyKeyboard, nil},
		"slowly":            {strings.Split("\x1b[?31u\x1b[?1;2c", ""), late, KittyKeyboard, nil},
		"typed ahead":       {[]string{"hello", "\x1b[?1u", "c", "\x1b[?6c"}, late, KittyKeyboard, nil},
		"no kitty":          {[]string{"\x1b[?1;2c"}, late, PlainKeyboard, nil},
		"nothing":           {nil, soon, SilentKeyboard, nil},
		"half of an answer": {[]string{"\x1b[?1;"}, soon, SilentKeyboard, nil},
		"ctrl+c":            {[]string{"\x03"}, late, SilentKeyboard, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			screen, tty := openPty(t)
			before, answered := mode(t, tty), make(chan struct{})
			go func() {
				defer close(answered)
				answer(t, screen, tty, c.pieces)
			}()
			got, err := AskKeyboard(t.Context(), tty, tty, c.limit)
			<-answered
			if got != c.want || !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Errorf("AskKeyboard = %v, %v; want %v, %v", got, err, c.want, c.err)
			}
			if mode(t, tty) != before {
				t.Error("the terminal is left in another mode")
			}
		})
	}
}

// childEnv makes the test binary a process with a terminal of its own: a "shell", whose
// terminal is standard input, or a "job" of it.
const childEnv = "WINNOW_DOCTOR_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "shell":
		fmt.Fprint(os.Stderr, runInBackground())
	case "job":
		fmt.Fprintf(os.Stderr, "%q", Terminal{Name: "xterm", In: os.Stdin, Out: os.Stdout}.Examine(context.Background())[1])
	default:
		os.Exit(m.Run())
	}
}

// runInBackground runs the job in a process group of its own, and says how it ended.
func runInBackground() string {
	if err := os.Setenv(childEnv, "job"); err != nil { // a job starts no process
		return err.Error()
	}
	job, err := os.StartProcess(os.Args[0], os.Args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &unix.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return err.Error()
	}
	defer func() { _ = job.Kill() }() // it may be stopped
	var status unix.WaitStatus
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		_, err = unix.Wait4(job.Pid, &status, unix.WUNTRACED, nil)
	}
	if status.Stopped() {
		return "stopped by " + status.StopSignal().String()
	}
	return fmt.Sprintf(" and ended with status %d, %v", status.ExitStatus(), err)
}

// In the background the terminal is not asked: the system would stop the process.
func TestABackgroundJobAsksNothing(t *testing.T) {
	screen, tty := openPty(t)
	shell := exec.CommandContext(t.Context(), os.Args[0])
	shell.Env = append(os.Environ(), childEnv+"=shell")
	var said strings.Builder
	shell.Stdin, shell.Stdout, shell.Stderr = tty, tty, &said
	shell.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Run(); err != nil {
		t.Fatal(err)
	}
	if want := `{"keyboard" "ok" "not checked, because winnow runs in the background" ""} and ended with status 0, <nil>`; said.String() != want {
		t.Errorf("%s; want %s", said.String(), want)
	}
	if n, _ := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCINQ); n > 0 {
		t.Errorf("%d bytes are written to the terminal", n)
	}
}

func TestWhatTheKeyboardMeans(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/tmux", "#!/bin/sh\nprintf \"$TMUX_OPTIONS\"\n", 0o755)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	const plain, kitty = "\x1b[?1;2c", "\x1b[?1u\x1b[?1;2c"
	either := func(ctrlEnter bool) string {
		if ctrlEnter {
			return "ctrl+enter"
		}
		return "ctrl+j"
	}
	enter := func(bool) string { return "enter" }
	for name, c := range map[string]struct {
		answers             string
		send                func(ctrlEnter bool) string
		tmux                string
		state, detail, next string
	}{
		"kitty":         {kitty, either, "", OK, "different keys; ctrl+enter sends here", ""},
		"plain":         {plain, either, "", Warning, "may arrive as enter; ctrl+j sends here", "send_key = \"enter\""},
		"enter sends":   {plain, enter, "", OK, "may arrive as enter; enter sends here", ""},
		"tmux as it is": {plain, either, `off\nexternal\n0\n500\n256`, Warning, "ctrl+j sends here", "winnow doctor keys"},
		"tmux set up":   {plain, either, `on\non\non\n10\n256,extkeys`, OK, "tmux passes on ctrl+enter", ""},
	} {
		t.Run(name, func(t *testing.T) {
			screen, tty := openPty(t)
			go answer(t, screen, tty, []string{c.answers})
			terminal := Terminal{
				Name: "xterm-256color", In: tty, Out: tty, Colors: 1 << 8, Unicode: true, Tmux: c.tmux != "",
				AnswerTime: time.Minute,
				Environ:    append(os.Environ(), "TMUX_OPTIONS="+c.tmux),
				Send:       c.send,
			}
			found := terminal.Examine(t.Context())
			if found[1].About != "keyboard" {
				t.Fatalf("%+v", found)
			}
			check(t, found[1], c.state, c.detail, c.next)
		})
	}
}

// What is not a terminal, or one without sequences, is asked nothing.
func TestOnlyTerminalsAreAsked(t *testing.T) {
	screen, tty := openPty(t)
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, terminal := range map[string]Terminal{
		"output to a file":  {Name: "xterm", In: tty, Out: file},
		"input from a file": {Name: "xterm", In: file, Out: tty},
		"no files":          {Name: "xterm"},
		"dumb":              {Name: "dumb", In: tty, Out: tty},
	} {
		for _, f := range terminal.Examine(t.Context()) {
			if f.About == "keyboard" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	if n, _ := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCINQ); n > 0 {
		t.Errorf("%d bytes are written to the terminal", n)
	}
}
