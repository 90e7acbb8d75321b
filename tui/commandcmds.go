package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/filter"
)

// budgetFilter is the reason of a boundary that a filter line moved.
const budgetFilter = budget.FilterExecuted

// addLine keeps a filter line that worked.
func addLine(h Historian, line string) tea.Cmd {
	return func() tea.Msg {
		if err := h.AddLine(context.Background(), line); err != nil {
			return commandDoneMsg{err: err}
		}
		return nil
	}
}

// namesLoadedMsg answers loadNames.
type namesLoadedMsg struct {
	topics []string
	saved  map[string]string
}

// loadNames reads the names that a command may have changed.
func loadNames(h Historian) tea.Cmd {
	if h == nil {
		return nil
	}
	return func() tea.Msg {
		var msg namesLoadedMsg
		msg.topics, _ = h.Topics(context.Background())
		msg.saved, _ = h.Saved(context.Background()) // completion goes on with what it has
		return msg
	}
}

func (m *Model) onNames(msg namesLoadedMsg) tea.Cmd {
	if msg.topics != nil {
		m.names.topics = msg.topics
	}
	if msg.saved != nil {
		m.names.saved = msg.saved
	}
	return nil
}

// refilter evaluates the active line and makes the result the view.
func refilter(h Historian, s *assistant.Session, q *filter.Query, line string, env filter.Env) tea.Msg {
	refs, _, err := h.Filter(context.Background(), q, env)
	if err != nil {
		return commandDoneMsg{err: err}
	}
	s.SetView(refs, line, budget.VisibilityChanged)
	return boundaryComputedMsg{refs: s.Visible(), at: s.Boundary(), counter: s.Counter()}
}
