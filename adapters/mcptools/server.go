package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/adapters/config"
	"winnow/assistant"
)

const (
	// maxListed limits the number of tools of one server, and maxPages the number of pages
	// that list them.
	maxListed = 200
	maxPages  = 20
	// listPause is the minimum time between two reads of the list when a server reports
	// changes.
	listPause = time.Second
	// maxReason is the maximum width of an error in cells.
	maxReason = 300
)

// server is a server from the settings and the connection to it.
type server struct {
	client     *Client
	config     config.MCPServer
	connecting chan struct{} // a semaphore of one, held while connecting
	changed    chan struct{} // signals that the server has changed its list

	mu      sync.Mutex // guards the fields below
	session *sdk.ClientSession
	link    link
	offered []assistant.Tool
	latest  Report
	closed  bool
}

// link is the connection below a session.
type link interface {
	sdk.Transport
	// reset sets the number of received bytes, which maxReceived limits, to 0.
	reset()
	// failure describes why the connection ended; "" if only the session knows.
	failure() string
	// end ends the server. It is called once and takes at most about closeTime.
	end()
}

var errClosed = errors.New("the program is exiting")

// connect returns the session, connecting first if necessary.
func (s *server) connect(ctx context.Context) (*sdk.ClientSession, error) {
	select {
	case s.connecting <- struct{}{}:
		defer func() { <-s.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	session, closed := s.session, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case session != nil:
		return session, nil
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	session, l, err := s.open(bounded)
	if err != nil && ctx.Err() == nil {
		err = s.reason(bounded, err, l)
	}
	s.mu.Lock()
	s.latest.Took, s.latest.Err = max(time.Since(began), 1), err
	if err == nil && !s.closed {
		s.session, s.link = session, l
	}
	closed = s.closed
	s.mu.Unlock()
	switch {
	case err == nil && !closed:
		go s.watch(session, l)
		return session, nil
	case err == nil:
		err = errClosed
	}
	if l != nil {
		l.end()
	}
	s.client.opts.Log.Warn("MCP server", "name", s.config.Name, "error", err)
	return nil, err
}

// open starts the server and lists its tools. After an error the caller must end the link.
func (s *server) open(ctx context.Context) (*sdk.ClientSession, link, error) {
	l, err := s.newLink(ctx)
	if err != nil {
		return nil, nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "winnow", Version: s.client.opts.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		},
	})
	type connected struct {
		session *sdk.ClientSession
		err     error
	}
	done := make(chan connected, 1)
	go func() {
		session, err := client.Connect(ctx, l, nil)
		if err == nil {
			err = s.list(ctx, session)
		}
		done <- connected{session, err}
	}()
	select {
	case c := <-done:
		return c.session, l, c.err
	case <-ctx.Done(): // the transport may not notice that ctx has ended
		return nil, l, ctx.Err()
	}
}

// newLink returns the link for the server's settings.
func (s *server) newLink(ctx context.Context) (link, error) {
	if s.config.URL != "" {
		return s.newHTTP(ctx)
	}
	return s.newProcess(ctx)
}

// list reads the tools of a server.
func (s *server) list(ctx context.Context, session *sdk.ClientSession) error {
	var listed []*sdk.Tool
	params := &sdk.ListToolsParams{}
	for page := 0; ; page++ {
		found, err := session.ListTools(ctx, params)
		if err != nil {
			return fmt.Errorf("its tools cannot be listed: %w", err)
		}
		listed = append(listed, found.Tools...)
		if params.Cursor = found.NextCursor; params.Cursor == "" || page+1 == maxPages || len(listed) > maxListed {
			break
		}
	}
	offered, report := s.offer(listed)
	s.mu.Lock()
	defer s.mu.Unlock()
	report.Took, report.Err = s.latest.Took, s.latest.Err
	s.offered, s.latest = offered, report
	return nil
}

// watch reads the list of tools again whenever the server reports a change, until the
// session ends.
func (s *server) watch(session *sdk.ClientSession, l link) {
	over := make(chan error, 1)
	go func() { over <- session.Wait() }()
	for {
		select {
		case err := <-over:
			s.mu.Lock()
			current := s.session == session
			if current {
				s.session, s.link = nil, nil
			}
			s.mu.Unlock()
			if current { // otherwise the session was closed or replaced
				l.end()
				s.client.opts.Log.Warn("MCP server ended", "name", s.config.Name, "error", err, "reason", l.failure())
			}
			return
		case <-s.changed:
			ctx, cancel := context.WithTimeout(s.client.ctx, connectTimeout)
			l.reset()
			if err := s.list(ctx, session); err != nil {
				s.client.opts.Log.Warn("MCP server", "name", s.config.Name, "error", err)
			}
			cancel()
			select {
			case <-time.After(listPause):
			case <-s.client.ctx.Done():
			}
		}
	}
}

// reason returns the error that the user is shown for a failed connection.
func (s *server) reason(ctx context.Context, err error, l link) error {
	text := err.Error()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		text = fmt.Sprintf("no answer within %s", connectTimeout)
	case l != nil && l.failure() != "":
		text = l.failure()
	}
	return errors.New(s.client.line(text, maxReason))
}

// report returns the latest report, with the server's name and address.
func (s *server) report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.latest
	r.Name = s.config.Name
	r.Address = s.config.URL
	if len(s.config.Command) > 0 {
		r.Address = filepath.Base(s.config.Command[0]) // its arguments may contain a secret
	} else if u, err := url.Parse(s.config.URL); err == nil {
		r.Address = u.Scheme + "://" + u.Host
	}
	return r
}

// tools returns the tools that the server last listed, even if it is not connected: a call
// reconnects.
func (s *server) tools() []assistant.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offered
}

// close ends the server, and waits briefly for a connection attempt to end.
func (s *server) close() {
	s.mu.Lock()
	l := s.link
	s.session, s.link, s.closed = nil, nil, true
	s.mu.Unlock()
	if l != nil {
		l.end()
	}
	select { // a connection attempt in progress ends with the client's context
	case s.connecting <- struct{}{}:
	case <-time.After(2 * closeTime):
	}
}

// call calls a tool on the server, connecting first if necessary.
func (s *server) call(ctx context.Context, tool string, args json.RawMessage) assistant.ToolResult {
	session, err := s.connect(ctx)
	if err != nil {
		return assistant.Fail(assistant.CodeFailed, "the MCP server %s could not be reached: %v", s.config.Name, err)
	}
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l != nil {
		l.reset()
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err == nil {
		return s.result(tool, result)
	}
	if l != nil && l.failure() != "" {
		err = errors.New(l.failure())
	}
	return assistant.Fail(assistant.CodeFailed, "%s on %s failed, and its effects are unknown: %s", s.client.line(tool, maxName), s.config.Name, s.client.line(err.Error(), maxReason))
}
