package rules

import (
	"context"
	"encoding/json"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/tui/pane"
	"winnow/tui/rules/overview"
	"winnow/tui/style"
)

// The tabs of the pane.
const (
	tabRules = iota
	tabModels
	tabChanges
	tabAll
	tabCount
)

// tabNames are the titles of the tabs, and their names in the window.
var tabNames = [tabCount]struct{ title, page string }{
	tabRules:   {"Rules", modelfilter.TabRules},
	tabModels:  {"Models", modelfilter.TabModels},
	tabChanges: {"Changes", modelfilter.TabChanges},
	tabAll:     {"All", modelfilter.TabAll},
}

// lists are the rule lists in the order in which they are shown.
var lists = [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow}

// Options configures New. The zero value is ready to use.
type Options struct {
	Drift    drifter // nil: what the proxy serves is not compared
	ReadOnly string  // why no rule can be changed in this run; "" when they can
	// HeldBy is the other user whose turn has a shared window, "" for nobody; nil: nobody
	// shares it.
	HeldBy func() string
}

// drifter compares what the proxy serves with what it should serve.
// *models.Lists is one.
type drifter interface {
	Drift(ctx context.Context, provider string, expected func(served ...string) []string) (models.Drift, error)
}

// Pane shows the model filter. New makes it.
type Pane struct {
	window *modelfilter.Window
	opts   Options
	st     style.Styles
	styles styles
	keys   pane.Keys
	focus  bool

	data      snapshot
	tabs      pane.Tabs[row]
	cursorIDs [tabCount]string // IDs of the rows under the cursors while the rows are out of date
	jumpTo    string           // ID of the row that the cursor goes to once it is listed
	selected  map[string]bool  // IDs of the selected rows of all tabs
	lint      lint
	about     aboutCache

	query       string // what the rows are searched for
	windowQuery string // the window's search text when it was last compared with query

	input textInput
	inbox inbox
	all   *overview.Overview
	shown struct { // what the tab of all providers shows of all
		rows     []overview.Numbers
		revision int64
	}

	version int64 // grows with every change of what is drawn
	frame   frame
}

var (
	_ pane.Pane       = (*Pane)(nil)
	_ pane.Hinter     = (*Pane)(nil)
	_ pane.Forecaster = (*Pane)(nil)
	_ pane.Completer  = (*Pane)(nil)
	_ pane.Loader     = (*Pane)(nil)
)

// New makes the pane of a window, in the style of a light terminal until
// SetStyles is called.
func New(w *modelfilter.Window, o Options) *Pane {
	p := &Pane{
		window: w, opts: o, selected: map[string]bool{},
		query: w.Search(), windowQuery: w.Search(), all: overview.New(w),
	}
	p.tabs.Lists = make([]pane.List[row], tabCount)
	p.inbox.results = results{drift: map[string]models.Drift{}}
	p.SetStyles(style.New(style.Options{}))
	for t, name := range tabNames {
		if name.page == w.Where().Tab {
			p.tabs.Open = t
		}
	}
	p.refresh()
	return p
}

// CountModels counts the models of all providers for the provider list. It may read
// the disk and is safe from any goroutine.
func (p *Pane) CountModels(ctx context.Context) { p.all.ReadAll(ctx) }

// Stale implements pane.Loader: the tab of all providers counts off the update loop.
func (p *Pane) Stale() bool {
	if p.tabs.Open != tabAll {
		return false
	}
	if _, revision := p.all.Rows(); revision != p.shown.revision {
		p.rebuild()
	}
	return p.all.Stale()
}

// Read implements pane.Loader.
func (p *Pane) Read(ctx context.Context) error { return p.all.Read(ctx) }

// SetStyles implements pane.Pane.
func (p *Pane) SetStyles(st style.Styles) {
	p.st, p.styles = st, compileStyles(st)
	p.version++
}

// SetKeys implements pane.Pane.
func (p *Pane) SetKeys(keys pane.Keys) {
	p.keys = keys
	p.about = aboutCache{}
	p.rebuild()
}

// SetFocus implements pane.Pane.
func (p *Pane) SetFocus(on bool) {
	p.focus = on
	p.version++
}

// Changed implements pane.Pane.
func (p *Pane) Changed() {
	switch now := p.window.Search(); {
	case now != p.windowQuery: // changed elsewhere, for example by a rollback
		p.query, p.windowQuery = now, now
	case p.query != now && p.input.kind != inputSearch: // typed while the window was locked
		p.syncSearch()
	}
	p.refresh()
	if s := p.inbox.popSuggestion(); s != nil && s.provider == p.data.provider {
		clear(p.selected)
		p.openSuggested(s.list, s.patterns)
	}
}

// syncSearch gives the window the search text. A locked window refuses it and
// gets it from Changed once it is unlocked.
func (p *Pane) syncSearch() {
	if p.window.SetSearch(p.query) == nil {
		p.windowQuery = p.window.Search()
	}
}

// Status implements pane.Pane.
func (p *Pane) Status() pane.Status {
	s := pane.Status{Title: "model filter", Subtitle: pane.Visible(p.data.provider), Unsaved: p.data.dirty}
	r, _ := p.tabs.List().Current()
	switch {
	case r.kind == rowRule, r.kind == rowFinding, p.tabs.Open == tabRules && len(p.selectedRules()) > 0:
		s.Deletes = "delete"
	case r.kind == rowRemoved, r.kind == rowChange:
		s.Deletes = "undo"
	case r.kind == rowModel && p.data.models[r.index].Index >= 0:
		s.Deletes = "delete its rule"
	}
	return s
}

// Typing implements pane.Pane.
func (p *Pane) Typing() bool { return p.input.kind != inputNone }

// openTab opens a tab, in the window too.
func (p *Pane) openTab(t int) {
	p.tabs.Open = t
	if t == tabAll {
		p.jumpTo = providerID(p.data.provider)
	}
	_ = p.window.SetTab(tabNames[t].page) // these tabs all exist
	p.refresh()
}

// Effect implements pane.Forecaster.
func (p *Pane) Effect(proposal json.RawMessage) (pane.Effect, error) {
	read, err := modelfilter.ReadProposal(proposal)
	if err != nil {
		return pane.Effect{}, err
	}
	e, refused, err := p.window.Effect(read)
	if err != nil {
		return pane.Effect{}, err
	}
	out := pane.Effect{Hidden: e.Hidden, Shown: e.Shown, Known: e.Known}
	for _, why := range refused {
		out.Refused = append(out.Refused, why.Error())
	}
	return out, nil
}

// Completions implements pane.Completer: the patterns of the rules, then the
// models of the provider.
func (p *Pane) Completions() []string {
	var names []string
	for _, list := range lists {
		for _, r := range p.data.rules[list] {
			names = append(names, r.Pattern)
		}
	}
	for _, m := range p.data.models {
		names = append(names, p.data.name(m.ID))
	}
	return names
}
