package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// fromProxy reports whether a connection comes from a trusted proxy; address includes the port.
func (s *Server) fromProxy(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && s.trusted(at.Addr())
}

// trusted reports whether an address belongs to a trusted proxy.
func (s *Server) trusted(address netip.Addr) bool {
	return slices.ContainsFunc(s.opts.Proxies, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) })
}

// remote returns the address of the client of a request: behind trusted proxies, the last address in X-Forwarded-For
// that is not the address of a trusted proxy, because a client can forge the addresses before that one.
func (s *Server) remote(r *http.Request) string {
	if !s.fromProxy(r.RemoteAddr) {
		return r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		at, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if !s.trusted(at) {
			return at.String()
		}
	}
	return r.RemoteAddr
}

// behindProxies is a listener that accepts only connections from trusted proxies.
type behindProxies struct {
	net.Listener
	server *Server
}

// Accept implements net.Listener.
func (l behindProxies) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.server.fromProxy(conn.RemoteAddr().String()) {
			return conn, err
		}
		l.server.metrics.Refused("http", "not_proxy")
		l.server.log.Warn("connection refused: it is not from a trusted proxy", "remote", conn.RemoteAddr().String())
		_ = conn.Close()
	}
}

// sameOrigin reports whether an Origin header names the origin of a URL.
func sameOrigin(origin string, of *url.URL) bool {
	u, err := url.Parse(origin)
	return err == nil && of != nil && strings.EqualFold(u.Scheme, of.Scheme) && strings.EqualFold(u.Host, of.Host)
}

// allowedPage reports whether the operator allows requests from the pages of an origin.
func (s *Server) allowedPage(origin string) bool {
	return slices.ContainsFunc(s.opts.Origins, func(o *url.URL) bool { return sameOrigin(origin, o) })
}

// cors adds the CORS headers to the response to a page of an allowed origin. If done is true, the request was a
// browser's preflight request, and cors has responded to it.
func (s *Server) cors(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || !s.allowedPage(origin) || !s.ownHost(r.Host) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Location, ETag, Idempotency-Replayed, Mcp-Session-Id")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// remoteKey is the context key of the address of a request's client.
type remoteKey struct{}

// remoteOf returns the address of a request's client, as determined by guard.
func remoteOf(ctx context.Context) string {
	address, _ := ctx.Value(remoteKey{}).(string)
	return address
}
