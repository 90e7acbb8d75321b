package glob

import (
	"slices"
	"unicode/utf8"
)

// maxRune is the last code point of the alphabet.
const maxRune = utf8.MaxRune

// badByteBase plus a byte is the code point for a byte that is not part of valid UTF-8, as in Python's
// surrogateescape.
const badByteBase = 0xDC00

// span is the closed range of code points from lo to hi.
type span struct{ lo, hi rune }

// class is a set of code points, as sorted spans that neither touch nor overlap.
type class struct{ spans []span }

// newClass returns the set of all code points in spans or, if negated, of all others.
func newClass(spans []span, negated bool) *class {
	spans = normalize(spans)
	if negated {
		spans = complement(spans)
	}
	return &class{spans}
}

func (c *class) has(r rune) bool {
	_, found := slices.BinarySearchFunc(c.spans, r, func(s span, r rune) int {
		switch {
		case s.hi < r:
			return -1
		case s.lo > r:
			return 1
		}
		return 0
	})
	return found
}

// normalize sorts spans and joins adjacent and overlapping ones.
func normalize(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo) - int(b.lo) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// complement returns the spans of all code points outside the normalized spans.
func complement(spans []span) []span {
	var out []span
	next := rune(0)
	for _, s := range spans {
		if next < s.lo {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= maxRune {
		out = append(out, span{next, maxRune})
	}
	return out
}

// decode returns the first character of s, which must not be empty, and its
// length in bytes.
func decode(s string) (rune, int) {
	if b := s[0]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return badByteBase + rune(s[0]), 1
	}
	return r, size
}

// decodeLast returns the last character of s, which must not be empty, and its
// length in bytes.
func decodeLast(s string) (rune, int) {
	if b := s[len(s)-1]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	r, size := utf8.DecodeLastRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return badByteBase + rune(s[len(s)-1]), 1
	}
	return r, size
}

// appendRune is the inverse of decode. It returns false for code points that no string contains: surrogates that do
// not represent a byte.
func appendRune(b []byte, r rune) ([]byte, bool) {
	if r >= badByteBase+utf8.RuneSelf && r <= badByteBase+0xFF {
		return append(b, byte(r-badByteBase)), true
	}
	if !utf8.ValidRune(r) {
		return b, false
	}
	return utf8.AppendRune(b, r), true
}
