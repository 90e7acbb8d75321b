//go:build unix

package terminal

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// terminalGone returns a channel that is closed when the other end of a terminal is closed,
// even if no hang-up is sent. The goroutine that waits for this runs as long as the
// terminal is open.
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
			return // also if the terminal cannot be watched, as on macOS
		}
	}()
	return gone
}

// redirectStderr makes file descriptor 2 a copy of w until restore is called.
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
		_ = unix.Dup2(old, stderr) // cannot fail: the copied descriptor is open
		_ = unix.Close(old)
	}, nil
}

// suspendOnSignal suspends p when SIGTSTP arrives. p cannot restore the terminal while
// another program uses it, such as an editor that ctrl+z stops together with this program,
// or while the loop is blocked. In these cases the job is stopped without restoring the
// terminal. suspendOnSignal returns when done is closed.
func suspendOnSignal(p *tea.Program, done <-chan struct{}) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTSTP)
	defer signal.Stop(signals)
	for {
		select {
		case <-done:
			return
		case <-signals:
		}
		asked := &suspendAsked{}
		go p.Send(asked)
		select {
		case <-done:
			return
		case <-time.After(graceTime):
		}
		if jobControl() == nil && asked.taken.CompareAndSwap(false, true) {
			_ = stopJob() // if it fails, the program goes on
		}
	}
}

// jobControl returns an error if no shell would continue this job. The system does not stop
// such a job on SIGTSTP either.
func jobControl() error {
	if sid, err := unix.Getsid(0); err != nil || sid == unix.Getpgrp() {
		return errors.New("no shell to return to: winnow is the first program on this terminal")
	}
	return nil
}

// stopJob stops the processes of the job and returns when the shell continues them. It uses
// SIGSTOP, because once a program has asked for SIGTSTP, Go's runtime keeps handling this
// signal, which then no longer stops the process.
func stopJob() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return err
	}
	<-continued
	return nil
}
