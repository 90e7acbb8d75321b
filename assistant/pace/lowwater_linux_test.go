package pace

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// lowWater is how many bytes have to arrive before the kernel wakes the program.
func lowWater(t *testing.T, c *Conn) (n int) {
	t.Helper()
	err := c.raw.Control(func(fd uintptr) {
		var err error
		if n, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// In a pause the kernel does not wake the program for what arrives, and in a Read that
// waits for it, it does.
func TestTheKernelIsQuietInAPause(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := Dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := Below(conn)
	c.Start(time.Millisecond, make(chan struct{}))
	if got := lowWater(t, c); got != 1 {
		t.Errorf("%d bytes wake the program before the first pause, want 1", got)
	}
	buffer := make([]byte, 100)
	for range 3 { // the first read is not paced
		if _, err := io.WriteString(server, "text"); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(buffer); err != nil || string(buffer[:n]) != "text" {
			t.Fatalf("Read = %q, %v", buffer[:n], err)
		}
	}
	if got := lowWater(t, c); got != fastStream {
		t.Errorf("%d bytes wake the program in pauses, want %d", got, fastStream)
	}
	done := make(chan error)
	go func() {
		_, err := c.Read(buffer)
		done <- err
	}()
	for lowWater(t, c) != 1 { // it has found nothing and waits
		time.Sleep(time.Millisecond)
	}
	if _, err := io.WriteString(server, "more"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = server.Close()
	if n, err := c.Read(buffer); n != 0 || err != io.EOF { //nolint:errorlint // it is not wrapped
		t.Errorf("Read = %d, %v after the end, want io.EOF", n, err)
	}
}
