package tui

import (
	"time"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/presence"
)

// refused is why the window cannot be changed now; nil when it can.
func (m *Model) refused() error {
	if m.parts.Turn != nil && m.parts.Turn.Running {
		return assistant.ErrBusy
	}
	others := m.others()
	return others.Refused()
}

// others is who else is in the window.
func (m *Model) others() presence.Others { return presence.Of(m.parts.Others, m.shownSession()) }

// shownSession is the id of the session whose pairs are shown; "" before the start is over.
func (m *Model) shownSession() string {
	if m.parts.Shown == nil {
		return ""
	}
	return m.parts.Shown.Session
}

// filterLine is the line that made the view.
func (m *Model) filterLine() string {
	if m.parts.Shown == nil {
		return startFilter
	}
	return m.parts.Shown.Filter
}

// topic is that of the pairs to come.
func (m *Model) topic() string {
	if m.parts.Shown == nil {
		return ""
	}
	return m.parts.Shown.Topic
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
func (m *Model) modelID() string {
	if m.parts.Model == nil {
		return ""
	}
	return m.parts.Model.ID
}

// readOnly is why the window cannot be changed by this program; nil: it can.
func (m *Model) readOnly() error {
	if m.parts.Checkpoints == nil {
		return nil
	}
	return m.parts.Checkpoints.ReadOnly
}

// reAsked is the failed pair that the next message replaces; 0 for none.
func (m *Model) reAsked() int64 {
	if m.parts.Turn == nil {
		return 0
	}
	return m.parts.Turn.ReAsk
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
func (m *Model) saves() bool {
	return m.parts.Window != nil && m.parts.Window.Saves
}

// state is what checkpoints of this window hold, in a word.
func (m *Model) state() string {
	if m.saves() {
		return "rules"
	}
	return "changes"
}

// clock is a time, with the day unless that is today.
func (m *Model) clock(t time.Time) string {
	t, now := t.Local(), m.now().Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}
