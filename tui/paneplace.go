package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// panesShown returns which of chat and pane are shown, according to the setting. A hidden
// pane is shown while it has the focus, because a command opened it.
func (m *Model) panesShown() panesShown {
	beside := cmp.Or(m.opts.PanePlace, overlay.PaneBeside) == overlay.PaneBeside
	switch {
	case m.plainChat():
		return chatOnly
	case m.showPane && beside:
		return paneFirst
	case m.showPane:
		return paneOnly
	case beside:
		return bothPanes
	}
	return chatOnly
}

// cyclePane switches the pane between three places: next to the chat, at full width, and
// hidden. It stores the place for the next start.
func (m *Model) cyclePane() tea.Cmd {
	if m.plainChat() {
		return m.info("a plain chat has no pane")
	}
	m.opts.PanePlace = m.opts.NextPane()
	return tea.Batch(m.placePane(), m.storeSetting("pane", m.opts.PanePlace))
}

// placePane shows the pane in the place that the setting names, and reports the place. At
// full width the pane gets the focus; when it is hidden, the focus returns to where it was.
func (m *Model) placePane() tea.Cmd {
	says, next := safetext.Text("the pane is beside the chat"), m.hint(" · %s gives it the full width", keymap.PlacePane)
	switch {
	case m.opts.PanePlace == overlay.PaneFull:
		says, next = "the pane has the full width", m.hint(" · %s hides it", keymap.PlacePane)
		if m.mode != keymap.Pane {
			if m.beforePane = m.mode; m.mode == keymap.Command {
				m.beforePane = keymap.View
			}
			m.setMode(keymap.Pane)
		}
	case m.opts.PanePlace == overlay.PaneAway:
		says, next = "the pane is hidden", m.hint(" · %s brings it back", keymap.PlacePane)
		if m.mode == keymap.Pane {
			m.setMode(m.beforePane)
		}
	case m.width < sideBySide:
		says, next = "the pane alternates with the chat", m.hint(" · %s switches", keymap.NextRegion)
	}
	m.arrange()
	return tea.Batch(m.info(says+next), m.loadMissing())
}
