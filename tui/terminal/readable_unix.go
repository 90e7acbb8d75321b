//go:build unix

package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// readable reports whether a read of f would return within wait.
func readable(f *os.File, wait time.Duration) bool {
	for end := time.Now().Add(wait); ; wait = time.Until(end) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, max(0, int(wait/time.Millisecond)))
		if !errors.Is(err, unix.EINTR) {
			return n != 0 || err != nil
		}
	}
}
