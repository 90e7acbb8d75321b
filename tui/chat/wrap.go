package chat

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/textwidth"
)

// growing is plain text that only grows: lines that were whole are not broken
// again.
type growing struct {
	width int
	done  int // bytes that were broken
	rows  []stretch
}

// broken are the lines of text at width.
func (c *growing) broken(text string, width int) []stretch {
	if width != c.width || c.done > len(text) {
		*c = growing{width: width}
	}
	if end := strings.LastIndexByte(text, '\n'); end >= c.done {
		c.rows = breakText(c.rows, text[c.done:end], c.done, width)
		c.done = end + 1
	}
	if c.done == len(text) {
		return c.rows
	}
	return breakText(slices.Clip(c.rows), text[c.done:], c.done, width)
}

// one makes one line of a text from elsewhere.
func one(text string) string { return safetext.Line(text, 400) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// spread puts left and right at the edges of a line.
func spread(left, right string, width int) string {
	gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if gap < 1 {
		left = textwidth.Truncate(left, max(0, width-ansi.StringWidth(right)-1), "…")
		gap = max(0, width-ansi.StringWidth(left)-ansi.StringWidth(right))
	}
	return left + strings.Repeat(" ", gap) + right
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
