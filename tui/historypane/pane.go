package historypane

import (
	"context"
	"maps"
	"slices"
	"sync"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// The tabs of the pane.
const (
	tabTopics = iota
	tabFilters
	tabChanges
	tabCount
)

// tabNames are the titles.
var tabNames = [tabCount]string{tabTopics: "Topics", tabFilters: "Filters", tabChanges: "Changes"}

// Pane shows the chat history. New makes it.
type Pane struct {
	store   history.Store
	session *assistant.Session
	st      style.Styles
	keys    pane.Keys
	focus   bool

	data contents
	tabs pane.Tabs[row]

	mu           sync.Mutex // guards what follows
	loaded       *contents  // by Read, not shown yet
	reading      bool       // a Read is wanted or running
	changed      bool       // Changed was called since the last Read was wanted
	lastRevision int64      // revision of the store that the last Read saw, even if it failed
}

// contents are what was read of the history.
type contents struct {
	loaded       bool // false before the first Read
	topics       []history.Topic
	pairs        int // all, with a topic and without
	withoutTopic int // pairs without a topic
	filters      []transfer.SavedFilter
	changes      []checkpoint.Checkpoint // of this session, newest first
}

var (
	_ pane.Pane   = (*Pane)(nil)
	_ pane.Loader = (*Pane)(nil)
	_ pane.Hinter = (*Pane)(nil)
)

// New makes the pane of a history, in the style of a light terminal until
// SetStyles is called. It reads nothing yet.
func New(s *assistant.Session, h history.Store) *Pane {
	p := &Pane{store: h, session: s, st: style.New(style.Options{}), changed: true}
	p.tabs.Lists = make([]pane.List[row], tabCount)
	return p
}

// SetStyles implements pane.Pane.
func (p *Pane) SetStyles(st style.Styles) { p.st = st }

// SetKeys implements pane.Pane.
func (p *Pane) SetKeys(keys pane.Keys) {
	p.keys = keys
	p.rebuild()
}

// SetFocus implements pane.Pane.
func (p *Pane) SetFocus(on bool) { p.focus = on }

// Changed implements pane.Pane.
func (p *Pane) Changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = true
}

// Stale implements pane.Loader.
func (p *Pane) Stale() bool {
	p.showLoaded()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading || !p.changed && p.store.Revision() == p.lastRevision {
		return false
	}
	p.reading, p.changed = true, false
	return true
}

// showLoaded shows what was read last.
func (p *Pane) showLoaded() {
	p.mu.Lock()
	loaded := p.loaded
	p.loaded = nil
	p.mu.Unlock()
	if loaded == nil {
		return
	}
	ids := [tabCount]string{}
	for t := range ids {
		ids[t] = p.cursorRowID(t)
	}
	p.data = *loaded
	p.rebuild()
	for t, id := range ids {
		l := &p.tabs.Lists[t]
		if id == "" || !l.Find(func(r row) bool { return p.rowID(r) == id }) {
			l.Move(0)
		}
	}
}

// rebuild builds the rows of all tabs.
func (p *Pane) rebuild() {
	p.tabs.Lists[tabTopics].Rows = p.topicRows()
	p.tabs.Lists[tabFilters].Rows = p.filterRows()
	p.tabs.Lists[tabChanges].Rows = p.changeRows()
}

// Read implements pane.Loader.
func (p *Pane) Read(ctx context.Context) error {
	revision := p.store.Revision() // first: a commit during the reading is seen the next time
	c, err := p.read(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.lastRevision = false, revision
	if err == nil {
		p.loaded = c
	}
	return err
}

// read reads everything.
func (p *Pane) read(ctx context.Context) (c *contents, err error) {
	c = &contents{loaded: true}
	if c.topics, err = p.store.Topics(ctx); err != nil {
		return nil, err
	}
	if c.pairs, err = p.store.Count(ctx, nil, history.Env{}); err != nil {
		return nil, err
	}
	c.withoutTopic = c.pairs
	for _, t := range c.topics {
		c.withoutTopic -= t.Pairs
	}
	c.withoutTopic = max(c.withoutTopic, 0) // a pair may have been added between the two
	saved, err := p.store.SavedFilters(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		c.filters = append(c.filters, transfer.SavedFilter{Name: name, Line: saved[name]})
	}
	for _, step := range slices.Backward(p.session.Checkpoints()) {
		if step.Kind != checkpoint.KindStart {
			c.changes = append(c.changes, step)
		}
	}
	return c, nil
}

// Status implements pane.Pane.
func (p *Pane) Status() pane.Status { return pane.Status{Title: "history"} }

// Typing implements pane.Pane: the pane has no text line.
func (p *Pane) Typing() bool { return false }

// Key implements pane.Pane.
func (p *Pane) Key(string, string) pane.Action { return pane.Nothing{} }

// Escape implements pane.Pane.
func (p *Pane) Escape() {}

// Do implements pane.Pane.
func (p *Pane) Do(action string) pane.Action {
	p.showLoaded()
	if p.tabs.Move(action) {
		return pane.Nothing{}
	}
	switch action {
	case "pane-highlight":
		return p.enter()
	case "pane-select":
		return p.selectTopic()
	case "delete-rule":
		return p.forgetFilter()
	case "pane-search":
		return pane.Notify{Text: pane.Join("search topics in the topic list", p.keys.Hint("topics", "opens it"))}
	}
	return pane.Notify{Text: "this key does nothing in the history"}
}

// enter shows the pairs of the row.
func (p *Pane) enter() pane.Action {
	r, _ := p.tabs.List().Current()
	if r.kind == rowChange {
		return pane.Notify{Text: pane.Join("undo a change in the list of checkpoints", p.keys.Hint("checkpoints", "opens it"))}
	}
	if line, ok := p.filterLine(r); ok {
		return pane.SetFilter{Line: line}
	}
	return pane.Nothing{}
}

// selectTopic gives new messages the topic of the row.
func (p *Pane) selectTopic() pane.Action {
	switch r, _ := p.tabs.List().Current(); r.kind {
	case rowTopic:
		path := p.data.topics[r.index].Path
		p.session.SetTopic(path)
		return pane.Notify{Text: "new messages get the topic " + path}
	case rowWithoutTopic:
		p.session.SetTopic("")
		return pane.Notify{Text: "new messages get no topic"}
	default:
	}
	return pane.Notify{Text: "only a topic can be selected for new messages"}
}

// forgetFilter deletes a saved filter.
func (p *Pane) forgetFilter() pane.Action {
	r, _ := p.tabs.List().Current()
	if r.kind != rowFilter {
		return pane.Notify{Text: pane.Join("only a saved filter can be deleted here", p.keys.Hint("topics", "edits topics"))}
	}
	return pane.SetFilter{Line: ":forget " + p.data.filters[r.index].Name}
}

// Hints implements pane.Hinter.
func (p *Pane) Hints() []pane.Hint {
	var hints []pane.Hint
	switch r, _ := p.tabs.List().Current(); r.kind {
	case rowTopic, rowWithoutTopic:
		hints = p.keys.Hints("pane-highlight", "show its pairs", "pane-select", "for new messages", "topics", "edit topics")
	case rowFilter:
		hints = p.keys.Hints("pane-highlight", "show its pairs", "delete-rule", "forget")
	case rowAll:
		hints = p.keys.Hints("pane-highlight", "show its pairs")
	default:
		hints = p.keys.Hints("checkpoints", "go back")
	}
	return append(hints, p.keys.Hints("next-tab", "next tab", "escape", "leave", "help", "help")...)
}

// Click implements pane.Pane: a title opens its tab, a row takes the cursor, and
// the row that has it shows its pairs.
func (p *Pane) Click(x, y int) pane.Action {
	p.showLoaded()
	if p.tabs.Click(x, y) {
		return p.enter()
	}
	return pane.Nothing{}
}
