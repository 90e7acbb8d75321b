package style

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns the same as ansi.StringWidth: the number of cells of s, without its escape
// sequences. It is several times as fast for text that is mostly ASCII.
func Width(s string) (cells int) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case isPrintable(c) && (i+1 == len(s) || s[i+1] < utf8.RuneSelf):
			cells, i = cells+1, i+1
		case isPrintable(c) || firstOfRune <= c && c <= lastOfRune:
			cluster, width := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
			cells, i = cells+width, i+len(cluster)
		default:
			n := sgrLength(s[i:])
			if n == 0 {
				return ansi.StringWidth(s)
			}
			i += n
		}
	}
	return cells
}

// Strip returns the same as ansi.Strip, which copies text without escape sequences too.
func Strip(s string) string {
	if IsPlain(s) {
		return s
	}
	return ansi.Strip(s)
}

// firstOfRune and lastOfRune are the limits of the first byte of a rune of several bytes.
const firstOfRune, lastOfRune = 0xc2, 0xf4

// isPrintable reports whether c is a printable ASCII character.
func isPrintable(c byte) bool { return ' ' <= c && c <= '~' }

// IsPlain reports whether s contains only printable ASCII characters, so that each byte is a
// cell.
func IsPlain(s string) bool {
	for i := range len(s) {
		if !isPrintable(s[i]) {
			return false
		}
	}
	return true
}

// sgrLength returns the length of the sequence with which s starts, if it selects colours or
// attributes; otherwise 0.
func sgrLength(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := len("\x1b["); i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';':
			return 0
		}
	}
	return 0
}

// Truncate cuts s to at most width cells, including tail, which ends a text that was cut.
// Escape sequences stay.
func Truncate(s string, width int, tail string) string {
	if strings.Contains(s, emojiSelector) {
		h := hideKeycaps(s)
		return h.restore(ansi.Truncate(h.text, width, tail), 0)
	}
	end := width - Width(tail)
	switch {
	case Width(s) <= width:
		return s
	case end < 0:
		return ""
	case IsPlain(s):
		return s[:end] + tail
	}
	cut, _, ok := skip(s, end)
	if !ok {
		return ansi.Truncate(s, width, tail)
	}
	_, sequences, ok := skip(s[cut:], len(s))
	if !ok {
		return ansi.Truncate(s, width, tail)
	}
	return s[:cut] + tail + sequences
}

// skip returns the length of the text at the beginning of s that takes at most n cells, and the
// escape sequences in it. It counts like ansi.Truncate: a mark after an ASCII character counts
// by itself. ok is false if there are other sequences than those that select colours or
// attributes, or control characters.
func skip(s string, n int) (length int, sequences string, ok bool) {
	for i, cells := 0, 0; ; {
		switch {
		case i == len(s):
			return i, sequences, true
		case isPrintable(s[i]):
			if cells++; cells > n {
				return i, sequences, true
			}
			i++
		case firstOfRune <= s[i] && s[i] <= lastOfRune:
			cluster, width := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
			if cells += width; cells > n {
				return i, sequences, true
			}
			i += len(cluster)
		default:
			sequence := sgrLength(s[i:])
			if sequence == 0 {
				return 0, "", false
			}
			sequences += s[i : i+sequence]
			i += sequence
		}
	}
}

// TruncateWords is like Truncate, for a text without escape sequences. It cuts after a word,
// unless that would leave less than half of the cells filled.
func TruncateWords(s string, width int, tail string) string {
	if Width(s) <= width {
		return s
	}
	head := Truncate(s, max(0, width-Width(tail)), "")
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 && s[len(head)] != ' ' {
		head = head[:i]
	}
	return Truncate(strings.TrimRight(head, " ·:,")+tail, width, "")
}

// TruncateLeft cuts n cells off the beginning of s and puts prefix before the rest. Escape
// sequences stay.
func TruncateLeft(s string, n int, prefix string) string {
	switch {
	case n <= 0:
		return s
	case n < len(s) && IsPlain(s):
		return prefix + s[n:]
	case strings.Contains(s, emojiSelector):
		h := hideKeycaps(s)
		rest := ansi.TruncateLeft(h.text, n, prefix)
		return h.restore(rest, len(h.keycaps)-strings.Count(rest, h.placeholder))
	}
	cut, sequences, ok := skip(s, n)
	switch {
	case !ok:
		return ansi.TruncateLeft(s, n, prefix)
	case cut == len(s):
		return sequences
	}
	return sequences + prefix + s[cut:]
}

// Fit cuts or pads s to exactly width cells. tail ends a text that was cut.
func Fit(s string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	n := Width(s)
	if n > width {
		s = Truncate(s, width, tail)
		n = Width(s)
	}
	return s + strings.Repeat(" ", max(0, width-n))
}

// Cut returns the cells from left up to, but not including, right.
func Cut(s string, left, right int) string {
	switch {
	case right <= left:
		return ""
	case left >= 0 && IsPlain(s):
		return s[min(left, len(s)):min(right, len(s))]
	case left <= 0:
		return Truncate(s, right, "")
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
		for Width(line) > width { // x/ansi does not count every mark, nor a space before a wide character
			head := Truncate(line, width, "")
			if Width(head) == 0 {
				break // a single character is wider than the line
			}
			out = append(out, head)
			line = TruncateLeft(line, Width(head), "")
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
			case Width(joined) <= width:
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
