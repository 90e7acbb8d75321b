package status

import (
	"regexp"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// Notices are the sentences of a screen. The zero value with a clock has none.
type Notices struct {
	Now    func() time.Time
	Text   string // what the footer shows, sanitised; "" is nothing
	Failed bool   // Text says what failed

	all []entry // oldest first
}

// entry is a notice that was shown.
type entry struct {
	at     time.Time
	text   string
	failed bool
}

const (
	maxNotices = 100  // how many can be read again
	maxLength  = 4000 // cells: longer than the error messages of providers
)

// Info shows a sentence.
func (n *Notices) Info(text string) { n.Show(text, false) }

// Fail shows what failed.
func (n *Notices) Fail(text string) { n.Show(text, true) }

// Clear shows nothing.
func (n *Notices) Clear() { n.Text = "" }

// Show is Info or Fail.
func (n *Notices) Show(text string, failed bool) {
	n.Text, n.Failed = safetext.Line(text, maxLength), failed
	if n.Text != "" {
		n.all = append(n.all, entry{n.Now(), n.Text, failed})
		n.all = n.all[max(0, len(n.all)-maxNotices):]
	}
}

// Add adds what others did. The footer shows it unless it is quiet, or would replace a
// failure.
func (n *Notices) Add(text string, quiet bool) {
	before, failed := n.Text, n.Failed
	if n.Show(text, false); quiet || before != "" && failed {
		n.Text, n.Failed = before, failed
	}
}

// Lines are all notices with their time of day, the newest first.
func (n *Notices) Lines(styles style.Styles) []string {
	lines := make([]string, len(n.all))
	for i, e := range n.all {
		text := styles.Overlay.Text
		if e.failed {
			text = styles.Footer.Bad
		}
		lines[len(lines)-1-i] = styles.Overlay.Muted.Render(e.at.Local().Format(time.TimeOnly)) + "  " + text.Render(e.text)
	}
	return lines
}

// wayOut finds the clauses at the end of a notice that name a key: " · ctrl+z undoes it".
var wayOut = regexp.MustCompile(` · (?:(?:ctrl|alt|shift)\+\S+|esc|enter|tab|f\d+|[a-zA-Z]) .*$`)

// FitNotice is a notice in at most w cells. What happened is cut first: the keys after it
// stay where they take at most two thirds. Otherwise more says how the rest is read.
func FitNotice(text string, w int, ellipsis, more string) string {
	if ansi.StringWidth(text) <= w {
		return text
	}
	tail := ellipsis + " " + more
	if keys := wayOut.FindString(text); keys != "" && ansi.StringWidth(keys) <= w*2/3 {
		text, tail = strings.TrimSuffix(text, keys), ellipsis+keys
	}
	return style.Truncate(style.Truncate(text, max(0, w-ansi.StringWidth(tail)), "")+tail, max(0, w), "")
}
