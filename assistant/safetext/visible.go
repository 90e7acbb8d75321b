package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
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
	deceptive := map[int]bool{}
	for _, f := range Suspicious(s) {
		deceptive[f.Column] = true
	}
	var b strings.Builder
	b.Grow(2 * len(s))
	marks, column := maxMarks, 0 // a mark with nothing to stand on is shown
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
		case unseen(r) || deceptive[column] || marks > maxMarks:
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
