package rules

import (
	"slices"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
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

// tabNames contains the titles of the tabs, and the names of the tabs in the window.
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
	ReadOnly string // why rules cannot be changed in this run; "" if they can be changed
	Home     string // the user's home folder, which is abbreviated in the path of the file; may be ""
}

// Pane shows the model filter. Create it with New.
type Pane struct {
	opts   Options
	st     style.Styles
	styles styles
	keys   pane.Keys
	focus  bool

	data      data
	working   bool   // a turn of the user's own session is running
	holder    string // another user whose turn has locked the window; "" if unknown or none
	tabs      pane.Tabs[row]
	cursorIDs [tabCount]string // IDs of the rows under the cursors; used while the rows are out of date
	jumpTo    string           // ID of the row that the cursor moves to once the row is listed
	selected  map[string]bool  // IDs of the selected rows of all tabs
	about     aboutCache

	query     string // search text for the rows
	filter    filter // the parsed query for the search of models
	sorting   sorting
	searched  string // the query when the search line was last closed
	highlight highlight
	reported  modelfilter.Look // the last tab, search and highlight reported to the window
	asked     int64            // last revision at which models or facts were requested
	columns   columnsKnown
	compared  bool // the comparison with the other proxies was requested

	welcome welcomeCache
	input   textInput
	version int64 // increases with every change that affects drawing
	frame   frame
}

var (
	_ pane.Pane      = (*Pane)(nil)
	_ pane.Hinter    = (*Pane)(nil)
	_ pane.Completer = (*Pane)(nil)
	_ pane.Receiver  = (*Pane)(nil)
	_ pane.Arguer    = (*Pane)(nil)
	_ pane.Welcomer  = (*Pane)(nil)
)

// New returns a pane that shows nothing until Show is called. Until SetStyles is called, it
// uses the styles for a light terminal.
func New(o Options) *Pane {
	p := &Pane{opts: o, selected: map[string]bool{}, data: data{Snapshot: modelfilter.EmptySnapshot()}}
	p.tabs.Lists = make([]pane.List[row], tabCount)
	p.SetStyles(style.New(style.Options{}))
	p.rebuild()
	return p
}

// Show implements pane.Pane.
func (p *Pane) Show(s pane.State) {
	if p.working != s.Working || p.holder != s.Holder {
		p.working, p.holder = s.Working, s.Holder
		p.version++
	}
	now, ok := s.Window.(*modelfilter.Snapshot)
	if !ok || now == p.data.Snapshot {
		return
	}
	before := p.data.Snapshot
	p.rememberCursors()
	p.data.show(now)
	if before.Revision == 0 {
		p.begin()
	}
	p.follow(before)
	p.dropSelected()
	p.rebuild()
}

// begin restores what the user was last looking at, as recorded in the window. If that was the
// rules, but there are none and several providers have a key, it opens the tab of all providers.
func (p *Pane) begin() {
	p.query, p.searched = p.data.Search, p.data.Search
	p.highlight = p.data.windowHighlight()
	for t, name := range tabNames {
		if name.page == p.data.Tab {
			p.tabs.Open = t
		}
	}
	p.reported = p.look()
	keyed, ruled := 0, false
	for _, v := range p.data.Providers {
		ruled = ruled || v.Rules > 0 || v.Unsaved
		if v.Key {
			keyed++
		}
	}
	if p.data.Tab == modelfilter.TabRules && !ruled && keyed > 1 {
		p.openTab(tabAll)
	}
}

// follow adopts changes to the search and the highlight that were made elsewhere, for
// example by a rollback. before is the previous snapshot.
func (p *Pane) follow(before *modelfilter.Snapshot) {
	d := &p.data
	if d.Search != before.Search && d.Search != p.reported.Search {
		p.query, p.searched, p.reported.Search = d.Search, d.Search, d.Search
	}
	if before.Locked && !d.Locked {
		p.reported.Search = d.Search // a locked window accepts no search, so the search is reported again
	}
	if d.Highlight.Equal(before.Highlight) || p.look() != p.reported {
		p.highlight = d.highlightOf(p.highlight.rule, p.highlight.model)
		return
	}
	p.highlight = d.windowHighlight()
	p.reported = p.look()
}

// look returns what the user is looking at: tab, search and highlight.
func (p *Pane) look() modelfilter.Look {
	return modelfilter.Look{Tab: tabNames[p.tabs.Open].page, Search: p.searched, Rule: p.highlight.rule, Model: p.highlight.model}
}

// Wants implements pane.Pane: it reports to the window what the user is looking at. On the
// tab of all providers it also requests their models and a comparison with the other
// proxies, and on the models tab the facts about the models.
func (p *Pane) Wants() (pane.Edit, bool) {
	if p.data.Revision == 0 {
		return pane.Edit{}, false
	}
	if look := p.look(); look != p.reported {
		p.reported = look
		return p.act(look), true
	}
	unread := func(v modelfilter.ProviderView) bool { return !v.Read }
	if p.tabs.Open == tabAll && p.asked != p.data.Revision && slices.ContainsFunc(p.data.Providers, unread) {
		p.asked = p.data.Revision
		return p.act(modelfilter.ReadModels{}), true
	}
	if p.tabs.Open == tabAll && p.data.HasTargets && !p.data.Compared && !p.compared {
		p.compared = true
		return p.act(modelfilter.CompareTargets{}), true
	}
	if p.tabs.Open == tabModels && p.asked != p.data.Revision && p.data.Info == nil && len(p.data.Models) > 0 {
		p.asked = p.data.Revision
		return p.act(modelfilter.ReadFacts{Provider: p.data.Provider}), true
	}
	return pane.Edit{}, false
}

// act returns an act that changes no rules, based on the displayed revision.
func (p *Pane) act(a assistant.Act) pane.Edit {
	return pane.Edit{Act: a, Revision: p.data.Revision, ViewOnly: true}
}

// SetStyles implements pane.Pane.
func (p *Pane) SetStyles(st style.Styles) {
	p.st, p.styles = st, stylesOf(&st)
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

// Changed implements pane.Pane. It does nothing, because everything that the pane shows is
// in the snapshot.
func (p *Pane) Changed() {}

// Receive implements pane.Receiver: it opens the text line with the patterns for the
// selected models.
func (p *Pane) Receive(result any) pane.Action {
	s, ok := result.(suggestion)
	if !ok || s.provider != p.data.Provider {
		return pane.Nothing{}
	}
	clear(p.selected)
	p.openSuggested(s.list, s.patterns)
	text, does := safetext.Text("one pattern matches the selected models"), "adds it"
	if n := len(s.patterns); n > 1 {
		text, does = safetext.Sprintf("%d patterns match the selected models", n), "shows what they change"
	}
	notice := p.keys.Notify(text, keymap.LineAccept, does)
	if slices.ContainsFunc(s.patterns, func(pattern string) bool { return strings.Contains(pattern, "*") }) {
		notice.Text += " · a * also matches models that are listed later"
	}
	return notice
}

// Status implements pane.Pane.
func (p *Pane) Status() pane.Status {
	s := pane.Status{Title: "model filter", Subtitle: pane.Visible(p.data.Provider), Unsaved: len(p.data.Unsaved), Searching: p.query != ""}
	if p.data.Dirty { // true even if only the order of the rules has changed
		s.Unsaved = max(s.Unsaved, 1)
	}
	r, _ := p.tabs.List().Current()
	switch {
	case r.kind == rowRule, r.kind == rowFinding, p.tabs.Open == tabRules && len(p.selectedRules()) > 0:
		s.DeleteHint = "delete"
	case r.kind == rowRemoved, r.kind == rowChange:
		s.DeleteHint = "undo"
	case r.kind == rowModel && p.data.Models[r.index].Index >= 0:
		s.DeleteHint = "delete its rule"
	}
	return s
}

// Typing implements pane.Pane.
func (p *Pane) Typing() bool { return p.input.kind != inputNone }

// openTab opens a tab.
func (p *Pane) openTab(t int) {
	p.tabs.Open = t
	if t == tabAll {
		p.jumpTo = providerID(p.data.Provider)
	}
	p.rebuild()
}

// Completions implements pane.Completer: the patterns of the rules, then the models of the
// provider.
func (p *Pane) Completions() []string {
	var names []string
	for _, list := range lists {
		for _, r := range p.data.Rules[list] {
			names = append(names, r.Pattern)
		}
	}
	for _, m := range p.data.Models {
		names = append(names, p.data.Name(m.ID))
	}
	return names
}
