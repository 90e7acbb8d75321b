package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/overlay"
)

// setting is one line of the settings overlay: choosing it takes the next value.
type setting struct {
	name  string
	title string
	value func(m *Model) string
	next  func(m *Model)
}

// settings can be changed while the program runs, for this run; the config
// keeps them for good.
func settings() []setting {
	change := func(m *Model, do func(*assistant.Settings)) {
		s := m.session.Settings()
		do(&s)
		m.session.SetSettings(s)
	}
	return []setting{
		{
			"confirm", "Ask before tools",
			func(m *Model) string { return string(confirmPolicy(m)) },
			func(m *Model) {
				change(m, func(s *assistant.Settings) {
					s.Confirm = after([]assistant.ConfirmPolicy{assistant.ConfirmSave, assistant.ConfirmAlways, assistant.ConfirmNever}, confirmPolicy(m))
				})
			},
		},
		{
			"max_iterations", "Rounds of tool calls in a turn",
			func(m *Model) string { return fmt.Sprint(max(1, orElse(m.session.Settings().Limits.Iterations, 5))) },
			func(m *Model) {
				change(m, func(s *assistant.Settings) {
					s.Limits.Iterations = after([]int{5, 10, 20, 3}, orElse(s.Limits.Iterations, 5))
				})
			},
		},
		{
			"user_request_allowance", "Tokens kept for the next message",
			func(m *Model) string { return fmt.Sprint(m.session.Settings().Budget.URA()) },
			func(m *Model) {
				change(m, func(s *assistant.Settings) {
					s.Budget.UserRequestAllowance = after([]int{100, 500, 2000, 8000}, s.Budget.URA())
				})
			},
		},
		{
			"max_trim_attempts", "Pairs a send may drop",
			func(m *Model) string { return fmt.Sprint(m.session.Settings().Budget.NTA()) },
			func(m *Model) {
				change(m, func(s *assistant.Settings) {
					s.Budget.MaxTrimAttempts = after([]int{10, 25, 100}, s.Budget.NTA())
				})
			},
		},
		{
			"long_reply", "Move to a long answer",
			func(m *Model) string { return map[bool]string{true: "stay", false: "move"}[m.opts.Stay] },
			func(m *Model) { m.opts.Stay = !m.opts.Stay },
		},
		{
			"mouse", "Mouse",
			func(m *Model) string { return map[bool]string{true: "on", false: "off"}[m.mouse] },
			func(m *Model) { m.mouse = !m.mouse },
		},
		{
			"theme", "Background",
			func(m *Model) string { return map[bool]string{true: "dark", false: "light"}[m.styleOpts.Dark] },
			func(m *Model) { m.switchTheme() },
		},
	}
}

func confirmPolicy(m *Model) assistant.ConfirmPolicy {
	return orElse(m.session.Settings().Confirm, assistant.ConfirmSave)
}

// orElse is v, or other when v is not set.
func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// after is the value that follows now in values; the first when now is none of them.
func after[T comparable](values []T, now T) T {
	for i, v := range values {
		if v == now {
			return values[(i+1)%len(values)]
		}
	}
	return values[0]
}

// openSettings lists the settings; choosing one changes it.
func (m *Model) openSettings() tea.Cmd { return m.settingsAt(0) }

func (m *Model) settingsAt(at int) tea.Cmd {
	all := settings()
	entries := make([]overlay.Entry, len(all))
	for i, s := range all {
		entries[i] = overlay.Entry{Value: s.name, Text: s.title, Extra: s.value(m), More: s.name + " in the config keeps it"}
	}
	return m.open(overlay.Settings, overlay.NewPicker("Settings", entries, at), func(c overlay.Chosen) tea.Cmd {
		for i, s := range all {
			if s.name == c.Value {
				s.next(m)
				return tea.Batch(m.settingsAt(i), computeBoundary(m.session))
			}
		}
		return nil
	})
}

// openSessions lists the sessions of the history; choosing one shows its pairs.
func (m *Model) openSessions() tea.Cmd {
	if m.opts.History == nil {
		m.notice.say("there is no history in this run")
		return nil
	}
	return loadSessions(m.opts.History)
}

func loadSessions(h *history.Store) tea.Cmd {
	return func() tea.Msg {
		all, err := h.Sessions(context.Background())
		return sessionsLoadedMsg{all, err}
	}
}

func (m *Model) onSessions(msg sessionsLoadedMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	entries := make([]overlay.Entry, 0, len(msg.sessions))
	for _, s := range msg.sessions {
		mark := ""
		if s.ID == m.session.ID() {
			mark = m.styles.Icons.Marked
		}
		entries = append(entries, overlay.Entry{
			Value: s.ID, Mark: mark, Text: s.Used.Local().Format("2006-01-02 15:04") + "  " + s.Folder,
			Extra: fmt.Sprintf("%d pairs · %s", s.Pairs, s.Model),
		})
	}
	return m.open(overlay.Sessions, overlay.NewPicker("Sessions", entries, 0), func(c overlay.Chosen) tea.Cmd {
		line := "x'" + c.Value + "'"
		if c.Value == m.session.ID() {
			line = "x"
		}
		q, err := filter.Parse(line)
		if err != nil {
			return m.complain(err)
		}
		return applyFilter(m.opts.History, q, line, m.env())
	})
}
