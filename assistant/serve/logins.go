package serve

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// The default limits of Logins.
const (
	MaxLogins        = 200 // maximum number of connections that have not logged in
	MaxAddressLogins = 50  // maximum number of such connections from one address
)

// Logins contains the connections of a server that have not logged in. A new connection is always accepted: if its
// address has reached the limit, the oldest connection from that address is dropped; if the server has, the oldest from
// the address with the most connections. So connections that never log in lock nobody out: a login takes a fraction of
// a second, and an address with many connections does not affect other addresses.
type Logins struct {
	Max           int // maximum number of connections that have not logged in; 0 means MaxLogins
	MaxPerAddress int // maximum number of such connections from one address; 0 means MaxAddressLogins

	mu      sync.Mutex
	waiting []login // oldest first
}

type login struct {
	conn    net.Conn
	address netip.Prefix
}

// addressOf returns the address of a client. For IPv6, it returns the /64 network of the address, because a client may
// use all addresses of its network.
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
	prefix, _ := ip.Prefix(bits) // the zero value for an invalid address
	return prefix
}

// Begin adds a connection and returns the connection that was dropped to make room, or nil. The caller must close it.
func (l *Logins) Begin(conn net.Conn) (dropped net.Conn) {
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

// drop returns the index of the connection to drop for a new connection from an address, or -1 if there is room.
func (l *Logins) drop(from netip.Prefix) int {
	count := map[netip.Prefix]int{}
	most := from
	for _, w := range l.waiting {
		if count[w.address]++; count[w.address] > count[most] {
			most = w.address
		}
	}
	switch {
	case count[from] >= cmp.Or(l.MaxPerAddress, MaxAddressLogins):
		most = from
	case len(l.waiting) < cmp.Or(l.Max, MaxLogins):
		return -1
	}
	return slices.IndexFunc(l.waiting, func(w login) bool { return w.address == most })
}

// End removes a connection that has logged in or has ended.
func (l *Logins) End(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w login) bool { return w.conn == conn })
}

// DropAll closes all connections that have not logged in.
func (l *Logins) DropAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.waiting {
		_ = w.conn.Close() // ends the goroutine of the connection, which calls End
	}
}
