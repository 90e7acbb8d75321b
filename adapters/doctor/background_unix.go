//go:build unix

package doctor

import (
	"os"

	"golang.org/x/sys/unix"
)

// inBackground reports whether this process is a background job of the shell on a
// terminal: the system stops one that changes the mode of the terminal or reads from it.
func inBackground(tty *os.File) bool {
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground != unix.Getpgrp() // no shell has jobs on a terminal that does not answer
}
