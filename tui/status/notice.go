package status

import (
	"regexp"
	"strings"
	"time"

	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// Notices holds the notices of a screen. Apart from Now, which must be set, the zero value is
// empty and ready to use.
type Notices struct {
	Now    func() time.Time
	Text   safetext.Text // the notice in the footer; "" if there is none
	Failed bool          // Text reports a failure

	all []entry // oldest first
}

// entry is a notice that was shown.
type entry struct {
	at     time.Time
	text   safetext.Text
	failed bool
}

const (
	maxNotices = 100  // number of notices kept for the list
	maxLength  = 4000 // maximum cells of a notice: more than the error messages of providers need
)

// Info shows a notice that is not a failure.
func (n *Notices) Info(text safetext.Text) { n.Show(text, false) }

// Fail shows a notice about a failure.
func (n *Notices) Fail(text safetext.Text) { n.Show(text, true) }

// Clear removes the notice from the footer.
func (n *Notices) Clear() { n.Text = "" }

// Show does the same as Info or, if failed is true, as Fail.
func (n *Notices) Show(text safetext.Text, failed bool) {
	n.Text, n.Failed = safetext.Line(text, maxLength), failed
	if n.Text != "" {
		n.all = append(n.all, entry{n.Now(), n.Text, failed})
		n.all = n.all[max(0, len(n.all)-maxNotices):]
	}
}

// Add adds a notice about what others did. The footer shows it, unless quiet is true or the
// footer shows a failure.
func (n *Notices) Add(text safetext.Text, quiet bool) {
	before, failed := n.Text, n.Failed
	if n.Show(text, false); quiet || before != "" && failed {
		n.Text, n.Failed = before, failed
	}
}

// Lines returns all notices with their times of day, newest first.
func (n *Notices) Lines(styles style.Styles) []string {
	lines := make([]string, len(n.all))
	for i, e := range n.all {
		text := styles.Overlay.Text
		if e.failed {
			text = styles.Footer.Bad
		}
		lines[len(lines)-1-i] = styles.Overlay.Muted.Render(e.at.Local().Format(time.TimeOnly)) + "  " + text.Render(string(e.text))
	}
	return lines
}

// keyClause matches the clause at the end of a notice that names a key: " · ctrl+z undoes
// it".
var keyClause = regexp.MustCompile(` · (?:(?:ctrl|alt|shift)\+\S+|esc|enter|tab|f\d+|[a-zA-Z]) .*$`)

// FitNotice shortens a notice to w cells. If the notice ends with several keys, only the
// first stays. If the key takes at most two thirds of the width, the text before it is cut.
// Otherwise the whole notice is cut and readMore follows, which says how to read the rest.
func FitNotice(text string, w int, ellipsis, readMore string) string {
	if style.Width(text) <= w {
		return text
	}
	if first, _, several := strings.Cut(keyClause.FindString(text), ", "); several {
		return FitNotice(keyClause.ReplaceAllLiteralString(text, first), w, ellipsis, readMore)
	}
	tail := ellipsis + " " + readMore
	if keys := keyClause.FindString(text); keys != "" && style.Width(keys) <= w*2/3 {
		text, tail = strings.TrimSuffix(text, keys), ellipsis+keys
	}
	return style.Truncate(style.Truncate(text, max(0, w-style.Width(tail)), "")+tail, max(0, w), "")
}
