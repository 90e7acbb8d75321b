//go:build unix

package checkpoint

import "syscall"

// noFollow makes opening a symbolic link an error, and never waits for the
// other end of a FIFO that was put in the place of a file.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
