package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/checkpoint"
)

const (
	// MaxMessage is the maximum size, in bytes, of a message from a client.
	MaxMessage = 4 << 20
	// maxText is the maximum size, in bytes, of a text for the client.
	maxText = 256 << 10
)

// Options configures Run. Open is required; the other fields may be zero.
type Options struct {
	// Open opens the window for writing or, if write is false, only for reading.
	Open func(ctx context.Context, write bool) (Opened, error)
	// History stores the calls to write tools; it may be nil.
	History  assistant.Store
	Settings assistant.Settings
	// Resources describes the parts of the window's context that can be read, by field name.
	Resources map[string]string
	// AllowSave lets tools that require confirmation run if the client cannot ask its user.
	AllowSave bool
	// HowToAllow is added to a refusal as advice on what the agent's user can do; it may be "".
	HowToAllow string
	// ExtraTools returns read-only tools that the assistant of the window does not have; it may be nil.
	ExtraTools func(assistant.Window) []assistant.Tool
	Prompts    []Prompt
	// ApplyWait is how long a save waits for its changes to be applied before it returns its result; 0 means 45 seconds.
	ApplyWait time.Duration
	ReadOnly  bool                // offer only tools that change nothing
	Tools     []string            // the names of the tools to offer; empty means all
	Redact    func(string) string // removes secrets from a text; may be nil
	Version   string
	Log       *slog.Logger
}

// Prompt is a ready-made request that users can choose in their agent.
type Prompt struct{ Name, Title, Description, Text string }

// Opened is a window opened for one request.
type Opened struct {
	Window  assistant.Window
	Journal *checkpoint.Journal
	// Use is called with the session that is going to use the window.
	Use   func(*assistant.Session)
	Close func() error
}

// server answers the requests of one connection.
type server struct {
	*sdk.Server
	opts Options
	join func(ctx context.Context, client string) (*serve.Session, error) // nil unless the window belongs to a hub

	mu       sync.Mutex      // held during a request, except while a save is being applied
	position json.RawMessage // the position of a Positioned window after the last request; initially nil
	caller   caller          // the model that makes the calls of the session
	joined   *serve.Session  // the session for calls to write tools, opened by the first such call; always nil unless join is set
}

// Run handles the requests read from in and writes the answers to out, until in ends or ctx is done.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s, err := newServer(ctx, o)
	if err != nil {
		return err
	}
	return s.run(ctx, in, out)
}

// run handles the requests of one connection.
func (s *server) run(ctx context.Context, in io.Reader, out io.Writer) error {
	l := newLines(in, out)
	err := s.Run(ctx, l)
	if flushed := l.flush(); err == nil || errors.Is(err, context.Canceled) { // a client stops the server with a signal, which is not an error
		err = flushed
	}
	if err != nil {
		return fmt.Errorf("the connection to the agent was lost: %w", err)
	}
	return nil
}

// UnknownToolError reports a name in Options.Tools that no tool has.
type UnknownToolError struct {
	Name  string
	Known []string
}

// Error implements error.
func (e *UnknownToolError) Error() string {
	return fmt.Sprintf("there is no tool %q: the tools are %s", e.Name, strings.Join(e.Known, ", "))
}

// newServer returns a server that offers the tools, prompts and resources of the window.
func newServer(ctx context.Context, o Options) (*server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{opts: o}
	w, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	s.Server = sdk.NewServer(&sdk.Implementation{Name: "winnow", Version: o.Version}, &sdk.ServerOptions{
		Instructions: w.Window.Describe(), Logger: o.Log, Capabilities: &sdk.ServerCapabilities{},
	})
	var known []string
	offer := func(t assistant.Tool, handler sdk.ToolHandler) {
		known = append(known, t.Name)
		if (!o.ReadOnly || !t.Write && !t.Lasting) && (len(o.Tools) == 0 || slices.Contains(o.Tools, t.Name)) {
			s.AddTool(toolOf(t), handler)
		}
	}
	for _, t := range w.Window.Tools() {
		offer(t, s.call(t))
	}
	for _, t := range s.ownTools(w, "") {
		offer(t, s.callOwn(t.Name))
	}
	for _, name := range o.Tools {
		if !slices.Contains(known, name) {
			return nil, errors.Join(&UnknownToolError{name, known}, s.close(w))
		}
	}
	for _, p := range o.Prompts {
		s.AddPrompt(&sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}, p.get)
	}
	for name, description := range o.Resources {
		s.AddResource(&sdk.Resource{URI: "winnow://" + name, Name: name, Description: description, MIMEType: "application/json"}, s.read(name))
	}
	return s, s.close(w)
}

// get implements sdk.PromptHandler.
func (p Prompt) get(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: p.Text}}}}, nil
}

// resultSchema describes an assistant.ToolResult, which is the structured content of every result.
var resultSchema = json.RawMessage(`{"type":"object","required":["success","message"],"properties":{` +
	`"success":{"type":"boolean","description":"true if the tool did what it was asked to do"},` +
	`"message":{"type":"string","description":"what the tool did, or why it failed"},` +
	`"data":{"description":"the result of the tool"},` +
	`"error_code":{"type":"string","description":"identifies the failure; absent if the tool succeeded"},` +
	`"hint":{"type":"string","description":"what to do next, for example after a failure"}}}`)

// toolOf returns the description of a tool for the client.
func toolOf(t assistant.Tool) *sdk.Tool {
	destructive, openWorld := t.Destructive, t.OpenWorld
	return &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.Spec().Parameters, OutputSchema: resultSchema,
		Annotations: &sdk.ToolAnnotations{
			Title: cmp.Or(t.Title, strings.ReplaceAll(t.Name, "_", " ")), ReadOnlyHint: !t.Write,
			DestructiveHint: &destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &openWorld,
		},
	}
}

// open opens the window at the position of the last request. The caller holds s.mu, unless no request has been handled
// yet.
func (s *server) open(ctx context.Context, write bool) (Opened, error) {
	w, err := s.opts.Open(ctx, write)
	if err != nil {
		return w, err
	}
	s.restorePosition(w)
	return w, nil
}

func (s *server) restorePosition(w Opened) {
	if p, ok := w.Window.(assistant.Positioned); ok && s.position != nil && s.join == nil {
		if err := p.SetPosition(s.position); err != nil {
			s.opts.Log.Warn("the agent's position in the window could not be restored", "error", err)
		}
	}
}

// close closes the window and stores its position.
func (s *server) close(w Opened) error {
	if p, ok := w.Window.(assistant.Positioned); ok {
		if at, err := p.Position(); err == nil {
			s.position = at
		}
	}
	return w.Close()
}

// read returns the handler that reads one part of the window's context.
func (s *server) read(name string) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (_ *sdk.ReadResourceResult, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w, err := s.open(ctx, false)
		if err != nil {
			return nil, fmt.Errorf("%s", s.clean(err.Error()))
		}
		defer func() { s.logClose(s.close(w)) }()
		part, err := contextPart(w.Window, name)
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: s.clean(string(part))}}}, nil
	}
}

// contextPart returns one field of the window's context; null if there is no such field.
func contextPart(w assistant.Window, name string) (json.RawMessage, error) {
	value, err := w.Context()
	if err != nil {
		return nil, err
	}
	raw, err := assistant.PlainJSON(value)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if part, ok := fields[name]; ok {
		return part, nil
	}
	return json.RawMessage("null"), nil
}

func (s *server) logClose(err error) {
	if err != nil {
		s.opts.Log.Error("the window could not be closed", "error", err)
	}
}
