package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant/serve"
	"winnow/assistant/serve/mcp"
)

// Options configures a Server.
type Options struct {
	Hub     *serve.Hub
	Token   string       // a token with the role admin; "" means that all tokens are in Tokens
	User    string       // the user of Token
	Tokens  serve.Tokens // further tokens; an empty path means no further tokens
	Address string       // the HOST:PORT at which clients reach the server
	// PublicURL is the address at which clients reach the server through a proxy; nil means that they use Address.
	PublicURL *url.URL
	// Proxies are the addresses of proxies whose X-Forwarded-For is trusted. Without TLS, a server that is reachable from
	// other hosts accepts only connections from these proxies.
	Proxies []netip.Prefix
	Origins []*url.URL               // origins of the pages that may use the server from a browser
	Cert    func() *x509.Certificate // the current certificate, whose names are allowed in Host headers; nil means no TLS
	Version string                   // the version of the program
	Agents  *mcp.Agents              // agents served at /mcp; nil means that no agents are served
	Log     *slog.Logger             // nil means no log
	Metrics *serve.Metrics           // nil creates metrics for this server alone
	// Ready returns the reason why the history or the window cannot be used, or nil; a nil Ready means that they always
	// can.
	Ready func(context.Context) error
	// StoredResponses is the path of a file that stores the responses to requests with an Idempotency-Key, so that they
	// survive a restart; "" stores them only in memory.
	StoredResponses string

	// Logins, AddressLogins, Sessions, Requests, Events and EventBytes are limits: on the connections without a token, on
	// such connections from one address, on the open sessions, on the open requests with one token, and on the number of
	// stored events of one session and their bytes. 0 means the default.
	Logins, AddressLogins, Sessions, Requests, Events, EventBytes int
	// Idle is the time after which a session without a follower, a turn or a request is closed; 0 means DefaultIdle.
	Idle time.Duration
	// Interval is the interval at which the server looks for tokens that have been removed; 0 means serve.WatchInterval.
	Interval time.Duration
	// AnswerWait replaces serve.AnswerWait, and Comment, Write, Body, Drain and HistoryWait replace the constants below; 0
	// means the constant.
	AnswerWait, Comment, Write, Body, Drain, HistoryWait time.Duration
}

// DefaultIdle is the default of Options.Idle.
const DefaultIdle = 24 * time.Hour

const (
	commentAfter = 15 * time.Second // the interval between the comments of a stream
	writeTime    = 10 * time.Second // the time that a follower may take to receive a write
	drainTime    = 10 * time.Second // the time that running turns have to complete on shutdown
	closeTime    = 2 * time.Second  // the time that interrupted turns and open streams have to end after drainTime
	historyTime  = 8 * time.Second  // the time that opening a session may take
	requestTime  = 30 * time.Second // the time to read a request, and to respond to it unless the response is a stream
	headerTime   = 10 * time.Second // the part of requestTime for the header
	bodyTime     = 20 * time.Second // the part of requestTime for the body
	idleTime     = 2 * time.Minute  // the time until a connection without requests is closed
	maxHeader    = 64 << 10         // bytes
	maxBody      = 1 << 20          // bytes
)

// The default limits.
const (
	DefaultSessions   = 1000
	DefaultRequests   = 500    // open requests of one token; most of them are event streams
	DefaultEvents     = 16_384 // enough for a turn of a minute at 200 events per second
	DefaultEventBytes = 32 << 20
)

// Server is the HTTP front end of a hub. Create it with New.
type Server struct {
	opts    Options
	hub     *serve.Hub
	log     *slog.Logger
	clients clients
	logins  serve.Logins
	most    int // the maximum number of open sessions: Options.Sessions, except in tests
	metrics *metrics
	kept    *keptAnswers
	mux     *http.ServeMux
	api     huma.API
	handler http.Handler // mux, protected by guard
	// document returns the OpenAPI document, which the first call encodes.
	document func() ([]byte, error)

	operations []Operation // all operations, in the order of the documentation

	mu       sync.Mutex
	streams  map[string]*stream // streams by session id
	draining bool
	turns    sync.WaitGroup // running turns; Add is called only under mu and not while draining
}

// New returns a server. The server follows the changes to the window until the hub is closed.
func New(o Options) (*Server, error) {
	o.HistoryWait = cmp.Or(o.HistoryWait, historyTime)
	o.AnswerWait, o.Comment = cmp.Or(o.AnswerWait, serve.AnswerWait), cmp.Or(o.Comment, commentAfter)
	o.Idle, o.Interval = cmp.Or(o.Idle, DefaultIdle), cmp.Or(o.Interval, serve.WatchInterval)
	o.Write, o.Body, o.Drain = cmp.Or(o.Write, writeTime), cmp.Or(o.Body, bodyTime), cmp.Or(o.Drain, drainTime)
	o.Sessions, o.Events, o.EventBytes = cmp.Or(o.Sessions, DefaultSessions), cmp.Or(o.Events, DefaultEvents), cmp.Or(o.EventBytes, DefaultEventBytes)
	s := &Server{opts: o, hub: o.Hub, log: o.Log, most: o.Sessions, streams: map[string]*stream{}}
	s.logins.Max, s.logins.MaxPerAddress, s.clients.most = o.Logins, o.AddressLogins, cmp.Or(o.Requests, DefaultRequests)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Token == "" && o.Tokens.Path == "" {
		return nil, errors.New("the server needs a token or a token file")
	}
	s.metrics = newMetrics(s)
	if err := s.describe(); err != nil {
		return nil, err
	}
	s.mux.HandleFunc("/", s.noRoute)
	if o.Agents != nil {
		s.mux.HandleFunc("/mcp", s.serveAgent)
	}
	var err error
	if s.kept, err = openKept(o.StoredResponses, s.log); err != nil {
		return nil, fmt.Errorf("open the stored responses to requests: %w", err)
	}
	s.handler = s.guard(s.once(s.mux))
	go s.relay(s.hub.Changes().Last())
	return s, nil
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve handles requests on a listener until ctx ends. After that, running turns have Options.Drain to complete; turns
// that are still running then are interrupted, every stream receives its last event, and the hub is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener, tlsConfig *tls.Config) error {
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		ConnState: s.connState,
	}
	if host, _, _ := net.SplitHostPort(s.opts.Address); tlsConfig == nil && !Loopback(host) {
		l = behindProxies{l, s}
	}
	if tlsConfig != nil {
		l = tls.NewListener(l, tlsConfig)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go serve.WatchFiles(watching, s.opts.Interval, []string{s.opts.Tokens.Path}, func(bool) { s.endRevoked() })
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return errors.Join(err, s.end(), s.kept.Close())
	case <-ctx.Done():
	}
	failed := errors.Join(s.end(), s.kept.Close()) // also ends the streams
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if server.Shutdown(bounded) != nil {
		_ = server.Close() // closes the remaining connections
	}
	return failed
}

// Reload looks for removed tokens immediately; Serve does so at every Options.Interval.
func (s *Server) Reload() { s.endRevoked() }

// connKey is the context key of the connection of a request.
type connKey struct{}

// connState tracks the connections that have not sent a token yet, except the connections of proxies.
func (s *Server) connState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.fromProxy(conn.RemoteAddr().String()) {
			return // all clients of a proxy connect from its address
		}
		if dropped := s.logins.Begin(conn); dropped != nil {
			s.metrics.Refused(serve.ServerHTTP, "logins")
			s.log.Warn("a connection without a token was closed to admit another connection", "remote", dropped.RemoteAddr().String())
			go func() { _ = dropped.Close() }() // closing a TLS connection may wait for the client
		}
	case http.StateClosed, http.StateHijacked:
		s.logins.End(conn)
	case http.StateActive, http.StateIdle:
	}
}

// end waits for running turns for up to Options.Drain, and then ends all turns, sessions and streams.
func (s *Server) end() error {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	done := make(chan struct{})
	drained, stop := context.WithTimeout(context.Background(), s.opts.Drain)
	defer stop()
	go func() {
		if s.opts.Agents != nil {
			s.opts.Agents.Close(drained)
		}
		s.turns.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-drained.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := s.hub.Close(ctx)
	select {
	case <-done: // the streams contain the last events
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		st.idle.Stop()
		st.frames.Close()
	}
	return err
}
