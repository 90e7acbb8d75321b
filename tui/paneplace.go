package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/settings"
)

// panesShown says which of chat and pane are shown: as the setting has it. A pane that is
// away is shown while it has the focus: a command has led there.
func (m *Model) panesShown() panesShown {
	beside := cmp.Or(m.opts.PanePlace, settings.PaneBeside) == settings.PaneBeside
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

// cyclePane puts the pane beside the chat, over the whole width, or away, for the next start
// as well.
func (m *Model) cyclePane() tea.Cmd {
	if m.plainChat() {
		return m.info("a plain chat has no pane")
	}
	m.opts.PanePlace = m.opts.NextPane()
	return tea.Batch(m.placePane(), m.storeSetting("pane", m.opts.PanePlace))
}

// placePane shows the pane where it was put, and says where that is. Over the whole width it
// gets the focus, and gives it back when it goes away.
func (m *Model) placePane() tea.Cmd {
	says, next := "pane beside the chat", m.hint(" · %s gives it the whole width", keymap.PlacePane)
	switch {
	case m.opts.PanePlace == settings.PaneFull:
		says, next = "pane over the whole width", m.hint(" · %s puts it away", keymap.PlacePane)
		if m.mode != keymap.Pane {
			if m.beforePane = m.mode; m.mode == keymap.Command {
				m.beforePane = keymap.View
			}
			m.setMode(keymap.Pane)
		}
	case m.opts.PanePlace == settings.PaneAway:
		says, next = "pane away", m.hint(" · %s brings it back", keymap.PlacePane)
		if m.mode == keymap.Pane {
			m.setMode(m.beforePane)
		}
	case m.width < sideBySide:
		says, next = "pane in turn with the chat", m.hint(" · %s moves on", keymap.NextRegion)
	}
	m.arrange()
	return tea.Batch(m.info(says+next), m.loadMissing())
}
