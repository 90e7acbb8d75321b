package openai

import "syscall"

// setLowWater sets how many bytes have to arrive before the kernel reports a socket
// as readable. A read of one that does not block returns fewer.
func setLowWater(fd uintptr, n int) error {
	return syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
}

func read(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }
