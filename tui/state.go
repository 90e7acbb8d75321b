package tui

import (
	"cmp"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/status"
)

// parts contains the state of the session as read from its log; it is empty until the start
// is over.
type parts struct{ assistant.State }

// refused returns why the window cannot be changed now; nil if it can be changed. While the
// assistant of another user is working, a change waits for that assistant.
func (p *parts) refused() error {
	if p.Turn != nil && p.Turn.Running {
		return assistant.ErrBusy
	}
	return nil
}

// others describes who else is in the window.
func (p *parts) others() status.Others { return status.OthersOf(p.Others, p.shownSession()) }

// shownSession returns the id of the session whose pairs are shown; "" until the start is
// over.
func (p *parts) shownSession() string {
	if p.Shown == nil {
		return ""
	}
	return p.Shown.Session
}

// filterLine returns the active filter line.
func (p *parts) filterLine() string {
	if p.Shown == nil {
		return startFilter
	}
	return p.Shown.Filter
}

// topic returns the topic of new pairs.
func (p *parts) topic() string {
	if p.Shown == nil {
		return ""
	}
	return p.Shown.Topic
}

// inUse returns the settings of the session.
func (m *Model) inUse() assistant.Settings {
	if m.parts.Turn == nil {
		return m.opts.Settings
	}
	return m.parts.Turn.Settings
}

// startFilter is the initial filter line of a session.
const startFilter = "x"

// modelID returns the selected model, "provider/name"; "" if none is selected.
func (p *parts) modelID() string {
	if p.Model == nil {
		return ""
	}
	return p.Model.ID
}

// readOnly returns why this program cannot change the window; nil if it can.
func (p *parts) readOnly() error {
	if p.Checkpoints == nil {
		return nil
	}
	return p.Checkpoints.ReadOnly
}

// reAsked returns the failed pair that the next message replaces; 0 if there is none.
func (p *parts) reAsked() int64 {
	if p.Turn == nil {
		return 0
	}
	return p.Turn.ReAsk
}

// queuedText returns the queued message as the user typed it; "" if there is none.
func (p *parts) queuedText() string {
	if now := p.Turn; now != nil && now.Waits {
		return cmp.Or(now.Queued.Typed, now.Queued.Text)
	}
	return ""
}

// key returns the first key of an action; "" if the action has no key.
func (m *Model) key(action keymap.Action) string { return m.keys.Key(m.mode, action) }

// hint returns a clause with the key of an action; see keymap.Map.Clause.
func (m *Model) hint(format string, action keymap.Action) safetext.Text {
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

// state names in one word what the checkpoints of this window contain.
func (p *parts) state() string {
	if p.saves() {
		return "rules"
	}
	return "changes"
}
