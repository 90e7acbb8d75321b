//go:build unix

package terminal

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// terminalGone is closed when the other end of a terminal is closed, also where
// nobody sends a hang-up. It wakes up for nothing else.
func terminalGone(tty *os.File) <-chan struct{} {
	gone := make(chan struct{})
	fd := int32(tty.Fd())
	go func() {
		for {
			poll := []unix.PollFd{{Fd: fd}} // asks for no events: errors and hang-ups are always reported
			_, err := unix.Poll(poll, -1)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err == nil && poll[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				close(gone)
			}
			return // also for a terminal that cannot be watched, as on macOS
		}
	}()
	return gone
}

// redirectStderr makes file descriptor 2 a copy of w, until restore is called.
func redirectStderr(w *os.File) (restore func(), err error) {
	const stderr = 2
	old, err := unix.FcntlInt(stderr, unix.F_DUPFD_CLOEXEC, stderr+1)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup2(int(w.Fd()), stderr); err != nil {
		_ = unix.Close(old)
		return nil, err
	}
	return func() {
		_ = unix.Dup2(old, stderr) // what is copied is open: it cannot fail
		_ = unix.Close(old)
	}, nil
}

// suspendOnSignal suspends the program as its own suspend command does when
// another process sends SIGTSTP: the terminal is given back first, and drawn
// again after SIGCONT. It ends when done is closed.
func suspendOnSignal(p *tea.Program, done <-chan struct{}) {
	stop, resume := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(resume, syscall.SIGCONT)
	defer signal.Stop(resume)
	for {
		signal.Notify(stop, syscall.SIGTSTP)
		select {
		case <-done:
			signal.Stop(stop)
			return
		case <-resume: // of the program's own suspend command
			continue
		case <-stop:
		}
		signal.Stop(stop) // Bubble Tea stops the process with the same signal
		p.Send(tea.SuspendMsg{})
		select {
		case <-done:
			return
		case <-resume:
		}
	}
}
