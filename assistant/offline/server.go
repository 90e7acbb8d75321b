package offline

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"time"
)

// headerLimit bounds how long a connection may take to send its headers.
const headerLimit = 10 * time.Second

// Server is the model on a loopback port of its own.
type Server struct {
	http  *http.Server
	url   string
	token string
	stop  func() bool
	done  chan struct{}
}

// Start listens on 127.0.0.1 on a free port, with a random bearer token in
// place of opts.Token. The server ends with ctx or Close, streams included.
func Start(ctx context.Context, opts Options) (*Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("offline: listen: %w", err)
	}
	opts.Token = rand.Text()
	s := &Server{url: "http://" + l.Addr().String() + "/v1", token: opts.Token, done: make(chan struct{})}
	s.http = &http.Server{Handler: New(opts), ReadHeaderTimeout: headerLimit, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // ErrServerClosed: Close is the only end
	}()
	s.stop = context.AfterFunc(ctx, func() { _ = s.http.Close() })
	return s, nil
}

// URL is the base URL for an OpenAI client, "http://127.0.0.1:PORT/v1".
func (s *Server) URL() string { return s.url }

// Token is the bearer token the server asks for.
func (s *Server) Token() string { return s.token }

// Close ends the server and its connections, and waits for the listener.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	<-s.done
	return err
}
