package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// The size of a vterm, wide enough for two panes.
const (
	vtermColumns = 110
	vtermRows    = 30
)

// vterm is the real program on a pseudo terminal with an emulator at the other end, which shows what a user would
// see. The emulator answers no queries of the program, like the simplest terminals.
type vterm struct {
	t      *testing.T
	master *os.File
	tty    *os.File // the other end, to query the terminal's modes
	cmd    *exec.Cmd
	ended  chan struct{}

	mu      sync.Mutex
	emu     *vt.Emulator
	changed chan struct{} // closed and replaced on each write
}

// openPty opens a pseudo terminal of the vterm's size; the caller closes both ends.
func openPty(t *testing.T) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	conn, err := master.SyscallConn() // Fd would switch to blocking reads
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var fault error
	if err := conn.Control(func(fd uintptr) {
		if n, fault = unlock(int(fd)); fault == nil {
			fault = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: vtermRows, Col: vtermColumns})
		}
	}); err != nil || fault != nil {
		t.Fatal(err, fault)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, tty
}

// startVterm starts the program in a folder.
func startVterm(t *testing.T, dir string, env []string, args ...string) *vterm {
	t.Helper()
	return startVtermOf(t, dir, env, "winnow", args...)
}

// startVtermOf starts any program.
func startVtermOf(t *testing.T, dir string, env []string, name string, args ...string) *vterm {
	t.Helper()
	master, tty := openPty(t)
	v := &vterm{t: t, master: master, tty: tty, ended: make(chan struct{}), emu: vt.NewEmulator(vtermColumns, vtermRows), changed: make(chan struct{})}
	v.cmd = exec.CommandContext(t.Context(), name, args...)
	v.cmd.Dir, v.cmd.Env = dir, append(env, "TERM=xterm-256color")
	v.cmd.Stdin, v.cmd.Stdout, v.cmd.Stderr = tty, tty, tty
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go v.dropAnswers() // the emulator blocks unless its answers are read
	read := make(chan struct{})
	go func() { defer close(read); v.read() }()
	go func() {
		_ = v.cmd.Wait() // always reports that the process was killed
		_ = tty.Close()  // reading ends once no process has it open
		<-read
		close(v.ended)
	}()
	t.Cleanup(v.kill)
	return v
}

func (v *vterm) dropAnswers() { _, _ = io.Copy(io.Discard, v.emu) }

// read feeds the emulator until no process has the terminal open.
func (v *vterm) read() {
	buf := make([]byte, 1<<14)
	for {
		n, err := v.master.Read(buf)
		if n > 0 {
			v.mu.Lock()
			_, _ = v.emu.Write(buf[:n])
			close(v.changed)
			v.changed = make(chan struct{})
			v.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// kill kills the program with kill -9 and returns once it has ended and all its output is on the screen.
func (v *vterm) kill() {
	_ = v.cmd.Process.Kill() // fails if it has already ended
	<-v.ended
	_ = v.master.Close()
	if pipe, ok := v.emu.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}

// frame returns what the screen shows, and a channel that is closed by the next write.
func (v *vterm) frame() (string, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := make([]string, vtermRows)
	for y := range lines {
		lines[y] = v.row(y)
	}
	return strings.Join(lines, "\n"), v.changed
}

func (v *vterm) row(y int) string {
	var b strings.Builder
	for x := 0; x < vtermColumns; {
		cell, step := v.emu.CellAt(x, y), 1
		if cell == nil || cell.Content == "" {
			b.WriteByte(' ')
		} else {
			b.WriteString(cell.Content)
			step = max(cell.Width, 1)
		}
		x += step
	}
	return strings.TrimRight(b.String(), " ")
}

// press sends bytes as a keyboard would.
func (v *vterm) press(keys string) {
	if _, err := v.master.WriteString(keys); err != nil {
		v.t.Fatalf("the program takes no keys: %v", err)
	}
}

// paste sends text as a bracketed paste.
func (v *vterm) paste(text string) { v.press("\x1b[200~" + text + "\x1b[201~") }

// until waits for a frame for which holds is true; it returns false if the program ends first.
func (v *vterm) until(what string, holds func(frame string) bool) (ok bool) {
	v.t.Helper()
	late := time.After(patience)
	for {
		frame, changed := v.frame()
		if holds(frame) {
			return true
		}
		select {
		case <-changed:
		case <-v.ended:
			frame, _ = v.frame()
			return holds(frame)
		case <-late:
			v.t.Fatalf("%s: never seen on the screen:\n%s", what, frame)
		}
	}
}

// within is like until, but gives up after limit.
func (v *vterm) within(limit time.Duration, holds func(frame string) bool) bool {
	late := time.After(limit)
	for {
		frame, changed := v.frame()
		if holds(frame) {
			return true
		}
		select {
		case <-changed:
		case <-late:
			return false
		}
	}
}

// wait waits for a text.
func (v *vterm) wait(text string) {
	v.t.Helper()
	if !v.until(text, func(frame string) bool { return strings.Contains(frame, text) }) {
		frame, _ := v.frame()
		v.t.Fatalf("the program ended before %q:\n%s", text, frame)
	}
}

// rest waits for a fixed time, where time itself matters: a question accepts answers only after a while, and a draft
// must reach a certain age.
func (v *vterm) rest(d time.Duration) {
	if d > 0 {
		v.within(d, func(string) bool { return false })
	}
}

var modeLine = regexp.MustCompile(`(?m)^ (INPUT|VIEW|COMMAND|PANE) `)

// modeOf returns the mode that the footer of a frame shows.
func modeOf(frame string) string {
	all := modeLine.FindAllStringSubmatch(frame, -1)
	if all == nil {
		return ""
	}
	return all[len(all)-1][1]
}

// footer returns the last line of a frame, which contains notices.
func footer(frame string) string { return frame[strings.LastIndexByte(frame, '\n')+1:] }

// to switches the program to INPUT or VIEW. If Esc first clears a draft or a line, it has to be pressed again.
func (v *vterm) to(mode string) {
	v.t.Helper()
	for {
		frame, _ := v.frame()
		now := modeOf(frame)
		done := func(f string) bool { return footer(f) != footer(frame) }
		switch {
		case now == mode:
			return
		case mode == "INPUT" && now == "VIEW":
			v.press("i") // pressing it again would enter text; a change of the hints does not prove that the key has arrived
			done = func(f string) bool { return modeOf(f) != now }
		default:
			v.press(escape)
		}
		if !v.until("mode "+mode, done) {
			v.t.Fatal("the program ended")
		}
	}
}

// escape is the Esc key of a terminal with the keyboard protocol. A bare ESC is recognised only after a pause, and
// two of them are alt+esc.
const escape = "\x1b[27u"
