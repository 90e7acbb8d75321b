package glob

import (
	"slices"
	"unicode/utf8"
)

// readable lists characters for examples, best first. Another character is used if none of them matches.
const readable = "abcdefghijklmnopqrstuvwxyz0123456789-._ABCDEFGHIJKLMNOPQRSTUVWXYZ/:@+=~ !#$%&()*,;<>?[\\]^`{|}'\""

// alphabet divides the code points into intervals, so that each token of the patterns accepts either all characters
// of an interval or none of them. The slash is an interval of its own.
type alphabet struct {
	starts []rune // interval i is [starts[i], starts[i+1])
}

func newAlphabet(patterns ...*Pattern) alphabet {
	starts := []rune{0, '/', '/' + 1}
	for _, p := range patterns {
		starts = appendBounds(starts, p.tokens)
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	if starts[len(starts)-1] > maxRune {
		starts = starts[:len(starts)-1]
	}
	return alphabet{starts}
}

// appendBounds appends, for each range of characters that a token matches, the first character and the character after
// the last.
func appendBounds(starts []rune, tokens []token) []rune {
	for _, t := range tokens {
		switch t.kind {
		case char:
			starts = append(starts, t.rune, t.rune+1)
		case oneOf:
			for _, s := range t.class.spans {
				starts = append(starts, s.lo, s.hi+1)
			}
		default:
		}
	}
	return starts
}

func (a alphabet) len() int { return len(a.starts) }

// interval returns the interval of r.
func (a alphabet) interval(r rune) int {
	i, found := slices.BinarySearch(a.starts, r)
	if !found {
		i--
	}
	return i
}

// examples returns a character of each interval, or -1 if no string can contain one.
func (a alphabet) examples() []rune {
	out := make([]rune, a.len())
	for i := range out {
		out[i] = -1
	}
	for _, r := range readable {
		if i := a.interval(r); out[i] < 0 {
			out[i] = r
		}
	}
	for i := range out {
		if out[i] < 0 {
			hi := rune(maxRune)
			if i+1 < len(out) {
				hi = a.starts[i+1] - 1
			}
			out[i] = exampleIn(a.starts[i], hi)
		}
	}
	return out
}

// exampleIn returns a character from lo to hi that a string can contain, or -1.
func exampleIn(lo, hi rune) rune {
	// Surrogates form one contiguous range. So if any character between lo and hi can occur in a string, then
	// one of these can: lo, hi, a neighbour of that range, or the first bad byte.
	const firstSurrogate, pastSurrogates, firstByte = 0xD800, 0xE000, badByteBase + utf8.RuneSelf
	for _, r := range []rune{lo, firstSurrogate - 1, pastSurrogates, hi, firstByte} {
		if lo <= r && r <= hi {
			if _, ok := appendRune(nil, r); ok {
				return r
			}
		}
	}
	return -1
}

// Example returns a shortest string that p matches, choosing readable characters where possible. It returns false
// if p matches nothing. If the pattern contains bad bytes, p may not match the example, because consecutive bad
// bytes can form a valid character.
func (p *Pattern) Example() (string, bool) {
	var b []byte
	for _, t := range p.tokens {
		switch t.kind {
		case never:
			return "", false
		case char:
			b, _ = appendRune(b, t.rune)
		case anyChar:
			b = append(b, readable[0])
		case oneOf:
			b, _ = appendRune(b, t.class.example())
		default:
		}
	}
	return string(b), true
}

// example returns the most readable member of the class, or -1 if no string can contain one.
func (c *class) example() rune {
	for _, r := range readable {
		if c.has(r) {
			return r
		}
	}
	for _, s := range c.spans {
		if r := exampleIn(s.lo, s.hi); r >= 0 {
			return r
		}
	}
	return -1
}
