package safetext

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// ellipsis ends a line that was cut.
const ellipsis = "…"

// Line is Clean for a place that holds one line, such as an id, a title or the
// name of a tool: line ends and tabs become single spaces, and what is wider
// than max cells is cut and ends in …. A max below 1 gives an empty string.
func Line(s string, max int) string {
	if max < 1 {
		return ""
	}
	s = strings.Trim(Clean(s), "\n\t")
	if strings.ContainsAny(s, "\n\t") {
		s = oneLine(s)
	}
	return ansi.Truncate(s, max, ellipsis)
}

// oneLine replaces every run of line ends and tabs by one space.
func oneLine(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	inBreak := false
	for _, r := range s {
		isBreak := r == '\n' || r == '\t'
		switch {
		case !isBreak:
			b.WriteRune(r)
		case !inBreak:
			b.WriteByte(' ')
		}
		inBreak = isBreak
	}
	return b.String()
}
