package openai

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// A program that reads each token of a streamed answer when it arrives is woken for each
// token. If it reads only once per screen update, it finds several tokens in the kernel's
// buffer; on Linux, it can also ask the kernel to wake it only when that buffer fills.
//
// A read that does not fill its buffer has emptied the connection. The next read of a paced
// connection then waits for the end of the interval. A stream at full speed, with more than
// fastStream bytes per interval, is read without waiting, because the kernel's buffer would
// be full long before the interval ends.

// fastStream is the number of bytes per interval from which a stream counts as running at
// full speed. At thirty intervals per second this is five times the data of a thousand
// tokens per second.
const fastStream = 32 << 10

// pacedConn is a connection that can be read at intervals.
type pacedConn struct {
	net.Conn
	pace atomic.Pointer[pace] // nil if never paced

	// The following fields are used only by Read.
	emptied  time.Time // when the last read emptied the connection; zero if it may contain more
	began    time.Time // start of the interval
	received int       // bytes in this interval
	fast     bool      // the previous interval was at full speed
	raw      syscall.RawConn
	quiet    bool // the kernel wakes the program only for fastStream bytes
}

// pace delays reads until done is closed.
type pace struct {
	interval time.Duration
	done     <-chan struct{}
}

// newPacedConn returns a pacedConn that is not paced yet.
func newPacedConn(conn net.Conn) *pacedConn {
	c := &pacedConn{Conn: conn}
	if tcp, ok := conn.(*net.TCPConn); ok {
		c.raw, _ = tcp.SyscallConn() // on an error, the kernel wakes the program for every arrival
	}
	return c
}

// dialPaced is a DialContext for transports. Its connections are pacedConns.
func dialPaced(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newPacedConn(conn), nil
}

// pacedBelow returns the pacedConn below the TLS layers of conn, or nil.
func pacedBelow(conn net.Conn) *pacedConn {
	for {
		if c, ok := conn.(*pacedConn); ok {
			return c
		}
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = outer.NetConn()
	}
}

// Start paces the reads until done is closed.
func (c *pacedConn) Start(interval time.Duration, done <-chan struct{}) {
	c.pace.Store(&pace{interval, done})
}

// Read implements net.Conn.
func (c *pacedConn) Read(b []byte) (n int, err error) {
	if p := c.pace.Load(); p != nil && !c.emptied.IsZero() {
		c.wait(p)
	}
	if c.quiet {
		n, err = c.readQuiet(b)
	} else {
		n, err = c.Conn.Read(b)
	}
	c.received += n
	if c.emptied = time.Now(); n == len(b) {
		c.emptied = time.Time{}
	}
	return n, err
}

// wait waits until one interval after the read that emptied the connection, unless the
// stream runs at full speed or the pacing ends first.
func (c *pacedConn) wait(p *pace) {
	if time.Since(c.began) >= p.interval {
		c.begin()
	}
	left := p.interval - time.Since(c.emptied)
	if left <= 0 || c.fast || c.received >= fastStream || isClosed(p.done) {
		return
	}
	c.setQuiet()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
	c.begin()
}

// begin starts an interval.
func (c *pacedConn) begin() { c.fast, c.received, c.began = c.received >= fastStream, 0, time.Now() }

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// setQuiet makes the kernel wake the program only for fastStream bytes.
func (c *pacedConn) setQuiet() {
	if c.raw == nil || c.quiet {
		return
	}
	_ = c.raw.Control(func(fd uintptr) { c.quiet = setLowWater(fd, fastStream) == nil })
}

// readQuiet reads what has arrived. If nothing has arrived, it restores the kernel's normal
// wake-up and waits.
func (c *pacedConn) readQuiet(b []byte) (n int, err error) {
	failed := c.raw.Read(func(fd uintptr) bool {
		for n, err = read(fd, b); err == syscall.EINTR; n, err = read(fd, b) { //nolint:errorlint // a system call returns it as it is
		}
		if err != syscall.EAGAIN { //nolint:errorlint // as above
			return true
		}
		c.quiet = setLowWater(fd, 1) != nil
		return false
	})
	n = max(n, 0)
	switch {
	case failed != nil:
		return n, failed
	case n == 0 && err == nil && len(b) > 0:
		return 0, io.EOF
	}
	return n, err
}
