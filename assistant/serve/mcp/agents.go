package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
)

// AgentOptions configures Agents.
type AgentOptions struct {
	Options // the options of each connection; Open and History are not used
	Hub     *serve.Hub
	Metrics *serve.Metrics // may be nil
	Idle    time.Duration  // the time without a request after which an HTTP session ends; 0 means never
	Max     int            // the maximum number of connections; 0 means DefaultMax
	PerUser int            // the maximum number of connections of one user; 0 means DefaultPerUser
}

// The default limits of Agents.
const (
	DefaultMax     = 200
	DefaultPerUser = 50
)

// ErrTooMany is returned if a new connection would exceed the limits.
var ErrTooMany = errors.New("too many agents are connected: disconnect one first")

// Agents manages the connections of agents to the window of a hub. Each connection has its own session, which is opened
// by the first call to a write tool. Create it with NewAgents.
type Agents struct {
	opts AgentOptions
	http http.Handler

	mu      sync.Mutex // guards the fields below
	open    map[*agent]struct{}
	closed  bool
	refused int
	calls   sync.WaitGroup // requests being handled; Add is called only under mu and not while closed
}

// agent is the connection of one agent.
type agent struct {
	*server
	agents *Agents
	who    serve.Credential
	ctx    context.Context // a context that ends with the connection
	end    context.CancelFunc
	window assistant.Window // the window with a position of its own; see serve.Hub.Place
	began  bool             // true if the connection counts towards the limits; guarded by the mutex of agents
}

// NewAgents returns Agents without connections.
func NewAgents(o AgentOptions) *Agents {
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.PerUser == 0 {
		o.PerUser = DefaultPerUser
	}
	a := &Agents{opts: o, open: map[*agent]struct{}{}}
	none := sdk.NewServer(&sdk.Implementation{Name: "winnow", Version: o.Version}, nil) // passed for later requests of a session, which use the session's own server
	handler := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if c, ok := r.Context().Value(agentKey{}).(*agent); ok {
			return c.Server
		}
		return none
	}, &sdk.StreamableHTTPOptions{
		Logger: o.Log, EventStore: sdk.NewMemoryEventStore(nil), SessionTimeout: o.Idle, MaxRequestBodyBytes: MaxMessage,
		DisableLocalhostProtection: true, // the HTTP server has already checked Host and Origin
	})
	identify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		who, _ := ctx.Value(whoKey{}).(serve.Credential)
		return &auth.TokenInfo{UserID: who.Key + "\x00" + who.User}, nil // the SDK compares UserID, so that no other user can continue the session
	}
	a.http = auth.RequireBearerToken(identify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(handler)
	return a
}

type (
	agentKey struct{} // the context key of the agent of a request that begins a session
	whoKey   struct{} // the context key of the credential of a request
)

// sessionHeader is the header that names the session of a request.
const sessionHeader = "Mcp-Session-Id"

// ServeHTTP handles a request from a client whose token has been checked. If the request would begin a session but no
// more sessions are possible, ServeHTTP returns ErrTooMany or serve.ErrClosed without having responded, and the caller
// must respond.
func (a *Agents) ServeHTTP(w http.ResponseWriter, r *http.Request, who serve.Credential) error {
	ctx := context.WithValue(r.Context(), whoKey{}, who)
	if r.Method != http.MethodPost || r.Header.Get(sessionHeader) != "" {
		a.http.ServeHTTP(w, r.WithContext(ctx))
		return nil
	}
	c, err := a.join(context.WithoutCancel(ctx), who, a.OptionsOf(who))
	if err != nil {
		return err
	}
	a.http.ServeHTTP(w, r.WithContext(context.WithValue(ctx, agentKey{}, c)))
	stop := context.AfterFunc(c.ctx, func() {
		for session := range c.Sessions() {
			_ = session.Close() // an error means that the session has already ended
		}
	})
	leave := func() {
		for session := range c.Sessions() {
			_ = session.Wait() // how the session ended does not matter
		}
		stop()
		a.leave(c)
	}
	if a.hasBegun(c) {
		go leave() // the session outlives the request
	} else {
		leave()
	}
	return nil
}

// Run serves a client that writes its requests to in and reads the answers from out, until in ends, ctx is done or
// Close is called. o are the options returned by OptionsOf, to which the caller adds the user's choice of tools.
func (a *Agents) Run(ctx context.Context, in io.Reader, out io.Writer, who serve.Credential, o Options) error {
	c, err := a.join(ctx, who, o)
	if err != nil {
		return err
	}
	defer a.leave(c)
	if err := a.begin(c); err != nil {
		return err
	}
	return c.run(c.ctx, in, out)
}

// OptionsOf returns the options of a connection. If the role of the credential allows saving, AllowSave is set.
func (a *Agents) OptionsOf(who serve.Credential) Options {
	o := a.opts.Options
	o.AllowSave = who.Role.May(assistant.RoleSave)
	return o
}

// join returns a new connection. The caller must call leave when the connection has ended.
func (a *Agents) join(ctx context.Context, who serve.Credential, o Options) (*agent, error) {
	if !who.Role.May(assistant.RoleRead) {
		return nil, &assistant.RoleError{Role: who.Role, Need: assistant.RoleRead}
	}
	c := &agent{agents: a, who: who, window: a.opts.Hub.Place()}
	c.ctx, c.end = context.WithCancel(ctx)
	if err := a.add(c); err != nil {
		c.end()
		return nil, err
	}
	o.ReadOnly = o.ReadOnly || !who.Role.May(assistant.RolePropose)
	o.Open = c.openWindow
	s, err := newServer(ctx, o)
	if err != nil {
		a.leave(c)
		return nil, err
	}
	s.join = c.openSession
	s.AddReceivingMiddleware(c.receive)
	c.server = s
	return c, nil
}

// add adds a connection, which does not count towards the limits yet: clients start with requests that begin no session.
func (a *Agents) add(c *agent) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.room(c); err != nil {
		return err
	}
	a.open[c] = struct{}{}
	return nil
}

// begin counts a connection towards the limits.
func (a *Agents) begin(c *agent) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.room(c)
	c.began = err == nil
	return err
}

func (a *Agents) hasBegun(c *agent) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return c.began
}

// maxLogged is the maximum width of a name in the log, in cells.
const maxLogged = 60

// room returns an error if another connection like c would exceed a limit. The caller has locked a.mu.
func (a *Agents) room(c *agent) error {
	all, own := 0, 0
	for other := range a.open {
		if other.began && other != c {
			all++
			if other.who.User == c.who.User {
				own++
			}
		}
	}
	switch {
	case a.closed:
		return serve.ErrClosed
	case all >= a.opts.Max, own >= a.opts.PerUser:
		a.refused++
		return ErrTooMany
	}
	return nil
}

// leave removes a connection and closes its session.
func (a *Agents) leave(c *agent) {
	c.end()
	a.mu.Lock()
	delete(a.open, c)
	a.mu.Unlock()
	if c.server == nil {
		return
	}
	c.mu.Lock() // waits for the running call
	defer c.mu.Unlock()
	if c.joined == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := c.joined.Close(ctx); err != nil {
		c.opts.Log.Error("the session of an agent could not be closed", "error", err)
	}
	c.joined = nil
}

// closeTime limits how long closing a session may take.
const closeTime = 10 * time.Second

// receive handles a request. The request that begins a session makes the connection count towards the limits. receive
// also tracks the requests that are being handled, and refuses requests while the server is shutting down.
func (c *agent) receive(next sdk.MethodHandler) sdk.MethodHandler {
	a := c.agents
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "initialize" && !a.hasBegun(c) {
			if err := a.begin(c); err != nil {
				return nil, err
			}
		}
		a.mu.Lock()
		if a.closed {
			a.mu.Unlock()
			return nil, serve.ErrClosed
		}
		a.calls.Add(1)
		a.mu.Unlock()
		defer a.calls.Done()
		tool, began := "", time.Now()
		if call, ok := req.(*sdk.CallToolRequest); ok {
			tool = string(safetext.Line(call.Params.Name, maxLogged))
		}
		result, err := next(ctx, method, req)
		outcome := "ok"
		if called, ok := result.(*sdk.CallToolResult); err != nil || ok && called.IsError {
			outcome = "failed"
		}
		a.opts.Metrics.Called(serve.ServerMCP, string(safetext.Line(method, maxLogged)), outcome)
		c.opts.Log.Info("mcp: request", "user", cmp.Or(c.who.User, "a local agent"), "kind", method, "tool", tool, "outcome", outcome, "took", time.Since(began).Round(time.Microsecond).String())
		return result, err
	}
}

// openWindow returns the window of the hub. The window stays open after the request.
func (c *agent) openWindow(context.Context, bool) (Opened, error) {
	hub := c.agents.opts.Hub
	return Opened{Window: c.window, Journal: hub.Journal(), Use: func(*assistant.Session) {}, Close: func() error { return nil }}, nil
}

// openSession opens the session of a connection. Its user is the user of the credential or, for an agent on this
// machine, the agent itself.
func (c *agent) openSession(ctx context.Context, client string) (*serve.Session, error) {
	models, err := c.models()
	if err != nil {
		return nil, err
	}
	user := c.who.User
	if user == "" {
		user = client + windowlock.AgentSuffix
	}
	s, err := c.agents.opts.Hub.Open(ctx, serve.Join{User: user, Role: c.who.Role, Key: c.who.Key, Model: "mcp/" + client, Models: models, Window: c.window})
	if err != nil {
		return nil, fmt.Errorf("the session could not be opened: %w", err)
	}
	return s, nil
}

// Keys returns the Credential.Key of each connection.
func (a *Agents) Keys() (keys []string) {
	for _, c := range a.connections() {
		keys = append(keys, c.who.Key)
	}
	return keys
}

// End ends the connections whose credential is no longer valid.
func (a *Agents) End(valid func(key string) bool) {
	for _, c := range a.connections() {
		if !valid(c.who.Key) {
			c.end()
		}
	}
}

func (a *Agents) connections() (out []*agent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.open {
		out = append(out, c)
	}
	return out
}

// Close waits until the running calls have ended or ctx is done, and then ends all connections. No new connections can
// begin.
func (a *Agents) Close(ctx context.Context) {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	done := make(chan struct{})
	go func() { a.calls.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	a.End(func(string) bool { return false })
}

// Counts returns the number of connections that count towards the limits, and the number of refused connections.
func (a *Agents) Counts() (open, refused int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.open {
		if c.began {
			open++
		}
	}
	return open, a.refused
}
