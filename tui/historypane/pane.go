package historypane

import (
	"context"
	"maps"
	"slices"
	"sync"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// tab is one of the lists of the pane.
type tab int

const (
	tabTopics tab = iota
	tabFilters
	tabChanges
	tabCount
)

// tabNames are the titles.
var tabNames = [tabCount]string{tabTopics: "Topics", tabFilters: "Filters", tabChanges: "Changes"}

// Pane shows the chat history. New makes it.
type Pane struct {
	store   *history.Store
	session *assistant.Session
	st      style.Styles
	focus   bool

	data  reading
	tab   tab
	views [tabCount]view
	// places are where the titles stand in the top line: from, to.
	places [][2]int

	mu      sync.Mutex // guards what follows
	found   *reading   // by Read, not taken over yet
	reading bool       // Read is wanted or at work
	old     bool       // Changed was called since
	tried   int64      // the revision that was read last, or could not be
}

// reading is what was last read of the history.
type reading struct {
	counted bool // the counts are there
	topics  []history.Topic
	pairs   int // of all topics and of none
	loose   int // of no topic
	filters []history.SavedFilter
	changes []checkpoint.Checkpoint // of this session, the newest first
}

var (
	_ pane.Pane   = (*Pane)(nil)
	_ pane.Reader = (*Pane)(nil)
	_ pane.Hinter = (*Pane)(nil)
)

// New makes the pane of a history, in the style of a light terminal until
// SetStyles says otherwise. It reads nothing yet.
func New(s *assistant.Session, h *history.Store) *Pane {
	return &Pane{store: h, session: s, st: style.New(style.Options{}), old: true}
}

// SetStyles implements pane.Pane.
func (p *Pane) SetStyles(st style.Styles) { p.st = st }

// SetFocus implements pane.Pane.
func (p *Pane) SetFocus(on bool) { p.focus = on }

// Changed implements pane.Pane.
func (p *Pane) Changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.old = true
}

// Stale implements pane.Reader.
func (p *Pane) Stale() bool {
	p.take()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading || !p.old && p.store.Revision() == p.tried {
		return false
	}
	p.reading, p.old = true, false
	return true
}

// take makes what was read what is shown.
func (p *Pane) take() {
	p.mu.Lock()
	found := p.found
	p.found = nil
	p.mu.Unlock()
	if found == nil {
		return
	}
	at := [tabCount]string{}
	for t := range p.views {
		at[t] = p.keyAt(tab(t))
	}
	p.data = *found
	for t := range p.views {
		p.views[t].rows = p.build(tab(t))
		p.find(tab(t), at[t])
	}
}

// Read implements pane.Reader.
func (p *Pane) Read(ctx context.Context) error {
	revision := p.store.Revision() // first: what comes meanwhile is seen the next time
	r, err := p.read(ctx, revision != 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.tried = false, revision
	if err == nil {
		p.found = r
	}
	return err
}

// read reads everything, and the numbers when they can be had.
func (p *Pane) read(ctx context.Context, counted bool) (*reading, error) {
	r := &reading{counted: counted}
	tree := p.names
	if counted {
		tree = p.count
	}
	if err := tree(ctx, r); err != nil {
		return nil, err
	}
	saved, err := p.store.SavedFilters(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		r.filters = append(r.filters, history.SavedFilter{Name: name, Line: saved[name]})
	}
	for _, c := range slices.Backward(p.session.Checkpoints()) {
		if c.Kind != checkpoint.KindStart {
			r.changes = append(r.changes, c)
		}
	}
	return r, nil
}

// names asks for topics alone.
func (p *Pane) names(ctx context.Context, r *reading) error {
	paths, err := p.store.TopicPaths(ctx)
	for _, path := range paths {
		r.topics = append(r.topics, history.Topic{Path: path})
	}
	return err
}

// count asks for topics and pairs with their numbers.
func (p *Pane) count(ctx context.Context, r *reading) (err error) {
	if r.topics, err = p.store.Topics(ctx); err != nil {
		return err
	}
	if r.pairs, err = p.store.Count(ctx, nil, history.Env{}); err != nil {
		return err
	}
	r.loose = r.pairs
	for _, t := range r.topics {
		r.loose -= t.Pairs
	}
	r.loose = max(r.loose, 0) // a pair may have come while we asked
	return nil
}

// Status implements pane.Pane.
func (p *Pane) Status() pane.Status { return pane.Status{Title: "history"} }

// Typing implements pane.Pane: the pane has no text line.
func (p *Pane) Typing() bool { return false }

// Key implements pane.Pane.
func (p *Pane) Key(string, string) pane.Action { return pane.Nothing{} }

// Escape implements pane.Pane.
func (p *Pane) Escape() {}
