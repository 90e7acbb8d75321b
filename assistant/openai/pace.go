package openai

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// pacedConn is a connection that can be read in intervals. A process that waits
// for each token of an answer is woken for each; one that looks only as often as
// it draws finds a frame's worth in the buffer of the kernel.
type pacedConn struct {
	net.Conn
	pace  atomic.Pointer[pace] // nil: never paced
	empty time.Time            // when a read has emptied the buffer; zero: there may be more. Of the reader
}

// pace holds back reads until it is over.
type pace struct {
	pause time.Duration // between a read that has emptied the buffer and the next
	over  <-chan struct{}
}

func dialPaced(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	return &pacedConn{Conn: conn}, err
}

// Read implements net.Conn. Only a read that does not fill b has emptied the
// buffer: what comes at full speed, or in a record of TLS, is read at once.
func (c *pacedConn) Read(b []byte) (int, error) {
	if p := c.pace.Load(); p != nil && !c.empty.IsZero() {
		timer := time.NewTimer(time.Until(c.empty.Add(p.pause)))
		select {
		case <-timer.C:
		case <-p.over:
		}
		timer.Stop()
	}
	n, err := c.Conn.Read(b)
	if c.empty = time.Now(); n == len(b) {
		c.empty = time.Time{}
	}
	return n, err
}

// connected stores the connection of an exchange, below TLS.
func (x *exchange) connected(info httptrace.GotConnInfo) {
	conn := info.Conn
	for outer, ok := conn.(interface{ NetConn() net.Conn }); ok; outer, ok = conn.(interface{ NetConn() net.Conn }) {
		conn = outer.NetConn()
	}
	x.conn, _ = conn.(*pacedConn)
	x.report(event{})
}

// startPacing paces the connection until stopPacing or the end of the exchange.
func (x *exchange) startPacing(pause time.Duration) {
	if x.conn != nil && pause > 0 {
		over, stop := context.WithCancel(x.ctx)
		x.stopPacing = stop
		x.conn.pace.Store(&pace{pause, over.Done()})
	}
}
