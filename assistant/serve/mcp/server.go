package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/checkpoint"
)

const (
	// maxMessage is the maximum size of a client's message in bytes.
	maxMessage = 4 << 20
	// maxText is the maximum size of a text for the client in bytes.
	maxText = 256 << 10
)

// Options configures Run. Open is required; the other fields may be zero.
type Options struct {
	// Open opens the window for writing or only for reading.
	Open func(ctx context.Context, write bool) (Opened, error)
	// History stores the calls of write tools; it may be nil.
	History  assistant.Store
	Settings assistant.Settings
	// Resources describes the parts of the window's context that can be read, by field name.
	Resources map[string]string
	// AllowSave lets tools that require confirmation run if the client cannot ask its user.
	AllowSave bool
	// HowToAllow tells a refused agent what its user can do; it may be "".
	HowToAllow string
	Redact     func(string) string // removes secrets from a text; may be nil
	Version    string
	Log        *slog.Logger
}

// Opened is a window opened for one request.
type Opened struct {
	Window  assistant.Window
	Journal *checkpoint.Journal
	// Use tells the window which session is using it.
	Use   func(*assistant.Session)
	Close func() error
}

// server answers the requests of one connection.
type server struct {
	opts Options

	mu       sync.Mutex      // held during a request
	position json.RawMessage // position of a Positioned window after the last request; initially nil
}

// Run handles the requests read from in and writes the answers to out, until in ends or ctx is done.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s, err := newServer(ctx, o)
	if err != nil {
		return err
	}
	l := newLines(in, out)
	err = s.Run(ctx, l)
	if flushed := l.flush(); err == nil || errors.Is(err, context.Canceled) { // clients end a server with a signal
		err = flushed
	}
	if err != nil {
		return fmt.Errorf("the connection to the agent broke: %w", err)
	}
	return nil
}

// newServer registers the tools and resources of the window.
func newServer(ctx context.Context, o Options) (*sdk.Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{opts: o}
	w, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	out := sdk.NewServer(&sdk.Implementation{Name: "winnow", Version: o.Version}, &sdk.ServerOptions{
		Instructions: w.Window.Describe(), Logger: o.Log, Capabilities: &sdk.ServerCapabilities{},
	})
	for _, t := range w.Window.Tools() {
		out.AddTool(toolOf(t), s.call(t))
	}
	for name, description := range o.Resources {
		out.AddResource(&sdk.Resource{URI: "winnow://" + name, Name: name, Description: description, MIMEType: "application/json"}, s.read(name))
	}
	return out, s.close(w)
}

// toolOf describes a tool to the client.
func toolOf(t assistant.Tool) *sdk.Tool {
	destructive, openWorld := t.Destructive, t.OpenWorld
	return &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.Spec().Parameters,
		Annotations: &sdk.ToolAnnotations{
			Title: cmp.Or(t.Title, strings.ReplaceAll(t.Name, "_", " ")), ReadOnlyHint: !t.Write,
			DestructiveHint: &destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &openWorld,
		},
	}
}

// open opens the window at the position of the last request. The caller holds s.mu, unless there has been no request
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
	if p, ok := w.Window.(assistant.Positioned); ok && s.position != nil {
		if err := p.SetPosition(s.position); err != nil {
			s.opts.Log.Warn("position not restored", "error", err)
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

// read returns the handler for one part of the window's context.
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

// contextPart returns one field of the window's context.
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
		s.opts.Log.Error("window not closed", "error", err)
	}
}
