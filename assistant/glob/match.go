package glob

import (
	"strings"
	"unicode/utf8"
)

// segment is a run of tokens without a star; it matches strings of exactly len(tokens) characters.
type segment struct {
	tokens  []token
	text    string  // the literal characters; if plain, the exact bytes that the segment matches
	plain   bool    // contains only valid literal characters
	finder  *finder // only for a middle segment that is neither plain nor onlyAny
	onlyAny bool    // contains only `?`

	prefix string // every match begins with it
	suffix string // every match ends with it
	core   string // the longest text that every match contains
}

// split cuts p.tokens at the stars. valid reports whether the pattern is valid UTF-8; only then is text compared
// bytewise, because only then does every occurrence start and end between characters.
func (p *Pattern) split(valid bool) {
	tokens := p.tokens
	var parts [][]token
	start := 0
	for i, t := range tokens {
		if t.kind == star {
			parts = append(parts, tokens[start:i])
			start = i + 1
		}
	}
	parts = append(parts, tokens[start:])
	for i, part := range parts {
		seg := newSegment(part, valid)
		if len(seg.core) > len(p.core) {
			p.core = seg.core
		}
		switch {
		case i == 0:
			p.head = seg
		case i == len(parts)-1:
			p.stars, p.tail = true, seg
		default:
			if !seg.plain && !seg.onlyAny {
				seg.finder = newFinder(part)
			}
			p.middle = append(p.middle, seg)
		}
	}
	p.plainEnds = p.head.plain && p.tail.plain
}

func newSegment(tokens []token, valid bool) segment {
	seg := segment{tokens: tokens, plain: valid, onlyAny: true}
	var b []byte         // the literal characters
	prefix, run := -1, 0 // end of the first run and start of the last run of literal characters in b
	coreFrom, coreTo := 0, 0
	for _, t := range tokens {
		seg.onlyAny = seg.onlyAny && t.kind == anyChar
		if t.kind == char && utf8.ValidRune(t.rune) {
			b = utf8.AppendRune(b, t.rune)
			if len(b)-run > coreTo-coreFrom {
				coreFrom, coreTo = run, len(b)
			}
			continue
		}
		seg.plain = false
		if run = len(b); prefix < 0 {
			prefix = run
		}
	}
	seg.text = string(b)
	if prefix < 0 {
		prefix = len(b)
	}
	seg.prefix, seg.suffix, seg.core = seg.text[:prefix], seg.text[run:], seg.text[coreFrom:coreTo]
	return seg
}

// cutFront matches the beginning of s and returns the rest.
func (seg *segment) cutFront(s string) (string, bool) {
	if seg.plain {
		return strings.CutPrefix(s, seg.text)
	}
	for _, t := range seg.tokens {
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

// cutBack matches the end of s and returns what precedes it.
func (seg *segment) cutBack(s string) (string, bool) {
	if seg.plain {
		return strings.CutSuffix(s, seg.text)
	}
	for i := len(seg.tokens) - 1; i >= 0; i-- {
		if s == "" {
			return "", false
		}
		r, size := decodeLast(s)
		if !seg.tokens[i].accepts(r) {
			return "", false
		}
		s = s[:len(s)-size]
	}
	return s, true
}

// cutThrough finds the leftmost match in s and returns what follows it.
func (seg *segment) cutThrough(s string) (string, bool) {
	switch {
	case seg.plain:
		_, rest, ok := strings.Cut(s, seg.text)
		return rest, ok
	case seg.onlyAny:
		return seg.cutFront(s)
	}
	end := seg.finder.find(s)
	if end < 0 {
		return "", false
	}
	return s[end:], true
}
