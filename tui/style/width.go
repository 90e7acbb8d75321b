package style

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Truncate cuts s to at most width cells, including tail, which ends a text that was cut.
// Escape sequences stay.
func Truncate(s string, width int, tail string) string {
	if !strings.Contains(s, emojiSelector) {
		return ansi.Truncate(s, width, tail)
	}
	h := hideKeycaps(s)
	return h.restore(ansi.Truncate(h.text, width, tail), 0)
}

// TruncateWords is like Truncate, for a text without escape sequences. It cuts after a word,
// unless that would leave less than half of the cells filled.
func TruncateWords(s string, width int, tail string) string {
	if ansi.StringWidth(s) <= width {
		return s
	}
	head := Truncate(s, max(0, width-ansi.StringWidth(tail)), "")
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 && s[len(head)] != ' ' {
		head = head[:i]
	}
	return Truncate(strings.TrimRight(head, " ·:,")+tail, width, "")
}

// TruncateLeft cuts n cells off the beginning of s and puts prefix before the rest. Escape
// sequences stay.
func TruncateLeft(s string, n int, prefix string) string {
	if !strings.Contains(s, emojiSelector) {
		return ansi.TruncateLeft(s, n, prefix)
	}
	h := hideKeycaps(s)
	rest := ansi.TruncateLeft(h.text, n, prefix)
	return h.restore(rest, len(h.keycaps)-strings.Count(rest, h.placeholder))
}

// Fit cuts or pads s to exactly width cells. tail ends a text that was cut.
func Fit(s string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	n := ansi.StringWidth(s)
	if n > width {
		s = Truncate(s, width, tail)
		n = ansi.StringWidth(s)
	}
	return s + strings.Repeat(" ", max(0, width-n))
}

// Cut returns the cells from left up to, but not including, right.
func Cut(s string, left, right int) string {
	if !strings.Contains(s, emojiSelector) {
		return ansi.Cut(s, left, right)
	}
	return TruncateLeft(Truncate(s, right, ""), left, "")
}

// Wrap breaks s into lines of at most width cells, between words where possible. Escape
// sequences stay where they are.
func Wrap(s string, width int) []string {
	width = max(1, width)
	h := hidden{text: s}
	if strings.Contains(s, emojiSelector) {
		h = hideKeycaps(s)
	}
	var out []string
	for _, line := range strings.Split(h.restore(ansi.Wrap(h.text, width, ""), 0), "\n") {
		for ansi.StringWidth(line) > width { // x/ansi does not count every mark, nor a space before a wide character
			head := Truncate(line, width, "")
			if ansi.StringWidth(head) == 0 {
				break // a single character is wider than the line
			}
			out = append(out, head)
			line = TruncateLeft(line, ansi.StringWidth(head), "")
		}
		out = append(out, line)
	}
	return out
}

// clause separates the clauses of a hint.
const clause = " · "

// WrapClauses breaks each line of s into lines of at most width cells, between clauses where
// possible: "esc view · f1 help" never ends a line with "f1".
func WrapClauses(s string, width int) (out []string) {
	for line := range strings.SplitSeq(s, "\n") {
		row := ""
		for i, one := range strings.Split(line, clause) {
			switch joined := row + clause + one; {
			case i == 0:
				row = one
			case ansi.StringWidth(joined) <= width:
				row = joined
			default:
				out, row = append(out, Wrap(row, width)...), one
			}
		}
		out = append(out, Wrap(row, width)...)
	}
	return out
}

// emojiSelector is U+FE0F, which turns the character before it into an emoji.
const emojiSelector = "\ufe0f"

// keycap matches a digit, * or # followed by U+FE0F, with or without U+20E3.
var keycap = regexp.MustCompile("[0-9#*]\ufe0f\u20e3?")

// placeholders are characters two cells wide. A placeholder that does not occur in a text
// replaces the keycaps of that text.
var placeholders = []string{"〾", "㍻", "㋿", "㊙"}

// hidden is a text whose keycaps were replaced by placeholder.
type hidden struct {
	text        string
	placeholder string
	keycaps     []string // in order
}

// hideKeycaps replaces the keycaps of s.
func hideKeycaps(s string) hidden {
	h := hidden{placeholder: placeholders[0]}
	for _, p := range placeholders {
		if !strings.Contains(s, p) {
			h.placeholder = p
			break
		}
	}
	h.text = keycap.ReplaceAllStringFunc(s, func(found string) string {
		h.keycaps = append(h.keycaps, found)
		return h.placeholder
	})
	return h
}

// restore replaces the placeholders in s, which is a part of h.text, with the keycaps from
// index first on.
func (h hidden) restore(s string, first int) string {
	var b strings.Builder
	for _, original := range h.keycaps[max(0, first):] {
		before, after, found := strings.Cut(s, h.placeholder)
		if !found {
			break
		}
		b.WriteString(before + original)
		s = after
	}
	return b.String() + s
}
