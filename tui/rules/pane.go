package rules

import (
	"context"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// tab is one of the lists of the pane.
type tab int

const (
	tabRules tab = iota
	tabModels
	tabChanges
	tabCount
)

// tabNames are the titles, and under what name the window knows them.
var tabNames = [tabCount]struct{ title, page string }{
	tabRules:   {"Rules", modelfilter.TabRules},
	tabModels:  {"Models", modelfilter.TabModels},
	tabChanges: {"Changes", modelfilter.TabChanges},
}

// lists are both lists, in the order in which they are shown.
var lists = [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow}

// Options configures New. The zero value is ready to use.
type Options struct {
	Creates bool    // there is no file yet: the first save creates it
	Drift   drifter // nil: what the proxy serves is not looked at
}

// drifter compares what the proxy serves with what it should. *models.Lists is
// one.
type drifter interface {
	Drift(ctx context.Context, provider string, expected func(served ...string) []string) (models.Drift, error)
}

// Pane shows the model filter. New makes it.
type Pane struct {
	window *modelfilter.Window
	opts   Options
	st     style.Styles
	paint  paint // of st
	focus  bool

	data   snapshot
	tab    tab
	views  [tabCount]view
	marked map[string]bool // keys of the rows that are selected, of any tab
	want   string          // key of the row to go to once it is there
	lint   lint
	about  about // of the row under the cursor

	query      string // what the rows are searched for
	seenSearch string // the window's search text when it was last looked at

	line    line
	checker checker
	inbox   inbox

	version int64 // grows with every change of what is drawn
	frame   frame // the last one
}

var (
	_ pane.Pane   = (*Pane)(nil)
	_ pane.Saver  = (*Pane)(nil)
	_ pane.Hinter = (*Pane)(nil)
)

// New makes the pane of a window, in the style of a light terminal until
// SetStyles says otherwise.
func New(w *modelfilter.Window, o Options) *Pane {
	p := &Pane{window: w, opts: o, marked: map[string]bool{}}
	p.SetStyles(style.New(style.Options{}))
	p.inbox.creates = o.Creates
	p.inbox.counts, p.inbox.drift = map[string]providerCounts{}, map[string]models.Drift{}
	p.query = w.Search()
	p.seenSearch = p.query
	for t, name := range tabNames {
		if name.page == w.Where().Tab {
			p.tab = tab(t)
		}
	}
	p.refresh()
	return p
}

// Warm finds out the numbers of all providers, for the list to choose from. It
// may read the disk; it is meant to be called once, beside the program.
func (p *Pane) Warm(ctx context.Context) {
	for _, v := range p.window.Providers() {
		if ctx.Err() != nil {
			return
		}
		p.inbox.count(p.window, v.Name)
	}
}

// SetStyles implements pane.Pane.
func (p *Pane) SetStyles(st style.Styles) {
	p.st, p.paint = st, newPaint(st)
	p.version++
}

// SetFocus implements pane.Pane.
func (p *Pane) SetFocus(on bool) {
	p.focus = on
	p.version++
}

// Changed implements pane.Pane: it takes what the window shows now.
func (p *Pane) Changed() {
	p.followSearch()
	p.refresh()
	if s := p.inbox.takeSuggestion(); s != nil && s.provider == p.data.provider {
		clear(p.marked)
		if len(s.patterns) == 1 {
			p.openPattern(s.list, s.patterns[0])
		} else {
			p.openSeveral(s.list, s.patterns)
		}
	}
}

// followSearch takes over a search that came from elsewhere, a rollback for
// one, and gives the window the one that was typed while it was locked.
func (p *Pane) followSearch() {
	switch now := p.window.Search(); {
	case now != p.seenSearch:
		p.query, p.seenSearch = now, now
	case p.query != now && p.line.what != lineSearch:
		p.tellSearch()
	}
}

// tellSearch tells the window what is searched for. A locked window is told
// when it is unlocked: searching changes no rule, so it need not wait.
func (p *Pane) tellSearch() {
	if p.window.SetSearch(p.query) == nil {
		p.seenSearch = p.window.Search()
	}
}

// Status implements pane.Pane.
func (p *Pane) Status() pane.Status {
	return pane.Status{Title: "model filter", Subtitle: shown(p.data.provider), Unsaved: p.data.dirty}
}

// Typing implements pane.Pane.
func (p *Pane) Typing() bool { return p.line.what != lineNone }

// setTab opens a tab.
func (p *Pane) setTab(t tab) {
	p.tab = t
	_ = p.window.SetTab(tabNames[t].page) // these tabs all exist
	p.refresh()
}

// ruleColour is the place of a rule on the wheel: the lists share it, so that
// rules that stand near each other differ.
func (p *Pane) ruleColour(list modelfilter.List, index int) int {
	if list == modelfilter.Allow {
		return index + len(p.data.rules[modelfilter.Ignore])
	}
	return index
}

// lint is what was found out about the rules, of one revision of the window.
type lint struct {
	revision int64
	findings []engine.Finding
	done     bool
}
