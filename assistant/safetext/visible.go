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

// The quotes around the number that replaces a character. The same quotes in the text are themselves replaced with
// numbers, so that two different texts never look the same.
const (
	openQuote  = '‹'
	closeQuote = '›'
)

// Visible returns s with every character that is hidden, affects others, or looks like a different one replaced with
// its number: ‹U+202E›, or ‹0x9B› for a byte that is not UTF-8. Different texts always have different results. It is
// for what the user is asked to confirm. The result contains no line endings or tabs.
func Visible[S ~string](s S) Text { return visible(string(s)) }

func visible(s string) Text {
	if n := plainPrefix(s); n == len(s) && !strings.ContainsAny(s, "\n\t") {
		return Text(s)
	}
	deceives := deceptive([]rune(s))
	var b strings.Builder
	b.Grow(2 * len(s))
	marks, index := maxMarks, -1 // a combining mark without a base character is replaced with its number
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
	return Text(b.String())
}

// spelledOut matches a character that Visible has replaced.
var spelledOut = regexp.MustCompile(`‹(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})›`)

// VisibleOnce is Visible for text, such as the result of a tool, in which some characters have already been
// replaced; their replacements stay. It is not for what the user is asked to confirm, because two different texts
// can have the same result.
func VisibleOnce[S ~string](s S) Text {
	if !strings.ContainsRune(string(s), openQuote) {
		return Visible(s)
	}
	var out Text
	end := 0
	for _, at := range spelledOut.FindAllStringIndex(string(s), -1) {
		out += Visible(s[end:at[0]]) + Text(s[at[0]:at[1]])
		end = at[1]
	}
	return out + Visible(s[end:])
}

// isHidden reports whether a reader cannot see or recognise r: controls, fillers, joiners, selectors, unusual spaces,
// and the quotes that Visible itself uses.
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

// CleanKey is Clean for the text of one key press. It keeps a single joiner or selector, whose meaning depends on the
// preceding text; Clean of the whole text decides about it later.
func CleanKey(text string) Text {
	if r, n := utf8.DecodeRuneInString(text); n == len(text) && (r == zwj || r == zwnj || isSelector(r)) {
		return Text(text)
	}
	return Clean(text)
}

// ellipsis ends a truncated line.
const ellipsis = "…"

// Line is Clean for a single line, such as an id, a title or the name of a tool: line endings and tabs become
// single spaces, and text wider than width cells is truncated and ends in …. For a width below 1 it returns "".
func Line[S ~string](s S, width int) Text {
	if width < 1 {
		return ""
	}
	line := strings.Trim(string(Clean(s)), "\n\t")
	if strings.ContainsAny(line, "\n\t") {
		line = breaksAndTabs.ReplaceAllString(line, " ")
	}
	return Text(ansi.Truncate(line, width, ellipsis))
}

// Lines returns the lines of text, with four spaces for each tab and made safe to show by clean, for example Clean or
// Visible.
func Lines[S, T ~string](text S, clean func(string) T) []string {
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		lines[i] = string(clean(strings.ReplaceAll(l, "\t", "    ")))
	}
	return lines
}

var breaksAndTabs = regexp.MustCompile(`[\n\t]+`)

// JSON returns JSON text with \u escapes in place of the characters that a terminal would interpret or hide. The
// value stays the same.
func JSON(text []byte) []byte {
	const firstUnsafe = 0x7f // JSON already escapes the control characters below
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= firstUnsafe }) {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if r < firstUnsafe || string(Clean(string(r))) == string(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.Bytes()
}
