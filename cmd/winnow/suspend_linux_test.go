package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// forget discards the output so far.
func (p *pty) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Reset()
}

// process waits until a process is in one of the given states of /proc/PID/stat.
func (p *pty) process(pid int, states string) {
	p.t.Helper()
	for late := time.After(patience); ; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && states == endedState {
			return
		} else if err != nil {
			p.t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if strings.Contains(states, rest[:1]) {
			return
		}
		select {
		case <-time.Tick(time.Millisecond):
		case <-late:
			p.t.Fatalf("process %d is in state %s, want %s; the terminal got %q", pid, rest[:1], states, p.written())
		}
	}
}

const (
	stoppedState = "T"
	runningState = "RSD"
	endedState   = "ZX" // or there is no such process
)

// shellAnswers types a command into the shell and waits for its output, which shows that the shell has the terminal
// again, with echo and line editing.
func (p *pty) shellAnswers() {
	p.t.Helper()
	p.forget()
	p.keys("echo shell-$((6*7))\n")
	p.wait("shell-42\r\n")
}

// foreground continues the program and waits for its screen.
func (p *pty) foreground(pid int) {
	p.t.Helper()
	p.forget()
	p.keys("fg\n")
	p.wait("\x1b[?1049h")
	p.wait("INPUT")
	p.process(pid, runningState)
}

// startInShell starts the program as a job of an interactive shell and returns its process.
func startInShell(t *testing.T, command string) (*pty, int) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no shell with job control here")
	}
	p := startOn(t, "PS1='shell> ' exec bash --norc --noprofile -i")
	p.wait("shell> ")
	p.keys(command + "\n")
	p.wait(ready)
	pid := childOf(t, p.cmd.Process.Pid)
	t.Cleanup(func() { // the shell's end would not wait for it, and it would write while its home is removed
		_ = syscall.Kill(pid, syscall.SIGKILL)
		p.process(pid, endedState)
	})
	return p, pid
}

// TestSuspending checks that SIGTSTP and the palette's command stop the process and give the terminal back to the
// shell, and that fg restores the screen and the keys, each time.
func TestSuspending(t *testing.T) {
	t.Parallel()
	p, pid := startInShell(t, "winnow")
	for _, suspend := range []func(){
		func() { _ = syscall.Kill(pid, syscall.SIGTSTP) },
		func() {
			p.keys("\x10") // ctrl+p
			p.wait("type to search")
			p.forget()
			p.keys("suspend")
			p.wait(" winnow") // the end of the command's title
			p.keys("\r")
		},
		func() { _ = syscall.Kill(pid, syscall.SIGTSTP) },
	} {
		suspend()
		p.wait("\x1b[?1049l")
		p.wait("Stopped")
		p.process(pid, stoppedState)
		p.shellAnswers()
		p.foreground(pid)
		p.forget()
		p.keys("hello")
		p.wait("hello")
		p.keys("\x15") // ctrl+u clears the line
	}
}

// TestSuspendingBesideAnEditor: ctrl+z in the editor reaches winnow, too, which has
// nothing to give back. It stops with the editor, and only then.
func TestSuspendingBesideAnEditor(t *testing.T) {
	t.Parallel()
	p, pid := startInShell(t, `EDITOR="sh -c 'test -t 0 && kill -TSTP 0; echo edited >\"\$0\"'" winnow`)
	p.forget()
	p.keys("\x0f") // ctrl+o
	p.wait("Stopped")
	p.process(pid, stoppedState)
	p.shellAnswers()
	p.foreground(pid)
	p.wait("edited")
	p.process(pid, runningState)
	p.keys("\x0f")
	p.wait("Stopped") // once more, from a program that was not stopped in between
	p.process(pid, stoppedState)
	p.foreground(pid)
}

// TestSuspendingWithoutAShell: nobody could continue the program, so it says why and stays.
func TestSuspendingWithoutAShell(t *testing.T) {
	p := startOn(t, "exec winnow")
	p.wait(ready)
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	p.wait("no shell to return to")
	p.process(p.cmd.Process.Pid, runningState)
}
