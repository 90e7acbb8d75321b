package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant/serve"
)

// Options configures a Server.
type Options struct {
	Hub     *serve.Hub
	Token   string            // of every request
	Address string            // HOST:PORT where clients reach it
	Cert    *x509.Certificate // whose names clients may use; nil without TLS
	Version string            // of the program
	Log     *slog.Logger      // nil means no log

	// Idle is when a session is closed that has no follower, no turn and no request; 0 is
	// DefaultIdle.
	Idle time.Duration
	// AnswerWait, Comment, Write, Body, Drain and HistoryWait replace the constants below; 0
	// does not.
	AnswerWait, Comment, Write, Body, Drain, HistoryWait time.Duration
}

// DefaultIdle is the default of Options.Idle.
const DefaultIdle = 24 * time.Hour

const (
	commentAfter = 15 * time.Second // between two comments of a stream
	writeTime    = 10 * time.Second // for a reader to take what was written
	drainTime    = 10 * time.Second // for running turns at the end
	closeTime    = 2 * time.Second  // for interrupted turns and open streams after that
	historyTime  = 8 * time.Second  // to open a session in a history that does not answer
	requestTime  = 30 * time.Second // to read a request, and to answer what is no stream
	headerTime   = 10 * time.Second // of it to read the header
	bodyTime     = 20 * time.Second // of it to read the body
	idleTime     = 2 * time.Minute  // of a connection without requests
	maxHeader    = 64 << 10         // bytes
	maxBody      = 1 << 20          // bytes
	maxStreams   = 1000             // open sessions
)

// Server is the HTTP front end of a hub. Make it with New.
type Server struct {
	opts    Options
	hub     *serve.Hub
	log     *slog.Logger
	token   [sha256.Size]byte
	logins  serve.Logins
	most    int // sessions at once: maxStreams, but in tests
	metrics *metrics
	mux     *http.ServeMux
	api     huma.API
	handler http.Handler // guards the mux
	openapi []byte

	operations []Operation // in the order of the help

	mu       sync.Mutex
	streams  map[string]*stream // by session
	draining bool
	turns    sync.WaitGroup // running; added to under mu, and not while draining
}

// New returns a server. It follows the changes of the hub until that is closed.
func New(o Options) (*Server, error) {
	o.HistoryWait = cmp.Or(o.HistoryWait, historyTime)
	o.AnswerWait, o.Comment = cmp.Or(o.AnswerWait, serve.AnswerWait), cmp.Or(o.Comment, commentAfter)
	o.Idle = cmp.Or(o.Idle, DefaultIdle)
	o.Write, o.Body, o.Drain = cmp.Or(o.Write, writeTime), cmp.Or(o.Body, bodyTime), cmp.Or(o.Drain, drainTime)
	s := &Server{opts: o, hub: o.Hub, log: o.Log, most: maxStreams, token: sha256.Sum256([]byte(o.Token)), streams: map[string]*stream{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Token == "" {
		return nil, errors.New("a server needs a token")
	}
	s.metrics = newMetrics(s)
	if err := s.describe(); err != nil {
		return nil, err
	}
	s.mux.HandleFunc("/", s.noRoute)
	s.handler = s.guard(s.mux)
	go s.relay(s.hub.Changes().Last())
	return s, nil
}

// Handler answers all requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve answers requests on a listener until ctx ends. Then running turns have Drain to
// complete, the rest is interrupted, every stream gets its last event, and the hub is
// closed.
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
	if tlsConfig != nil {
		l = tls.NewListener(l, tlsConfig)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return errors.Join(err, s.end())
	case <-ctx.Done():
	}
	failed := s.end() // streams end with it
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if server.Shutdown(bounded) != nil {
		_ = server.Close() // cuts what is still open
	}
	return failed
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// connState counts the connections that have not sent the token yet.
func (s *Server) connState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if dropped := s.logins.Begin(conn); dropped != nil {
			s.log.Warn("connection without a token dropped for another one", "remote", dropped.RemoteAddr().String())
			go func() { _ = dropped.Close() }() // that of TLS may wait for the client
		}
	case http.StateClosed, http.StateHijacked:
		s.logins.End(conn)
	case http.StateActive, http.StateIdle:
	}
}

// end ends turns, sessions and streams.
func (s *Server) end() error {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.turns.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(s.opts.Drain):
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := s.hub.Close(ctx)
	select {
	case <-done: // their last events are in the streams
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
