package chat

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
)

// tabStop is how far apart tab stops are in plain text.
const tabStop = 4

// wrap breaks plain text into lines of at most width cells.
func wrap(text string, width int) []string {
	width = max(width, 1)
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", strings.Repeat(" ", tabStop))
	return strings.Split(ansi.Wrap(text, width, " -/"), "\n")
}

// wrapCache wraps text that only grows: paragraphs that were whole are not
// wrapped again.
type wrapCache struct {
	width int
	done  int // bytes wrapped
	lines []string
}

func (c *wrapCache) wrap(text string, width int) []string {
	if width != c.width || c.done > len(text) {
		*c = wrapCache{width: width}
	}
	if end := strings.LastIndexByte(text, '\n'); end >= c.done {
		c.lines = append(c.lines, wrap(safetext.Clean(text[c.done:end]), width)...)
		c.done = end + 1
	}
	rest := text[c.done:]
	if rest == "" {
		return c.lines
	}
	return append(slices.Clip(c.lines), wrap(safetext.Clean(rest), width)...)
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
		left = ansi.Truncate(left, max(0, width-ansi.StringWidth(right)-1), "…")
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
