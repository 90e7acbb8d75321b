package tui

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// info shows a sentence in the footer.
func (m *Model) info(text safetext.Text) tea.Cmd {
	m.notice.Info(text)
	return nil
}

// busyNotice is the start of the notice shown when an action must wait until the turn ends.
var busyNotice = assistant.ErrBusy.Error()

// fail shows an error in the footer, with advice; nil shows nothing.
func (m *Model) fail(err error) tea.Cmd {
	switch {
	case err == nil:
		return nil
	case m.resend != nil && errors.As(err, new(*history.StorageError)): // the footer already shows this error
		m.notice.Add(sentence(err), true)
		return nil
	}
	cause, next := advice.ForError(err, func(action string) string {
		if action == advice.Force {
			return "--force"
		}
		return m.key(keymap.Action(action))
	})
	cause, _, _ = strings.Cut(cause, "\n")
	if next != "" {
		next = " · " + next
	}
	m.notice.Fail(oneLine(cause) + safetext.Clean(next))
	return nil
}

// failView appends to the current notice that the filter can no longer be evaluated. For
// nil it does nothing.
func (m *Model) failView(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	text := "the active filter cannot be evaluated: " + sentence(err)
	if m.notice.Text != "" {
		text = m.notice.Text + " · " + text
	}
	m.notice.Fail(text)
	return nil
}

// sentence returns an error as shown in the footer: one line, sanitised.
func sentence(err error) safetext.Text {
	text, _, _ := strings.Cut(advice.Text(err), "\n")
	return oneLine(text)
}

// oneLine returns a text as one sanitised line, cut to 500 cells.
func oneLine[S ~string](text S) safetext.Text { return safetext.Line(text, 500) }

// openNotices shows the complete notices, newest first.
func (m *Model) openNotices() tea.Cmd {
	lines := m.notice.Lines(m.styles)
	if len(lines) == 0 {
		return m.info("there are no notices yet")
	}
	return m.open(overlay.Notices, overlay.NewText("Notices", lines), nil)
}

// copyOut copies a text to the system clipboard, to the buffer of tmux and, with OSC 52, to
// the terminal, which may ignore it. API keys and hidden characters are removed first.
func (m *Model) copyOut(t copyText) tea.Cmd {
	if strings.TrimSpace(t.text) == "" {
		return m.info("there is nothing to copy")
	}
	if t.safe == nil {
		t.safe = safetext.Clean[string]
	}
	redact, native, tmux := m.opts.Redact, m.opts.Clipboard, m.opts.TmuxBuffer
	return func() tea.Msg {
		c := copiedMsg{what: t.what, text: t.safe(t.text)}
		if redact != nil {
			c.text = safetext.Clean(redact(string(c.text)))
		}
		if native(string(c.text)) == nil {
			c.to = append(c.to, "the clipboard")
		}
		if tmux != nil && tmux(string(c.text)) == nil {
			c.to = append(c.to, "the tmux buffer")
		}
		return c
	}
}

// onCopied reports where a text was copied, and also sends the text to the terminal.
func (m *Model) onCopied(msg copiedMsg) tea.Cmd {
	if len(msg.to) == 0 {
		m.notice.Info(safetext.Sprintf("sent %s to the terminal by OSC 52; the terminal may ignore it", msg.what))
	} else {
		m.notice.Info(safetext.Sprintf("copied %s to %s · OSC 52 sent", msg.what, strings.Join(msg.to, " and ")))
	}
	return tea.SetClipboard(string(msg.text))
}
