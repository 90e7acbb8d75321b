package sshserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
)

const (
	maxLogins        = 200 // connections that have not logged in
	maxAddressLogins = 50  // of them from one address
)

// logins are the connections that have not logged in, oldest first. A new one is always
// accepted: at a limit the oldest connection of the address with the most is dropped for
// it. So silent connections keep nobody out, as a login takes a fraction of a second, and
// an address with many does not drop those of others.
type logins struct {
	mu      sync.Mutex
	waiting []login
}

type login struct {
	conn    net.Conn
	address netip.Prefix
}

// addressOf is the address of a client: of IPv6 the network, which a client has whole.
func addressOf(conn net.Conn) netip.Prefix {
	const network = 64
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := ip.BitLen()
	if ip.Is6() {
		bits = network
	}
	prefix, _ := ip.Prefix(bits) // the zero value for no address
	return prefix
}

// begin adds a connection and returns the one that is dropped for it, or nil.
func (l *logins) begin(conn net.Conn) (dropped net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := addressOf(conn)
	if at := l.drop(from); at >= 0 {
		dropped = l.waiting[at].conn
		l.waiting = slices.Delete(l.waiting, at, at+1)
	}
	l.waiting = append(l.waiting, login{conn, from})
	return dropped
}

// drop is which connection is dropped for one from an address; -1 means there is room.
func (l *logins) drop(from netip.Prefix) int {
	count := map[netip.Prefix]int{}
	most := from
	for _, w := range l.waiting {
		if count[w.address]++; count[w.address] > count[most] {
			most = w.address
		}
	}
	switch {
	case count[from] >= maxAddressLogins:
		most = from
	case len(l.waiting) < maxLogins:
		return -1
	}
	return slices.IndexFunc(l.waiting, func(w login) bool { return w.address == most })
}

// end removes a connection that has logged in or ended.
func (l *logins) end(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w login) bool { return w.conn == conn })
}

// dropAll ends all connections that have not logged in.
func (l *logins) dropAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.waiting {
		_ = w.conn.Close() // it ends by itself, and calls end
	}
}

// places are the connections and channels of the users that have logged in.
type places struct {
	connections, perUser int // the limits

	mu     sync.Mutex
	open   int // connections
	byUser map[string]*place
}

// place is what a user has open.
type place struct{ connections, channels int }

func newPlaces(connections, perUser int) *places {
	return &places{connections: connections, perUser: perUser, byUser: map[string]*place{}}
}

// connect counts a connection of a user; the error says, for the user, why it is refused.
func (p *places) connect(user string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.byUser[user]
	switch {
	case u != nil && u.connections >= p.perUser:
		return fmt.Errorf("%s has %d connections open: close one first", user, u.connections)
	case p.open >= p.connections:
		return errors.New("the server has as many connections as it serves: try again later")
	case u == nil:
		u = &place{}
		p.byUser[user] = u
	}
	u.connections++
	p.open++
	return nil
}

// disconnect ends a connection that connect counted.
func (p *places) disconnect(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	if p.byUser[user].connections--; p.byUser[user].connections == 0 && p.byUser[user].channels == 0 {
		delete(p.byUser, user)
	}
}

// openChannel counts a channel of a connected user; false: it is one too many.
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

// closeChannel ends a channel that openChannel counted. It may outlive its connection.
func (p *places) closeChannel(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byUser[user].channels--; p.byUser[user].connections == 0 && p.byUser[user].channels == 0 {
		delete(p.byUser, user)
	}
}
