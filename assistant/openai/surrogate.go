package openai

import (
	"strings"
	"unicode/utf8"
)

func highSurrogate(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func lowSurrogate(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

func joinSurrogates(high, low rune) rune { return (high-0xd800)<<10 | (low - 0xdc00) + 0x10000 }

// surrogateLead is the first byte of a surrogate written like UTF-8; it also
// begins the last Hangul syllables, which the second byte tells apart.
const surrogateLead = 0xed

// surrogates joins the halves of characters that an endpoint cut in two, each
// half escaped in a chunk of its own. The zero value is ready to use.
type surrogates struct{ high rune }

// join returns the text that is certain; a first half at its end waits for the
// next piece. A half without its other half becomes U+FFFD.
func (j *surrogates) join(s string) string {
	if s == "" || j.high == 0 && strings.IndexByte(s, surrogateLead) < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		half := half(s[i:])
		switch {
		case j.high != 0 && lowSurrogate(half):
			out.WriteRune(joinSurrogates(j.high, half))
			j.high = 0
		case half != 0:
			out.WriteString(j.flush())
			if highSurrogate(half) {
				j.high = half
			} else {
				out.WriteRune(utf8.RuneError)
			}
		default:
			out.WriteString(j.flush())
			out.WriteByte(s[i])
			i++
			continue
		}
		i += 3
	}
	return out.String()
}

// flush gives up on a second half.
func (j *surrogates) flush() string {
	if j.high == 0 {
		return ""
	}
	j.high = 0
	return string(utf8.RuneError)
}

// half returns the surrogate that s begins with, 0 when there is none.
func half(s string) rune {
	if len(s) < 3 || s[0] != surrogateLead || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return 0
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}
