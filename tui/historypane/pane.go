package historypane

import (
	historywindow "winnow/adapters/history"
	"winnow/checkpoint"
	"winnow/tui/keymap"
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

// tabNames contains the titles of the tabs.
var tabNames = [tabCount]string{tabTopics: "Topics", tabFilters: "Filters", tabChanges: "Changes"}

// Pane shows the chat history. Create it with New.
type Pane struct {
	st    style.Styles
	keys  pane.Keys
	focus bool

	data contents
	tabs pane.Tabs[row]
	old  bool // the display may be out of date, and no read has been requested since
}

// contents is what the pane shows.
type contents struct {
	*historywindow.Snapshot
	topic   string                  // topic of new messages
	changes []checkpoint.Checkpoint // changes of this session, newest first
}

var (
	_ pane.Pane   = (*Pane)(nil)
	_ pane.Hinter = (*Pane)(nil)
)

// New returns a pane that shows nothing until Show is called. Until SetStyles is called, it
// uses the style for a light terminal.
func New() *Pane {
	p := &Pane{st: style.New(style.Options{}), data: contents{Snapshot: &historywindow.Snapshot{}}, old: true}
	p.tabs.Lists = make([]pane.List[row], tabCount)
	p.rebuild()
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
func (p *Pane) Changed() { p.old = true }

// Wants implements pane.Pane: it asks to read the history again.
func (p *Pane) Wants() (pane.Edit, bool) {
	old := p.old
	p.old = false
	return pane.Edit{Act: historywindow.Read{}, ViewOnly: true}, old
}

// Show implements pane.Pane.
func (p *Pane) Show(s pane.State) {
	ids := [tabCount]string{}
	for t := range ids {
		ids[t] = p.cursorRowID(t)
	}
	now := contents{Snapshot: p.data.Snapshot, topic: s.Topic}
	if snapshot, ok := s.Window.(*historywindow.Snapshot); ok {
		now.Snapshot = snapshot
	}
	for _, step := range s.Checkpoints {
		if step.Kind != checkpoint.KindStart {
			now.changes = append(now.changes, step)
		}
	}
	p.data = now
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

// Status implements pane.Pane.
func (p *Pane) Status() pane.Status { return pane.Status{Title: "history"} }

// Typing implements pane.Pane. The pane has no text line.
func (p *Pane) Typing() bool { return false }

// Key implements pane.Pane.
func (p *Pane) Key(keymap.Action, string) pane.Action { return pane.Nothing{} }

// Escape implements pane.Pane.
func (p *Pane) Escape() bool { return false }

// Do implements pane.Pane.
func (p *Pane) Do(action keymap.Action) pane.Action {
	if p.tabs.Move(action) {
		return pane.Nothing{}
	}
	switch action {
	case keymap.PaneHighlight:
		return p.enter()
	case keymap.PaneSelect:
		return p.selectTopic()
	case keymap.DeleteRule:
		return p.forgetFilter()
	case keymap.PaneSearch:
		return p.keys.Notify("search topics in the topic list", keymap.Topics, "opens it")
	default:
		return pane.Notify{Text: "this key does nothing in the history"}
	}
}

// enter shows the pairs of the row.
func (p *Pane) enter() pane.Action {
	r, _ := p.tabs.List().Current()
	if r.kind == rowChange {
		return p.keys.Notify("to undo a change, use the list of checkpoints", keymap.Checkpoints, "opens it")
	}
	if line, ok := p.filterLine(r); ok {
		return pane.SetFilter{Line: line}
	}
	return pane.Nothing{}
}

// selectTopic makes the topic of the row the topic of new messages.
func (p *Pane) selectTopic() pane.Action {
	switch r, _ := p.tabs.List().Current(); r.kind {
	case rowTopic:
		return pane.SelectTopic{Path: p.data.Topics[r.index].Path}
	case rowWithoutTopic:
		return pane.SelectTopic{}
	default:
	}
	return pane.Notify{Text: "only a topic can be selected for new messages"}
}

// forgetFilter deletes a saved filter.
func (p *Pane) forgetFilter() pane.Action {
	r, _ := p.tabs.List().Current()
	if r.kind != rowFilter {
		return p.keys.Notify("only a saved filter can be deleted here", keymap.Topics, "edits topics")
	}
	return pane.SetFilter{Line: ":forget " + p.data.Filters[r.index].Name}
}

// Hints implements pane.Hinter.
func (p *Pane) Hints() []pane.Hint {
	var hints []pane.Hint
	switch r, _ := p.tabs.List().Current(); r.kind {
	case rowTopic, rowWithoutTopic:
		hints = p.keys.Hints(keymap.To("show its messages", keymap.PaneHighlight), keymap.To("use for new messages", keymap.PaneSelect), keymap.To("edit topics", keymap.Topics))
	case rowFilter:
		hints = p.keys.Hints(keymap.To("show its messages", keymap.PaneHighlight), keymap.To("delete", keymap.DeleteRule))
	case rowAll:
		hints = p.keys.Hints(keymap.To("show its messages", keymap.PaneHighlight))
	default:
		hints = p.keys.Hints(keymap.To("roll back", keymap.Checkpoints))
	}
	return append(hints, p.keys.Hints(keymap.To("next tab", keymap.NextTab), keymap.To("leave", keymap.Escape), keymap.To("help", keymap.Help))...)
}

// Click implements pane.Pane: a click on a title opens its tab, a click on a row moves the
// cursor there, and a click on the row under the cursor shows its pairs.
func (p *Pane) Click(x, y int) pane.Action {
	if p.tabs.Click(x, y) {
		return p.enter()
	}
	return pane.Nothing{}
}
