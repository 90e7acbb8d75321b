//go:build unix

package privatefile

import "syscall"

// NoFollow makes opening a symbolic link fail, and prevents blocking on a FIFO that has replaced a file.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
