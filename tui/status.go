package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/terminal"
	"winnow/tui/usecase"
)

// doing returns what the program is doing, to notify a user who is looking elsewhere.
func (m *Model) doing() terminal.Attention {
	s := m.outcome
	s.Working, s.Doing, s.Focused = m.turn.running, m.turn.status, m.focused
	if _, open := m.overlay.Find(overlay.Connect); open {
		s.Needs = terminal.NeedsLogin
	}
	for _, kind := range []overlay.Kind{overlay.Confirm, overlay.SaveSheet} {
		if o, open := m.overlay.Find(kind); open {
			s.Question, s.Needs = o.Title(), terminal.NeedsAnswer
			if o == m.turn.asks {
				s.Needs = terminal.NeedsPermission
			}
		}
	}
	return s
}

// attend notifies a user who is looking elsewhere of a question.
func (m *Model) attend() tea.Cmd {
	before := m.attended
	m.attended = m.doing()
	return m.attended.NotifyQuestion(before, m.opts.Notify)
}

// notifyEnd shows how a turn ended until the terminal has the focus again or a key is
// pressed. At the end of a long turn it also sends a notification.
func (m *Model) notifyEnd(t turn, end assistant.Event) tea.Cmd {
	m.outcome = terminal.TurnEnded(end)
	if m.outcome.Outcome == "" || m.focused || !m.opts.Notify || m.now().Sub(t.began) < longTurn {
		return nil
	}
	return terminal.Notify(m.outcome.Outcome)
}

// statusLine shows what a running turn is doing and what escape does. If no turn is
// running, it says that a save made on this screen is being applied, or whose turn has
// locked the window.
func (m *Model) statusLine(w int) string {
	line := ""
	others := m.parts.others()
	switch other := others.Working(); {
	case m.turn.running:
		line = m.turn.progress(m.now(), m.styles.Icons.Running) + m.escapeHint()
	case m.applying != 0:
		line = "after_save is running" + m.escapeHint()
	case other != "":
		line = m.styles.Icons.Lock + " " + other
	default:
		return ""
	}
	return m.widths.Fit("  "+m.styles.Chat.Notice.Render(line), w, m.styles.Icons.Ellipsis)
}

// progress shows a spinner, what a running turn is doing, and how long the turn has been
// running.
func (t *turn) progress(now time.Time, spin []string) string {
	took := now.Sub(t.began)
	line := spin[int(took/usecase.AnimationFrame)%len(spin)]
	if t.status != "" {
		line += " " + string(oneLine(t.status))
	}
	if took >= time.Second {
		line += " " + took.Truncate(time.Second).String()
	}
	return line
}

// escapeHint says what escape does during a turn or while a save is being applied; "" if the
// footer says it because a text line or a list above the box takes the key.
func (m *Model) escapeHint() string {
	switch o, kind, open := m.overlay.Top(); {
	case open && (kind == overlay.Confirm || kind == overlay.SaveSheet):
		return string(m.hint(" · %s declines", keymap.AnswerCancel))
	case open:
		if _, isText := o.(*overlay.Text); isText {
			return string(m.hint(" · %s closes", keymap.TextClose))
		}
		return string(m.hint(" · %s closes", keymap.LineClose))
	case m.typingLine() || m.input.completing():
		return ""
	}
	return string(m.hint(" · %s cancels", keymap.Escape))
}
