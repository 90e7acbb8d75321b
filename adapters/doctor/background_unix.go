//go:build unix

package doctor

import (
	"os"

	"golang.org/x/sys/unix"
)

// inBackground reports whether this process is a background job of a shell. The system stops such a process if it
// changes the mode of the terminal or reads from it.
func inBackground(tty *os.File) bool {
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground != unix.Getpgrp() // an error means that there is no job control
}
