package mcptools

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"winnow/adapters/config"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	// connectTimeout limits the time from starting a server until it has listed its tools.
	connectTimeout = 30 * time.Second
	// callTimeout is the timeout of a call if the settings do not specify one.
	callTimeout = time.Minute
	// closeTime is how long a server may take to end. A command that takes longer is killed.
	closeTime = 200 * time.Millisecond
	// maxTools limits the tools of all servers together: providers accept 128 per request,
	// and the window has its own.
	maxTools = 100
)

// Options configures New.
type Options struct {
	Servers  []config.MCPServer
	Environ  []string           // in the form of os.Environ
	Redactor *safetext.Redactor // removes keys from results and errors; the keys of servers are added to it
	Version  string             // version of this program, sent to the servers
	Log      *slog.Logger       // nil means no log
	// Notify is called with one line when the tools of a server become available, or when
	// the server cannot be used; may be nil.
	Notify func(text safetext.Text)
}

// Client holds a connection to each server.
type Client struct {
	opts    Options
	servers []*server
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	started sync.WaitGroup // the first connection attempts
}

// New returns a client that has not connected yet. An invalid address is reported as the
// error of its server.
func New(o Options) *Client {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Redactor == nil {
		o.Redactor = &safetext.Redactor{}
	}
	c := &Client{opts: o}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	for _, s := range o.Servers {
		c.servers = append(c.servers, &server{client: c, config: s, connecting: make(chan struct{}, 1), changed: make(chan struct{}, 1)})
	}
	return c
}

// Start connects to all servers in the background. Call it once.
func (c *Client) Start() {
	for _, s := range c.servers {
		c.started.Go(func() {
			_, err := s.connect(c.ctx)
			if c.opts.Notify == nil || c.ctx.Err() != nil {
				return
			}
			switch r := s.report(); {
			case err != nil:
				c.opts.Notify(safetext.Sprintf("MCP server %s: %v", s.config.Name, err))
			case len(r.LeftOut) > 0:
				c.opts.Notify(safetext.Sprintf("MCP server %s: %s available, %d left out (winnow tools test says why)", r.Name, assistant.Counted(len(r.Tools), "tool"), len(r.LeftOut)))
			default:
				c.opts.Notify(safetext.Sprintf("MCP server %s: %s available", r.Name, assistant.Counted(len(r.Tools), "tool")))
			}
		})
	}
}

// Wait waits until each server has connected or failed, or until ctx ends. It returns the
// names of servers that have not answered by then.
func (c *Client) Wait(ctx context.Context) (missing []string) {
	done := make(chan struct{})
	go func() { c.started.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	for _, s := range c.servers {
		if r := s.report(); r.Took == 0 {
			missing = append(missing, s.config.Name)
		}
	}
	return missing
}

// Tools returns the tools of the servers that have answered, in the order of the settings,
// but at most maxTools.
func (c *Client) Tools() (tools []assistant.Tool) {
	for _, s := range c.servers {
		tools = append(tools, s.tools()...)
	}
	return tools[:min(len(tools), maxTools)]
}

// Report describes a server.
type Report struct {
	Name    string        `json:"name"`
	Address string        `json:"address"` // the file name of the command, or the scheme and host of the URL
	Tools   []Offered     `json:"tools"`
	LeftOut []LeftOut     `json:"left_out"`
	Unknown []string      `json:"unknown"` // entries of allowed_tools that the server does not have
	Took    time.Duration `json:"took_ns"` // time until the tools were listed or the server failed; 0 if it has not answered
	Err     error         `json:"-"`
}

// Offered is a tool that is offered to the assistant.
type Offered struct {
	Name        string `json:"name"` // the name that the model uses
	Tool        string `json:"tool"` // the name that the server uses
	Description string `json:"description"`
	Asks        bool   `json:"asks"` // every call needs the user's approval
}

// LeftOut is a tool that is not offered to the assistant.
type LeftOut struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

// Reports connects to all servers that are not connected, at the same time, and describes
// the servers in the order of the settings. If there are names, only the named servers are
// included.
func (c *Client) Reports(ctx context.Context, names ...string) []Report {
	var out []Report
	var all sync.WaitGroup
	var chosen []*server
	for _, s := range c.servers {
		if len(names) == 0 || slices.Contains(names, s.config.Name) {
			chosen = append(chosen, s)
			all.Go(func() { _, _ = s.connect(ctx) }) // the report contains the error
		}
	}
	all.Wait()
	for _, s := range chosen {
		out = append(out, s.report())
	}
	return out
}

// Close ends the servers and waits for them, for at most twice closeTime.
func (c *Client) Close() error {
	c.cancel()
	var all sync.WaitGroup
	for _, s := range c.servers {
		all.Go(s.close)
	}
	all.Wait()
	return nil
}

// clean makes text from a server safe to show and to send to a model: it removes keys and
// hidden characters.
func (c *Client) clean(text string) string {
	return string(safetext.Clean(c.opts.Redactor.Redact(text)))
}

// line does the same as clean, and cuts the text to a single line of at most width cells.
func (c *Client) line(text string, width int) string {
	return string(safetext.Line(c.opts.Redactor.Redact(text), width))
}

// timeout returns how long a call to the server may take.
func timeout(s config.MCPServer) time.Duration { return cmp.Or(s.CallTimeout(), callTimeout) }
