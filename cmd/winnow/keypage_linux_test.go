package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// rawNow reports whether the terminal is in raw mode.
func (v *vterm) rawNow() bool {
	v.t.Helper()
	state, err := unix.IoctlGetTermios(int(v.tty.Fd()), unix.TCGETS)
	if err != nil {
		v.t.Fatal(err)
	}
	return state.Lflag&unix.ICANON == 0
}

// However the key page ends, it restores the terminal.
func TestTheKeyPageGivesTheTerminalBack(t *testing.T) {
	for name, end := range map[string]struct {
		how    func(*vterm)
		status int
	}{
		"esc twice": {func(v *vterm) {
			v.press(escape)
			v.wait("(escape)")
			v.press(escape)
		}, 0},
		"ctrl+c": {func(v *vterm) { v.press("\x03") }, 0},
		"a signal": {func(v *vterm) {
			if err := syscall.Kill(childOf(v.t, v.cmd.Process.Pid), syscall.SIGTERM); err != nil {
				v.t.Fatal(err)
			}
		}, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			env := append(os.Environ(), "WINNOW_HOME="+filepath.Join(dir, "home"), "TMUX=")
			// A shell keeps the terminal open, so that the test can inspect it afterwards.
			v := startVtermOf(t, dir, env, "sh", "-c", "winnow doctor keys; echo status $?; read line")
			v.wait("press any key")
			v.press("\x1b[13;5u")
			v.wait("ctrl+enter: arrives")
			v.press("\x1bOP")
			v.wait("(help)")
			if !v.rawNow() {
				t.Fatal("the page has not set the terminal to raw mode: the test proves nothing")
			}
			end.how(v)
			v.wait("status ")
			frame, _ := v.frame()
			if want := map[int]string{0: "status 0", 143: "status 143"}[end.status]; !strings.Contains(frame, want) {
				t.Errorf("want %s:\n%s", want, frame)
			}
			if end.status == 0 && !strings.Contains(frame, "ctrl+enter: arrives, shift+enter: not seen yet") {
				t.Errorf("the end does not sum up what was seen:\n%s", frame)
			}
			if v.rawNow() {
				t.Error("the terminal is left raw")
			}
			if strings.Contains(frame, "press any key") {
				t.Errorf("the page is still there:\n%s", frame)
			}
		})
	}
}

func TestTheKeyPageNeedsATerminal(t *testing.T) {
	status, _, stderr := inFolder(t, "", "doctor", "keys")
	if status != statusUsage || !strings.Contains(stderr, "needs a terminal") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
