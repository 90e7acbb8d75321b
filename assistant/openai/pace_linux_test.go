package openai

import (
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// lowWater is how many bytes have to arrive before the kernel wakes the program.
func lowWater(t *testing.T, c *pacedConn) (n int) {
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

// awaitLowWater waits until want bytes have to arrive.
func awaitLowWater(t *testing.T, c *pacedConn, want int) {
	t.Helper()
	for late := time.Now().Add(time.Minute); lowWater(t, c) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d bytes wake the program, want %d", lowWater(t, c), want)
		}
	}
}

// In a pause the kernel does not wake the program for what arrives, and in a Read that
// waits for it, it does.
func TestTheKernelIsQuietInAPause(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := dialPaced(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := pacedBelow(conn)
	pause := make(chan struct{}) // ends it: its interval is longer than the test
	c.Start(time.Hour, pause)
	if got := lowWater(t, c); got != 1 {
		t.Errorf("%d bytes wake the program before the first pause, want 1", got)
	}
	buffer, done := make([]byte, 100), make(chan error)
	read := func(want string) {
		n, err := c.Read(buffer)
		if err == nil && string(buffer[:n]) != want {
			err = fmt.Errorf("Read = %q, want %q", buffer[:n], want)
		}
		done <- err
	}
	for _, text := range []string{"first", "second"} {
		if _, err := io.WriteString(server, text); err != nil {
			t.Fatal(err)
		}
		go read(text)
		if text == "second" { // the first read is not paced
			awaitLowWater(t, c, fastStream)
			close(pause)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if got := lowWater(t, c); got != fastStream {
		t.Errorf("%d bytes wake the program after a pause, want %d", got, fastStream)
	}
	go read("more")
	awaitLowWater(t, c, 1) // it has found nothing and waits
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
