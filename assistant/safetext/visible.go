package safetext

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// The signs around the number of a character that is not shown as itself. A
// sign in the text is marked too, so two texts never look the same.
const (
	markOpen  = '‹'
	markClose = '›'
)

// Visible returns s with every character that is hidden, moves others, or
// looks like another shown as its number, and every other one as itself:
// ‹U+202E›, ‹0x9B› for a byte that is no UTF-8. Two texts that differ never
// give the same result. It is for what the user is asked to confirm; the
// result holds no line end and no tab.
func Visible(s string) string {
	if n := plain(s); n == len(s) && !strings.ContainsAny(s, "\n\t") {
		return s
	}
	shown := deceptive([]rune(s))
	var b strings.Builder
	b.Grow(2 * len(s))
	marks, column := maxMarks, -1 // a mark with nothing to stand on is shown
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		column++
		if !mark(r) {
			marks = 0
		} else {
			marks++
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%c0x%02X%c", markOpen, s[i], markClose)
			marks = maxMarks
		case unseen(r) || shown[column] || marks > maxMarks:
			fmt.Fprintf(&b, "%cU+%04X%c", markOpen, r, markClose)
			marks = maxMarks
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// unseen reports characters of which the reader sees nothing, or not what they
// are: controls, fillers, joiners, selectors, unusual spaces, and the signs
// that Visible itself writes.
func unseen(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r == markOpen || r == markClose || r == '\u2800': // U+2800 is an empty Braille cell
		return true
	case dropped(r) || r == '\n' || r == '\t' || selector(r):
		return true
	case unicode.Is(unicode.Co, r):
		return true
	}
	return unicode.In(r, unicode.Z)
}

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
		s = lineBreaks.ReplaceAllString(s, " ")
	}
	return ansi.Truncate(s, max, ellipsis)
}

var lineBreaks = regexp.MustCompile(`[\n\t]+`)
