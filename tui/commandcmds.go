package tui

import (
	"cmp"
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// applyFilter evaluates a line.
func applyFilter(h history.Store, q *filter.Query, line string, env history.Env) tea.Cmd {
	return func() tea.Msg {
		r, err := h.Filter(context.Background(), q, env)
		hints := make([]string, len(r.Hints))
		for i, hint := range r.Hints {
			hints[i] = hint.String()
		}
		return filterAppliedMsg{line: line, refs: r.Refs, hints: hints, err: err}
	}
}

// findText asks the history which pairs say a text.
func findText(h history.Store, needle string, back bool) tea.Cmd {
	return func() tea.Msg {
		r, err := h.Filter(context.Background(), &filter.Query{Expr: filter.Content{Parts: []string{needle}}}, history.Env{})
		msg := textFoundMsg{needle: needle, back: back, err: err, seqs: make([]int64, len(r.Refs))}
		for i, ref := range r.Refs {
			msg.seqs[i] = ref.Seq
		}
		return msg
	}
}

// countFilter counts what a line would leave, while it is typed.
func countFilter(h history.Store, q *filter.Query, line string, env history.Env) tea.Cmd {
	return func() tea.Msg {
		n, err := h.Count(context.Background(), q, env)
		return filterCountedMsg{line: line, count: n, err: err}
	}
}

// checkShown asks whether a line would show the pair just answered.
func checkShown(h history.Store, q *filter.Query, env history.Env, seq int64) tea.Cmd {
	return func() tea.Msg {
		r, err := h.Filter(context.Background(), q, env)
		if err != nil {
			return failedMsg{err}
		}
		_, shown := slices.BinarySearchFunc(r.Refs, seq, func(r assistant.Ref, seq int64) int { return cmp.Compare(r.Seq, seq) })
		return pairShownMsg{seq: seq, shown: shown}
	}
}

// askShown asks it when a turn has ended under a line of the user's own.
func (m *Model) askShown(seq int64) tea.Cmd {
	line := m.session.Filter()
	q, err := filter.Parse(line)
	if m.opts.History == nil || seq == 0 || line == "" || line == "x" || err != nil {
		return nil
	}
	return checkShown(m.opts.History, q, m.env(), seq)
}

// onShown marks a pair that stays on the screen although the line hides it.
func (m *Model) onShown(msg pairShownMsg) tea.Cmd {
	m.chat.Hide(msg.seq, !msg.shown)
	return nil
}

// addLine keeps a filter line that worked.
func addLine(h history.Store, line string) tea.Cmd {
	if line == "" {
		return nil
	}
	return func() tea.Msg {
		if err := h.AddFilterLine(context.Background(), line); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

// loadNames reads the names that a command may have changed.
func loadNames(h history.Store) tea.Cmd {
	if h == nil {
		return nil
	}
	return func() tea.Msg {
		topics, saved := names(context.Background(), h)
		return namesLoadedMsg{topics, saved}
	}
}

func (m *Model) onNames(msg namesLoadedMsg) tea.Cmd {
	m.names.topics, m.names.saved = msg.topics, msg.saved
	return nil
}

// refilter evaluates the active line again and makes the result the view.
func refilter(h history.Store, s *assistant.Session, q *filter.Query, line string, env history.Env) tea.Cmd {
	return func() tea.Msg {
		r, err := h.Filter(context.Background(), q, env)
		if err != nil {
			return viewStaleMsg{err}
		}
		s.RefreshView(r.Refs, line) // else the view is another by now
		return boundaryComputedMsg{refs: s.Visible(), at: s.Boundary(), counter: s.Counter()}
	}
}
