package glob

import (
	"slices"
	"unicode/utf8"
)

// readable lists the characters of examples, the best first. Another character is
// used when none of them matches.
const readable = "abcdefghijklmnopqrstuvwxyz0123456789-._ABCDEFGHIJKLMNOPQRSTUVWXYZ/:@+=~ !#$%&()*,;<>?[\\]^`{|}'\""

// alphabet divides the code points into intervals. Each token of the patterns that
// it is made for accepts all characters of an interval or none, and the slash is an
// interval of its own.
type alphabet struct {
	starts []rune // interval i is from starts[i] to before starts[i+1]
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

// appendBounds appends the characters at which what tokens match begins or ends.
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

// examples returns a character of each interval; -1 where no string can have one.
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

// exampleIn returns a character of lo to hi that a string can have, or -1.
func exampleIn(lo, hi rune) rune {
	// Surrogates lie in one piece: a character is at an end of the interval, at
	// an end of that piece, or a byte.
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

// Example returns a shortest string that p matches, readable where the pattern
// leaves a choice; false when p matches nothing. If the pattern has bad bytes, p may
// not match the example: bad bytes in a row can be a valid character.
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

// example returns the most readable member of the class.
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
