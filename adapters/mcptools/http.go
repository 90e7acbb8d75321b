package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant/llm"
)

const (
	// handshakeTimeout limits the TLS handshake with a server.
	handshakeTimeout = 10 * time.Second
	// retries is how many times a broken stream is resumed.
	retries = 2
)

// httpLink is the connection to a server at an address.
type httpLink struct {
	sdk.StreamableClientTransport
	connection sdk.Connection
	transport  *http.Transport
	mu         sync.Mutex // guards the fields connection and wrong
	wrong      string     // why the last request failed; "" if it succeeded
}

// newHTTP returns the link to the address in the settings. The headers in the settings are
// sent only to the origin of this address.
func (s *server) newHTTP(ctx context.Context) (link, error) {
	o := s.client.opts
	at, err := llm.CheckBaseURL(s.config.URL, s.config.AllowHTTP)
	if err != nil {
		return nil, errors.New(strings.NewReplacer("the base URL", "url", "the key", "the headers").
			Replace(llm.AllowHTTP(err, "set allow_http = true in the [[mcp]] entry").Error()))
	}
	headers := http.Header{}
	for name, secret := range s.config.Headers {
		value, err := secret.Resolve(ctx, o.Environ, o.Redactor)
		if err != nil {
			return nil, fmt.Errorf("headers %s: %w", name, err)
		}
		s.learn(secret, name, value)
		if _, bare, ok := strings.Cut(value, " "); ok { // "Bearer KEY"
			s.learn(secret, name, bare)
		}
		headers.Set(name, value)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSHandshakeTimeout = handshakeTimeout
	transport.MaxResponseHeaderBytes = 64 << 10
	l := &httpLink{transport: transport}
	l.Endpoint, l.DisableStandaloneSSE, l.MaxRetries, l.MaxEventSize = s.config.URL, true, retries, maxReceived
	l.HTTPClient = &http.Client{
		Transport:     &origin{at: at, headers: headers, base: transport, link: l},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return l, nil
}

// Connect implements sdk.Transport.
func (l *httpLink) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := l.StreamableClientTransport.Connect(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connection = c
	return c, err
}

func (l *httpLink) reset() {}

func (l *httpLink) failure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

// fail records why a request failed; "" records that it succeeded.
func (l *httpLink) fail(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = reason
}

// end ends the session on the server, unless that takes too long.
func (l *httpLink) end() {
	l.mu.Lock()
	c := l.connection
	l.mu.Unlock()
	if c == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		_ = c.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
	l.transport.CloseIdleConnections()
}

// origin is a round tripper that adds the headers to requests to one origin, rejects
// requests to others, and limits the size of responses.
type origin struct {
	at      *url.URL
	headers http.Header
	base    http.RoundTripper
	link    *httpLink
}

func (o *origin) RoundTrip(r *http.Request) (*http.Response, error) {
	if !llm.SameOrigin(r.URL, o.at) {
		return nil, errors.New("the server refers to another host; nothing was sent to that host")
	}
	r = r.Clone(r.Context())
	for name, values := range o.headers {
		r.Header[name] = values
	}
	resp, err := o.base.RoundTrip(r)
	switch {
	case err != nil:
		if r.Context().Err() == nil {
			o.link.fail(err.Error())
		}
		return nil, err
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		o.link.fail("it redirects to another address: correct its url in the settings")
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		o.link.fail(fmt.Sprintf("it does not accept the key (status %d): correct its headers in the settings", resp.StatusCode))
	case resp.StatusCode < 300:
		o.link.fail("")
	}
	resp.Body = &limitedBody{&limitedReader{from: resp.Body}, o.link}
	return resp, nil
}

// limitedBody is a response body of at most maxReceived bytes.
type limitedBody struct {
	*limitedReader
	link *httpLink
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.limitedReader.Read(p)
	if errors.Is(err, errFlood) {
		b.link.fail(fmt.Sprintf("it sent more than %d MiB at once and was stopped", maxReceived>>20))
	}
	return n, err
}

func (b *limitedBody) Close() error { return b.from.Close() }

var _ io.ReadCloser = (*limitedBody)(nil)
