package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/settings"
	"winnow/tui/status"
)

// enterQuestion asks in the footer, once ever, whether enter shall send.
type enterQuestion struct {
	open bool
	done bool // it was asked
}

// askEnter asks when a draft of one line was broken by enter, unless send_key is set.
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

// answerEnter answers the question: yes takes the line break out and sends.
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
	i := slices.IndexFunc(all, func(s settings.Setting) bool { return s.Key == "send_key" })
	key, value := all[i].Stored()
	return m.storeSetting(key, value)
}

// dismissEnter answers the question with no, by any key but those that answer it. taken
// reports that the key did nothing else.
func (m *Model) dismissEnter(a *keymap.Row) (cmd tea.Cmd, taken bool) {
	if !m.enterQuestion.open || a != nil && (a.Name == keymap.Choose(1) || a.Name == keymap.Choose(2)) {
		return nil, false
	}
	return m.answerEnter(1), a != nil && a.Name == keymap.Escape
}

// enterFooter is the question, in at most w cells.
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
