package tui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// paneKey is the first key of an action where the pane has the focus.
func (m *Model) paneKey(action string) string {
	if a := m.keys.named(action); a != nil {
		if keys := m.keys.keysOf(modePane, a); len(keys) > 0 {
			return keys[0]
		}
	}
	return ""
}

// paneDo carries out an action of the pane.
func (m *Model) paneDo(name string) tea.Cmd { return m.carry(m.pane.Do(name)) }

// readPane reads what the pane shows, when that is out of date.
func (m *Model) readPane() tea.Cmd {
	r, ok := m.pane.(pane.Reader)
	if !ok || !r.Stale() {
		return nil
	}
	return func() tea.Msg { return paneReadMsg{r.Read(context.Background())} }
}

func (m *Model) onPaneRead(msg paneReadMsg) tea.Cmd {
	if msg.err == nil || errors.Is(msg.err, history.ErrClosed) {
		return nil // it is drawn anyway
	}
	return m.complain(msg.err)
}

func (m *Model) onEdited(msg editedMsg) tea.Cmd {
	m.pane.Changed()
	if msg.err != nil {
		return m.complain(msg.err)
	}
	said := msg.said + " · ctrl+z undoes it"
	if !msg.view && m.pane.Status().Unsaved {
		said += ", ctrl+s saves"
	}
	m.notice.say(said)
	return m.forecast()
}

func (m *Model) onRan(msg ranMsg) tea.Cmd {
	m.pane.Changed()
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.notice.say(msg.said)
	return nil
}

// save shows what would be written, and writes when the user says so.
func (m *Model) save() tea.Cmd { return m.startSave(false) }

func (m *Model) startSave(quit bool) tea.Cmd {
	k, ok := m.pane.(pane.Saver)
	switch {
	case !ok:
		m.notice.say("there is nothing to save here")
		return nil
	case m.session.Busy():
		return m.complain(assistant.ErrBusy)
	}
	return planSave(k, m.styles, quit)
}

func (m *Model) onPlan(msg planMadeMsg) tea.Cmd {
	k, ok := m.pane.(pane.Saver)
	switch {
	case msg.err != nil:
		return m.complain(msg.err)
	case !ok || !msg.changes:
		m.notice.say("nothing to save: the file says the same")
		if msg.quit {
			return m.end()
		}
		return nil
	}
	q := overlay.NewQuestion("Save these changes?", append(msg.lines, ""),
		[]overlay.Answer{{Key: "y", Label: "save"}, {Key: "n", Label: "not now"}}, "n", m.now)
	return m.open(overlay.SaveSheet, q, func(c overlay.Chosen) tea.Cmd {
		if c.Value != "y" {
			m.notice.say("nothing was saved")
			return nil
		}
		return saveWindow(m.session, k, msg.quit)
	})
}

func (m *Model) onSaved(msg savedMsg) tea.Cmd {
	m.pane.Changed()
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.notice.say(msg.said)
	if msg.quit {
		return m.end()
	}
	return nil
}

// quit asks when rules are unsaved; they can also be kept for the next time.
func (m *Model) quit() tea.Cmd {
	k, keeps := m.pane.(pane.Saver)
	if !keeps || !m.pane.Status().Unsaved {
		return m.end()
	}
	q := overlay.NewQuestion("There are unsaved rules", []string{"The file still says what it said."}, []overlay.Answer{
		{Key: "s", Label: "save"}, {Key: "k", Label: "keep for next time"}, {Key: "d", Label: "discard"}, {Key: "n", Label: "stay"},
	}, "n", m.now)
	return m.open(overlay.Confirm, q, func(c overlay.Chosen) tea.Cmd {
		switch c.Value {
		case "s":
			return m.startSave(true)
		case "k":
			return m.end()
		case "d":
			m.session.Cancel()
			s := m.session
			return tea.Sequence(func() tea.Msg {
				return editedMsg{said: "discarded", err: s.Edit("Discard on quitting", k.Discard)}
			}, m.end())
		}
		return nil
	})
}

// end stores the draft and leaves.
func (m *Model) end() tea.Cmd {
	m.session.Cancel()
	return tea.Sequence(keepDraft(m.opts.History, m.opts.Folder, m.drafted()), tea.Quit)
}

func filterName(line string) string {
	if line == "" {
		return "none: all pairs"
	}
	return line
}

// cleanLines makes a text of several lines safe to show.
func cleanLines(text string) string {
	lines := strings.Split(safetext.Clean(text), "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, "\t", "    ")
	}
	return strings.Join(lines, "\n")
}

// visibleLines is cleanLines with everything shown that hides.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = safetext.Visible(strings.ReplaceAll(l, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}
