package modelfilter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"winnow/assistant"
)

// placed is the window as seen from a separate place, with its own current provider instead
// of the one in the pane. Everything else, such as the rules, is shared with the window.
type placed struct {
	*Window
	at *place
}

// place is the position in the window of a user without a pane, such as an agent. A nil place is
// the window's own position.
type place struct {
	mu       sync.Mutex
	provider string
}

var (
	_ assistant.Placer     = (*Window)(nil)
	_ assistant.Positioned = placed{}
)

// Place implements [assistant.Placer]. The place begins at the window's current provider.
func (w *Window) Place() assistant.Window {
	return placed{w, &place{provider: w.Provider()}}
}

// placeOf returns the Window that window is or wraps, and its place, which is nil if window is the
// Window itself. It returns nil, nil if window is not a model filter.
func placeOf(window assistant.Window) (*Window, *place) {
	switch w := window.(type) {
	case *Window:
		return w, nil
	case placed:
		return w.Window, w.at
	}
	return nil, nil
}

// placeKey is the context key of the place from which a tool is called.
type placeKey struct{}

// callerPlace returns the place from which a tool is called.
func callerPlace(ctx context.Context) *place {
	at, _ := ctx.Value(placeKey{}).(*place)
	return at
}

// current returns the current provider of a place. The caller holds w.mu.
func (at *place) current(w *Window) string {
	if at == nil {
		return w.current
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if !slices.Contains(w.order, at.provider) {
		return w.current // the place's provider has been removed
	}
	return at.provider
}

// named returns the name of the place's provider, which may have been removed.
func (at *place) named() string {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.provider
}

// move makes p the current provider of a place. It returns false if p was already current. The
// caller holds w.mu.
func (at *place) move(w *Window, p *provider) bool {
	if at == nil {
		return w.setCurrent(p)
	}
	was := at.current(w)
	at.mu.Lock()
	defer at.mu.Unlock()
	at.provider = p.name
	return was != p.name
}

// Context implements [assistant.Window].
func (p placed) Context() (any, error) { return p.context(p.at) }

// Tools implements [assistant.Window].
func (p placed) Tools() []assistant.Tool {
	tools := p.Window.Tools()
	for i := range tools {
		run, write := tools[i].Run, tools[i].Write
		tools[i].Run = func(ctx context.Context, args json.RawMessage) assistant.ToolResult {
			if write {
				p.stay()
			}
			return run(context.WithValue(ctx, placeKey{}, p.at), args)
		}
	}
	return tools
}

// stay keeps the pane where it is when the running turn ends.
func (w *Window) stay() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.atLock.stays = true
}

// Apply implements [assistant.Window]. The pane stays where it is.
func (p placed) Apply(raw json.RawMessage) error {
	s, err := readState(raw)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Provider, s.Search = p.current, p.search
	p.apply(s)
	return nil
}

// Where implements [assistant.Pager]; a place has no tab.
func (placed) Where() assistant.Location { return assistant.Location{Page: PageName} }

// Position implements [assistant.Positioned].
func (p placed) Position() (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return json.Marshal(position{Provider: p.at.current(p.Window)})
}

// SetPosition implements [assistant.Positioned].
func (p placed) SetPosition(raw json.RawMessage) error {
	var stored position
	if err := json.Unmarshal(raw, &stored); err != nil {
		return fmt.Errorf("the position in the window cannot be read: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, err := p.findProvider(stored.Provider); err == nil && stored.Provider != "" {
		p.at.move(p.Window, found)
	}
	return nil
}

// fromPlace is implemented by tool arguments that default to the current provider. from sets
// this default: the provider that the caller is looking at.
type fromPlace interface{ from(provider string) }

func (a *ruleArgs) from(provider string)   { a.Provider = otherwise(a.Provider, provider) }
func (a *listArgs) from(provider string)   { a.Provider = otherwise(a.Provider, provider) }
func (a *importArgs) from(provider string) { a.Provider = otherwise(a.Provider, provider) }
func (a *detailArgs) from(provider string) { a.current = provider }
func (a *modelArgs) from(provider string)  { a.current = provider }
func (p *Proposal) from(provider string)   { p.Provider = otherwise(p.Provider, provider) }

func otherwise(given, provider string) string { return cmp.Or(strings.TrimSpace(given), provider) }
