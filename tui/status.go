package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/attention"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// doing is what the program does, for a user who looks elsewhere.
func (m *Model) doing() attention.State {
	s := m.outcome
	s.Working, s.Doing, s.Focused = m.turn.running, m.turn.status, m.focused
	if _, open := m.overlay.Find(overlay.Connect); open {
		s.Needs = attention.Login
	}
	for _, kind := range []overlay.Kind{overlay.Confirm, overlay.SaveSheet} {
		if o, open := m.overlay.Find(kind); open {
			s.Question, s.Needs = o.Title(), attention.Answer
			if o == m.turn.asks {
				s.Needs = attention.Permission
			}
		}
	}
	return s
}

// attend notifies a user who looks elsewhere of a question.
func (m *Model) attend() tea.Cmd {
	before := m.attended
	m.attended = m.doing()
	return m.attended.Asked(before, m.opts.Notify)
}

// notifyEnd shows how a turn ended until the terminal has the focus again, or a key is
// pressed, and notifies of the end of a long one.
func (m *Model) notifyEnd(t turn, end assistant.Event) tea.Cmd {
	m.outcome = attention.Ended(end)
	if m.outcome.Outcome == "" || m.focused || !m.opts.Notify || m.now().Sub(t.began) < longTurn {
		return nil
	}
	return attention.Notify(m.outcome.Outcome)
}

// statusLine shows what a running turn does, and what esc does meanwhile; else whose turn
// has the window.
func (t *turnState) statusLine(w int) string {
	others := t.others()
	if other := others.Working(); !t.running && other != "" {
		return t.widths.Fit("  "+t.styles.Chat.Notice.Render(t.styles.Icons.Lock+" "+other), w, t.styles.Icons.Ellipsis)
	} else if !t.running {
		return ""
	}
	spin := t.styles.Icons.Running
	took := t.now().Sub(t.began)
	line := spin[int(took/usecase.AnimationFrame)%len(spin)]
	if t.status != "" {
		line += " " + oneLine(t.status)
	}
	if took >= time.Second {
		line += " " + took.Truncate(time.Second).String()
	}
	switch o, kind, open := t.overlay.Top(); {
	case open && (kind == overlay.Confirm || kind == overlay.SaveSheet):
		line += t.hint(" · %s declines", keymap.AnswerCancel)
	case open:
		closes := keymap.LineClose
		if _, isText := o.(*overlay.Text); isText {
			closes = keymap.TextClose
		}
		line += t.hint(" · %s closes", closes)
	default:
		line += t.hint(" · %s cancels", keymap.Escape)
	}
	return t.widths.Fit("  "+t.styles.Chat.Notice.Render(line), w, t.styles.Icons.Ellipsis)
}
