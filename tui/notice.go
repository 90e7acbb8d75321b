package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/tui/overlay"
)

// notice is the sentence in the footer. It stays until the next key that does
// something; what was said is remembered.
type notice struct {
	text string
	warn bool
	said []said // oldest first
	now  func() time.Time
}

// said is a notice that was given.
type said struct {
	at   time.Time
	text string
	warn bool
}

const (
	// noticesKept is how many notices can be read again.
	noticesKept = 100
	// noticeLength bounds one, in cells: the longest words of a provider.
	noticeLength = 4000
)

func (n *notice) say(text string) { n.give(text, false) }
func (n *notice) bad(text string) { n.give(text, true) }
func (n *notice) clear()          { n.text = "" }

func (n *notice) give(text string, warn bool) {
	n.text, n.warn = safetext.Line(text, noticeLength), warn
	if n.text == "" {
		return
	}
	n.said = append(n.said, said{n.now(), n.text, warn})
	n.said = n.said[max(0, len(n.said)-noticesKept):]
}

// openNotices shows what the footer said, the newest first and whole.
func (m *Model) openNotices() tea.Cmd {
	if len(m.notice.said) == 0 {
		m.notice.say("nothing was said yet")
		return nil
	}
	o := m.styles.Overlay
	var lines []string
	for _, s := range slices.Backward(m.notice.said) {
		text := o.Text
		if s.warn {
			text = m.styles.Footer.Bad
		}
		lines = append(lines, o.Muted.Render(s.at.Local().Format(time.TimeOnly))+"  "+text.Render(s.text))
	}
	return m.open(overlay.Notices, overlay.NewText("Notices", lines), nil)
}

// oneLine makes a text from anywhere safe for one line of the screen.
func oneLine(text string) string { return safetext.Line(text, 500) }

// trimEnd takes the line breaks off that editors leave at the end of a file.
func trimEnd(text string) string { return strings.TrimRight(text, "\r\n") }
