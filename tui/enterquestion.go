package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/status"
)

// enterQuestion asks in the footer whether enter should send. It asks only once, ever.
type enterQuestion struct {
	open bool
	done bool // the question has been asked
}

// askEnter asks whether enter should send if the user has just pressed it at the end of a one-line draft, and if
// send_key is not set but can be stored. It reports whether it has asked.
func (m *Model) askEnter() bool {
	line, broken := strings.CutSuffix(m.input.draft.Text(), "\n")
	if !m.opts.AsksEnter || m.enterQuestion.done || m.opts.StoreSetting == nil || m.opts.EnterSends ||
		!broken || strings.TrimSpace(line) == "" || strings.Contains(line, "\n") {
		return false
	}
	m.enterQuestion = enterQuestion{open: true, done: true}
	m.notice.Clear()
	return true
}

// answerEnter handles answer i to the question: 0 is yes, which removes the line break, lets
// enter send and sends the draft; any other answer is no. Either answer is stored.
func (m *Model) answerEnter(i int) tea.Cmd {
	m.enterQuestion.open = false
	if i != 0 {
		return m.storeSendKey()
	}
	m.input.draft.Set(strings.TrimSuffix(m.input.draft.Text(), "\n"))
	m.opts.EnterSends = true
	return tea.Batch(m.applySettings(), m.storeSendKey(), m.send())
}

// storeSendKey stores which key sends.
func (m *Model) storeSendKey() tea.Cmd {
	all := m.settings()
	i := slices.IndexFunc(all, func(s overlay.Setting) bool { return s.Key == "send_key" })
	key, value := all[i].Stored()
	return m.storeSetting(key, value)
}

// dismissEnter answers no when the user presses a key that does not answer the question. taken
// is true for escape, which then has no other effect.
func (m *Model) dismissEnter(a *keymap.Row) (cmd tea.Cmd, taken bool) {
	if !m.enterQuestion.open || a != nil && (a.Name == keymap.Choose(1) || a.Name == keymap.Choose(2)) {
		return nil, false
	}
	return m.answerEnter(1), a != nil && a.Name == keymap.Escape
}

// enterFooter returns the question with its answers, at most w cells wide.
func (m *Model) enterFooter(w int) status.BarPart {
	f := m.styles.Footer
	answers := "[" + m.key(keymap.Choose(1)) + " yes] [" + m.key(keymap.Choose(2)) + " no]"
	for _, text := range []string{
		"Enter added a line. " + m.key(keymap.Send) + " sends. Let Enter send? ", "Enter added a line. Let Enter send? ", "Let Enter send? ",
	} {
		if m.widths.Width(" "+text+answers) <= w || strings.HasPrefix(text, "Let") {
			return status.BarPart{Text: f.Bar.Render(" ") + f.Notice.Render(m.widths.Truncate(text+answers, max(0, w-1), m.styles.Icons.Ellipsis))}
		}
	}
	return status.BarPart{}
}
