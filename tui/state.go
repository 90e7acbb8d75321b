package tui

import (
	"cmp"

	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/status"
)

// parts are what the session's log says; empty until the start is over.
type parts struct{ assistant.State }

// refused is why the window cannot be changed now; nil when it can.
func (p *parts) refused() error {
	if p.Turn != nil && p.Turn.Running {
		return assistant.ErrBusy
	}
	others := p.others()
	return others.Refused()
}

// others is who else is in the window.
func (p *parts) others() status.Others { return status.OthersOf(p.Others, p.shownSession()) }

// shownSession is the id of the session whose pairs are shown; "" before the start is over.
func (p *parts) shownSession() string {
	if p.Shown == nil {
		return ""
	}
	return p.Shown.Session
}

// filterLine is the line that made the view.
func (p *parts) filterLine() string {
	if p.Shown == nil {
		return startFilter
	}
	return p.Shown.Filter
}

// topic is that of the pairs to come.
func (p *parts) topic() string {
	if p.Shown == nil {
		return ""
	}
	return p.Shown.Topic
}

// inUse are the settings of the session.
func (m *Model) inUse() assistant.Settings {
	if m.parts.Turn == nil {
		return m.opts.Settings
	}
	return m.parts.Turn.Settings
}

// startFilter is the line that a session begins with.
const startFilter = "x"

// modelID is the selected model, "provider/name"; "" for none.
func (p *parts) modelID() string {
	if p.Model == nil {
		return ""
	}
	return p.Model.ID
}

// readOnly is why the window cannot be changed by this program; nil: it can.
func (p *parts) readOnly() error {
	if p.Checkpoints == nil {
		return nil
	}
	return p.Checkpoints.ReadOnly
}

// reAsked is the failed pair that the next message replaces; 0 for none.
func (p *parts) reAsked() int64 {
	if p.Turn == nil {
		return 0
	}
	return p.Turn.ReAsk
}

// lastStep is the newest change of the window that can be undone.
func (p *parts) lastStep() (step workspace.Step, ok bool) {
	c := p.Checkpoints
	if c == nil || c.Last == nil || p.Shown == nil {
		return workspace.Step{}, false
	}
	return workspace.StepOf(*c.Last, p.Shown), true
}

// queuedText is the queued message as it was typed; "" for none.
func (p *parts) queuedText() string {
	if now := p.Turn; now != nil && now.Waits {
		return cmp.Or(now.Queued.Typed, now.Queued.Text)
	}
	return ""
}

// key is the first key of an action; "" when it has none.
func (m *Model) key(action keymap.Action) string { return m.keys.Key(m.mode, action) }

// hint is a clause that names the key of an action; see keymap.Map.Clause.
func (m *Model) hint(format string, action keymap.Action) string {
	return m.keys.Clause(m.mode, format, action)
}

// plainChat reports whether there is no window.
func (m *Model) plainChat() bool {
	_, none := m.pane.(pane.None)
	return none && (m.ready || !m.opts.HasPane)
}

// saves reports whether the window can be saved.
func (p *parts) saves() bool {
	return p.Window != nil && p.Window.Saves
}

// state is what checkpoints of this window hold, in a word.
func (p *parts) state() string {
	if p.saves() {
		return "rules"
	}
	return "changes"
}
