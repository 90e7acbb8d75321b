//go:build !unix

package main

import (
	"errors"
	"os"
)

// terminalGone never is: the system ends the processes of a console itself.
func terminalGone(*os.File) <-chan struct{} { return nil }

// redirectStderr is not to be had on this system.
func redirectStderr(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
