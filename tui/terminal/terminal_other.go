//go:build !unix

package terminal

import (
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
)

// terminalGone is never closed: the system ends the processes of a console itself.
func terminalGone(*os.File) <-chan struct{} { return nil }

// redirectStderr does not exist on this system.
func redirectStderr(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }

// suspendOnSignal has nothing to do: there is no job control on this system.
func suspendOnSignal(*tea.Program, <-chan struct{}) {}

func jobControl() error { return errors.New("this system cannot suspend a program") }

func stopJob() error { return jobControl() }
