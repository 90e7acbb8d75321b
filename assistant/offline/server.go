package offline

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// ModelID is the only model; winnow shows it as "offline/rules".
	ModelID = "rules"
	// ContextWindow is the size the model list reports, in tokens. The rules
	// have no limit; this one keeps the context generous and bounded.
	ContextWindow = 128000

	// maxBody bounds a request: 20,000 models of context are about 4 MiB.
	maxBody = 32 << 20
	// headerLimit bounds how long a connection may take to send its headers.
	headerLimit = 10 * time.Second
)

// Options configures the model. The zero value asks for no token and streams
// without delay.
type Options struct {
	// Token is the bearer token to ask for; "" asks for none. Start makes its own.
	Token string
	// Delay is the pause between streamed chunks, so that streaming is seen; 0 is none.
	Delay time.Duration
}

// Model is the offline model as an http.Handler. It keeps nothing between
// requests and may be used from any goroutine.
type Model struct {
	opts Options
	mux  *http.ServeMux
}

// New returns the model. It does no I/O.
func New(opts Options) *Model {
	m := &Model{opts: opts, mux: http.NewServeMux()}
	m.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		card := map[string]any{"id": ModelID, "object": "model", "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{card}})
	})
	m.mux.HandleFunc("POST /v1/chat/completions", m.complete)
	m.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, &refusal{http.StatusNotFound, "not_found", "there is no " + r.Method + " " + clean(r.URL.Path) + " here"})
	})
	return m
}

// ServeHTTP serves the OpenAI wire: GET /v1/models, POST /v1/chat/completions.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if m.opts.Token != "" && (!strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(m.opts.Token)) == 0) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, &refusal{http.StatusUnauthorized, "invalid_api_key", "the bearer token is missing or wrong"})
		return
	}
	m.mux.ServeHTTP(w, r)
}

// complete answers a chat request as a stream, whether it asks for one or not.
func (m *Model) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		refuse(w, &refusal{http.StatusRequestEntityTooLarge, "request_too_large", "the request is larger than this model reads"})
		return
	}
	if err != nil {
		return // the client has gone
	}
	req, bad := readRequest(body)
	if bad != nil {
		refuse(w, bad)
		return
	}
	stream(r.Context(), w, chunks(body, req.usage, respond(req)), m.opts.Delay)
}

// refusal is why a request is not answered, in the form of the wire.
type refusal struct {
	status        int
	code, message string
}

func refuse(w http.ResponseWriter, f *refusal) {
	kind := "invalid_request_error"
	if f.status == http.StatusUnauthorized {
		kind = "authentication_error"
	}
	writeJSON(w, f.status, map[string]any{"error": map[string]any{"message": f.message, "type": kind, "code": f.code, "param": nil}})
}

// writeJSON ignores the write's error: it means that the client has gone.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Server is the model behind connections in memory: it needs no port and no file
// descriptor, and nobody but Client reaches it.
type Server struct {
	http  *http.Server
	conns chan net.Conn // dialled, and not accepted yet
	token string
	stop  func() bool
	done  chan struct{} // closed when nothing is served any more
}

// Start serves the model with a random bearer token in place of opts.Token. The
// server ends with ctx or Close, streams included.
func Start(ctx context.Context, opts Options) *Server {
	opts.Token = rand.Text()
	s := &Server{token: opts.Token, conns: make(chan net.Conn), done: make(chan struct{})}
	s.http = &http.Server{Handler: New(opts), ReadHeaderTimeout: headerLimit, BaseContext: func(net.Listener) context.Context { return ctx }}
	l := &listener{conns: s.conns, closed: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // ErrServerClosed: Close is the only end
	}()
	s.stop = context.AfterFunc(ctx, func() { _ = s.http.Close() })
	return s
}

// listener accepts the connections that Client dials.
type listener struct {
	conns  <-chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "offline", Net: "pipe"} }

// Client reaches the server.
func (s *Server) Client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case s.conns <- theirs:
			return ours, nil
		case <-s.done:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true}}
}

// URL is the base URL for an OpenAI client that uses Client.
func (s *Server) URL() string { return "http://127.0.0.1/v1" }

// Token is the bearer token the server asks for.
func (s *Server) Token() string { return s.token }

// Close ends the server and its connections, and waits for the listener.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	<-s.done
	return err
}
