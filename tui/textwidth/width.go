package textwidth

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Truncate cuts s to at most width cells; what is cut ends in tail, which is
// counted. Escape sequences stay.
func Truncate(s string, width int, tail string) string {
	if !strings.Contains(s, emoji) {
		return ansi.Truncate(s, width, tail)
	}
	h := hide(s)
	return h.show(ansi.Truncate(h.text, width, tail), 0)
}

// TruncateLeft cuts n cells off the beginning of s and puts prefix before the
// rest. Escape sequences stay.
func TruncateLeft(s string, n int, prefix string) string {
	if !strings.Contains(s, emoji) {
		return ansi.TruncateLeft(s, n, prefix)
	}
	h := hide(s)
	rest := ansi.TruncateLeft(h.text, n, prefix)
	return h.show(rest, len(h.caps)-strings.Count(rest, h.sign))
}

// Fit cuts s to exactly width cells, or pads it; what is cut ends in tail.
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

// Cut is what stands in the cells from left up to right, without the latter.
func Cut(s string, left, right int) string {
	if !strings.Contains(s, emoji) {
		return ansi.Cut(s, left, right)
	}
	return TruncateLeft(Truncate(s, right, ""), left, "")
}

// Wrap breaks s into lines of at most width cells, between words where there
// are any. Escape sequences stay where they are.
func Wrap(s string, width int) []string {
	width = max(1, width)
	h := hidden{text: s}
	if strings.Contains(s, emoji) {
		h = hide(s)
	}
	var out []string
	for _, line := range strings.Split(h.show(ansi.Wrap(h.text, width, ""), 0), "\n") {
		for ansi.StringWidth(line) > width { // x/ansi does not count every mark, nor a space before a wide character
			head := Truncate(line, width, "")
			if ansi.StringWidth(head) == 0 {
				break // one character is wider than the line
			}
			out = append(out, head)
			line = TruncateLeft(line, ansi.StringWidth(head), "")
		}
		out = append(out, line)
	}
	return out
}

// emoji is U+FE0F, which makes an emoji of the character before it.
const emoji = "\ufe0f"

// keycap is a digit, a star or a number sign as a key, or on the way to one.
var keycap = regexp.MustCompile("[0-9#*]\ufe0f\u20e3?")

// signs are characters of two cells; one of them stands for the keycaps of a
// text that does not hold it.
var signs = []string{"〾", "㍻", "㋿", "㊙"}

// hidden is a text with another character of two cells for each keycap.
type hidden struct {
	text string
	sign string
	caps []string // in order
}

func hide(s string) hidden {
	h := hidden{sign: signs[0]}
	for _, sign := range signs {
		if !strings.Contains(s, sign) {
			h.sign = sign
			break
		}
	}
	h.text = keycap.ReplaceAllStringFunc(s, func(cap string) string {
		h.caps = append(h.caps, cap)
		return h.sign
	})
	return h
}

// show puts the keycaps back, the first of them for the first sign.
func (h hidden) show(s string, first int) string {
	var b strings.Builder
	for _, cap := range h.caps[max(0, first):] {
		before, after, found := strings.Cut(s, h.sign)
		if !found {
			break
		}
		b.WriteString(before + cap)
		s = after
	}
	return b.String() + s
}
