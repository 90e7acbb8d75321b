//go:build unix

package privatefile

import "syscall"

// NoFollow makes opening a symbolic link an error, and keeps the opening of a FIFO
// that was put in the place of a file from blocking.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
