package openai

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// pacedConn is a connection that can be read in intervals. A process that reads
// each token when it arrives is woken for each; one that reads once per screen
// update finds several in the buffer of the kernel.
type pacedConn struct {
	net.Conn
	pace  atomic.Pointer[pace] // nil: never paced
	empty time.Time            // when the last read emptied the buffer; zero: there may be more. Used by Read only
}

// pace delays reads until done is closed.
type pace struct {
	interval time.Duration // between a read that has emptied the buffer and the next
	done     <-chan struct{}
}

func dialPaced(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	return &pacedConn{Conn: conn}, err
}

// Read implements net.Conn. Only a read that does not fill b has emptied the
// buffer: data at full speed, and the rest of a TLS record, are read at once.
func (c *pacedConn) Read(b []byte) (int, error) {
	if p := c.pace.Load(); p != nil && !c.empty.IsZero() {
		timer := time.NewTimer(time.Until(c.empty.Add(p.interval)))
		select {
		case <-timer.C:
		case <-p.done:
		}
		timer.Stop()
	}
	n, err := c.Conn.Read(b)
	if c.empty = time.Now(); n == len(b) {
		c.empty = time.Time{}
	}
	return n, err
}

// connected stores the connection of an exchange, without its TLS layer.
func (x *exchange) connected(info httptrace.GotConnInfo) {
	conn := info.Conn
	for outer, ok := conn.(interface{ NetConn() net.Conn }); ok; outer, ok = conn.(interface{ NetConn() net.Conn }) {
		conn = outer.NetConn()
	}
	x.conn, _ = conn.(*pacedConn)
	x.report(event{})
}

// startPacing paces the connection until stopPacing or the end of the exchange.
func (x *exchange) startPacing(interval time.Duration) {
	if x.conn != nil && interval > 0 {
		ctx, stop := context.WithCancel(x.ctx)
		x.stopPacing = stop
		x.conn.pace.Store(&pace{interval, ctx.Done()})
	}
}
