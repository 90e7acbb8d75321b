package sshserver

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"winnow/assistant"
	"winnow/assistant/serve"
)

// places counts the connections and channels of logged-in users.
type places struct {
	connections, perUser int // the limits

	mu     sync.Mutex
	open   int // connections
	byUser map[string]*place
}

// place counts what a user has open.
type place struct{ connections, channels int }

func newPlaces(connections, perUser int) *places {
	return &places{connections: connections, perUser: perUser, byUser: map[string]*place{}}
}

// connect counts a connection of a user. The error tells the user why the connection is
// refused.
func (p *places) connect(user string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.byUser[user]
	switch {
	case u != nil && u.connections >= p.perUser:
		return fmt.Errorf("%s has %s open: close one first", user, assistant.Counted(u.connections, "connection"))
	case p.open >= p.connections:
		return errors.New("the server has reached its limit of connections: try again later")
	case u == nil:
		u = &place{}
		p.byUser[user] = u
	}
	u.connections++
	p.open++
	return nil
}

// disconnect undoes a connect.
func (p *places) disconnect(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	if p.byUser[user].connections--; p.byUser[user].connections == 0 && p.byUser[user].channels == 0 {
		delete(p.byUser, user)
	}
}

// openChannel counts a channel of a connected user. It returns false if the user has too
// many.
func (p *places) openChannel(user string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.byUser[user]
	if u.channels >= p.perUser {
		return false
	}
	u.channels++
	return true
}

// closeChannel undoes an openChannel. The channel may outlive its connection.
func (p *places) closeChannel(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byUser[user].channels--; p.byUser[user].connections == 0 && p.byUser[user].channels == 0 {
		delete(p.byUser, user)
	}
}

// refuse tells a client why its connection is refused, as soon as it opens its first channel.
// Until then the client counts as one that has not logged in.
func (s *Server) refuse(conn *ssh.ServerConn, channels <-chan ssh.NewChannel, requests <-chan *ssh.Request, why error) {
	defer time.AfterFunc(s.opts.login, func() { _ = conn.Close() }).Stop()
	go ssh.DiscardRequests(requests)
	for n := range channels {
		_ = n.Reject(ssh.ResourceShortage, why.Error())
		_ = conn.Close()
	}
}

// countEnd counts a connection that ended because of a time limit or a revoked key.
func (s *Server) countEnd(why error) {
	reasons := map[error]string{errIdle: "idle", errTotal: "total", errRevoked: "revoked"}
	if reason, known := reasons[why]; known {
		s.opts.Metrics.Ended(serve.ServerSSH, reason)
	}
}

// timeoutConn is a connection whose writes fail if the other end does not read for a while.
type timeoutConn struct {
	net.Conn
	stall time.Duration
}

func (c timeoutConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
