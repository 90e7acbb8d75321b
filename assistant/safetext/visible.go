package safetext

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// The quotes around the number of a character that is not shown as itself. The
// same quotes in the text are shown as numbers, so two texts never look the same.
const (
	openQuote  = '‹'
	closeQuote = '›'
)

// Visible returns s with the number in place of every character that is hidden, moves
// others, or looks like another: ‹U+202E›, or ‹0x9B› for a byte that is not UTF-8. Two
// texts that differ never give the same result. It is for what the user is asked to
// confirm; the result holds no line end and no tab.
func Visible(s string) string {
	if n := plainPrefix(s); n == len(s) && !strings.ContainsAny(s, "\n\t") {
		return s
	}
	deceives := deceptive([]rune(s))
	var b strings.Builder
	b.Grow(2 * len(s))
	marks, index := maxMarks, -1 // a combining mark without a base is shown as its number
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		index++
		if !isMark(r) {
			marks = 0
		} else {
			marks++
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%c0x%02X%c", openQuote, s[i], closeQuote)
			marks = maxMarks
		case isHidden(r) || deceives[index] || marks > maxMarks:
			fmt.Fprintf(&b, "%cU+%04X%c", openQuote, r, closeQuote)
			marks = maxMarks
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// spelledOut is a character that Visible has spelled out.
var spelledOut = regexp.MustCompile(`‹(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})›`)

// VisibleOnce is Visible for a text in which some characters are spelled out already, such
// as the result of a tool: those stay. It is not for what the user is asked to confirm,
// because two texts can give the same result.
func VisibleOnce(s string) string {
	if !strings.ContainsRune(s, openQuote) {
		return Visible(s)
	}
	var b strings.Builder
	end := 0
	for _, at := range spelledOut.FindAllStringIndex(s, -1) {
		b.WriteString(Visible(s[end:at[0]]) + s[at[0]:at[1]])
		end = at[1]
	}
	return b.String() + Visible(s[end:])
}

// isHidden reports whether a reader does not see r or cannot tell what it is:
// controls, fillers, joiners, selectors, unusual spaces, and the quotes that
// Visible itself writes.
func isHidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r == openQuote || r == closeQuote || r == '\u2800': // U+2800 is an empty Braille cell
		return true
	case isDropped(r) || r == '\n' || r == '\t' || isSelector(r):
		return true
	case unicode.Is(unicode.Co, r):
		return true
	}
	return unicode.In(r, unicode.Z)
}

// Typed is Clean for the text of one key. A joiner or a selector on its own stays: what
// comes before it decides what it means, and Clean of the whole text judges that.
func Typed(text string) string {
	if r, n := utf8.DecodeRuneInString(text); n == len(text) && (r == zwj || r == zwnj || isSelector(r)) {
		return text
	}
	return Clean(text)
}

// ellipsis ends a line that was cut.
const ellipsis = "…"

// Line is Clean for a place that holds one line, such as an id, a title or the
// name of a tool: line ends and tabs become single spaces, and what is wider
// than width cells is cut and ends in …. A width below 1 gives an empty string.
func Line(s string, width int) string {
	if width < 1 {
		return ""
	}
	s = strings.Trim(Clean(s), "\n\t")
	if strings.ContainsAny(s, "\n\t") {
		s = breaksAndTabs.ReplaceAllString(s, " ")
	}
	return ansi.Truncate(s, width, ellipsis)
}

// Lines makes the lines of a text safe to show, with four spaces for a tab. clean is
// Clean, or Visible, which spells invisible characters out.
func Lines(text string, clean func(string) string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = clean(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

var breaksAndTabs = regexp.MustCompile(`[\n\t]+`)

// JSON writes the characters of a JSON text that a terminal would obey or hide as \u
// escapes: the same value, safe to print.
func JSON(text []byte) []byte {
	const firstUnsafe = 0x7f // JSON escapes the control characters below
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= firstUnsafe }) {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if r < firstUnsafe || Clean(string(r)) == string(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.Bytes()
}
