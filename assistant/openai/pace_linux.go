package openai

import "syscall"

// setLowWater sets how many bytes must arrive before the kernel reports a socket as
// readable. A non-blocking read still returns whatever has arrived.
func setLowWater(fd uintptr, n int) error {
	return syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
}

func read(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }
