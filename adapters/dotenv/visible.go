package dotenv

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable is text as it may be shown: whatever has no picture of its own or
// moves other text - control and format characters, variation selectors,
// fillers, bytes that are not UTF-8 - is spelled out.
func printable(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case c == '\t':
			out.WriteString(`\t`)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\r':
			out.WriteString(`\r`)
		case hidden(c):
			fmt.Fprintf(&out, `\u{%x}`, c)
		default:
			out.WriteRune(c)
		}
		i += size
	}
	return out.String()
}

// hidden tells whether a character is not seen where it stands.
func hidden(c rune) bool {
	switch {
	case !unicode.IsPrint(c): // controls, format characters, tags, private use, blanks other than U+0020
		return true
	case 0xfe00 <= c && c <= 0xfe0f, 0xe0100 <= c && c <= 0xe01ef, 0x180b <= c && c <= 0x180f: // variation selectors
		return true
	}
	switch c {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0: // joiner, fillers, inherent vowels, blank pattern
		return true
	}
	return false
}
