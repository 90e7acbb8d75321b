package glob

import (
	"strings"
	"unicode/utf8"
)

// segment is a run of tokens without a star: it matches strings of exactly
// len(tokens) characters.
type segment struct {
	tokens []token
	text   string  // when plain: what the segment matches, bytewise
	plain  bool    // only literal characters, all valid
	finder *finder // for a middle segment that is neither plain nor free
	free   bool    // only `?`
}

// split cuts p.tokens at the stars. valid reports that the pattern is valid UTF-8:
// only then is text compared bytewise, because then every occurrence begins and
// ends between characters.
func (p *Pattern) split(valid bool) {
	toks := p.tokens
	var parts [][]token
	start := 0
	for i, t := range toks {
		if t.kind == star {
			parts = append(parts, toks[start:i])
			start = i + 1
		}
	}
	parts = append(parts, toks[start:])
	p.head = newSegment(parts[0], valid)
	if len(parts) == 1 {
		return
	}
	p.stars = true
	p.tail = newSegment(parts[len(parts)-1], valid)
	for _, part := range parts[1 : len(parts)-1] {
		seg := newSegment(part, valid)
		if !seg.plain && !seg.free {
			seg.finder = newFinder(part)
		}
		p.middle = append(p.middle, seg)
	}
}

func newSegment(toks []token, valid bool) segment {
	seg := segment{tokens: toks, plain: valid, free: true}
	var b []byte
	for _, t := range toks {
		if t.kind != one || !utf8.ValidRune(t.rune) {
			seg.plain = false
		} else {
			b = utf8.AppendRune(b, t.rune)
		}
		seg.free = seg.free && t.kind == any1
	}
	if seg.plain {
		seg.text = string(b)
	}
	return seg
}

// cutFront matches the beginning of s and returns the rest.
func (g *segment) cutFront(s string) (string, bool) {
	if g.plain {
		return strings.CutPrefix(s, g.text)
	}
	for _, t := range g.tokens {
		if s == "" {
			return "", false
		}
		r, size := decode(s)
		if !t.accepts(r) {
			return "", false
		}
		s = s[size:]
	}
	return s, true
}

// cutBack matches the end of s and returns what is before it.
func (g *segment) cutBack(s string) (string, bool) {
	if g.plain {
		return strings.CutSuffix(s, g.text)
	}
	for i := len(g.tokens) - 1; i >= 0; i-- {
		if s == "" {
			return "", false
		}
		r, size := decodeLast(s)
		if !g.tokens[i].accepts(r) {
			return "", false
		}
		s = s[:len(s)-size]
	}
	return s, true
}

// cutThrough finds the leftmost match in s and returns what is behind it.
func (g *segment) cutThrough(s string) (string, bool) {
	switch {
	case g.plain:
		_, rest, ok := strings.Cut(s, g.text)
		return rest, ok
	case g.free:
		return g.cutFront(s)
	}
	end := g.finder.find(s)
	if end < 0 {
		return "", false
	}
	return s[end:], true
}
