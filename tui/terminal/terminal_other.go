//go:build !unix

package terminal

import (
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
)

// terminalGone returns a channel that is never closed: the system ends the processes of a
// console itself.
func terminalGone(*os.File) <-chan struct{} { return nil }

// redirectStderr is not supported on this system.
func redirectStderr(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }

// suspendOnSignal does nothing: this system has no job control.
func suspendOnSignal(*tea.Program, <-chan struct{}) {}

func jobControl() error { return errors.New("this system cannot suspend a program") }

func stopJob() error { return jobControl() }
