package glob

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled pattern. Use Compile; the zero value matches only the empty string. It is immutable and may
// be shared by goroutines.
type Pattern struct {
	text      string
	tokens    []token
	head      segment   // part before the first star
	middle    []segment // parts between stars
	tail      segment   // part after the last star, if there is a star
	stars     bool      // the pattern contains a star
	never     bool      // the pattern has an empty class, so nothing matches
	plainEnds bool      // head and tail are plain
	core      string
}

// Compile compiles text; every text is a valid pattern.
func Compile(text string) *Pattern {
	p := &Pattern{text: text, tokens: parse(text)}
	p.split(utf8.ValidString(text))
	p.never = slices.ContainsFunc(p.tokens, func(t token) bool { return t.kind == never })
	return p
}

// String returns the text that p was compiled from.
func (p *Pattern) String() string { return p.text }

// Literal returns the only string that p matches. ok is false if p does not match exactly one string, or contains bad
// bytes.
func (p *Pattern) Literal() (s string, ok bool) {
	if p.stars || !p.head.plain {
		return "", false
	}
	return p.head.text, true
}

// Prefix returns the text that every match of p starts with, as far as the pattern determines it.
func (p *Pattern) Prefix() string { return p.head.prefix }

// Suffix returns the text that every match of p ends with, as far as the pattern determines it.
func (p *Pattern) Suffix() string {
	if p.stars {
		return p.tail.suffix
	}
	return p.head.suffix
}

// Core returns the longest text that every match of p contains, the first one if several have the same length.
func (p *Pattern) Core() string { return p.core }

// StartsWithStar reports whether p starts with a star.
func (p *Pattern) StartsWithStar() bool { return len(p.tokens) > 0 && p.tokens[0].kind == star }

// Match reports whether p matches the whole of s. It does not allocate unless a part between two stars is longer than
// 64 × maxBlocks characters.
//
// It cuts the head off the front and the tail off the back; then it is sufficient to find each middle segment as far
// left as possible, in order.
func (p *Pattern) Match(s string) bool {
	switch { // fast paths for common patterns
	case !p.stars && p.head.plain:
		return s == p.head.text
	case p.never:
		return false
	case len(p.tokens) == 1 && p.stars: // `*`
		return true
	case p.plainEnds && p.stars:
		if len(s) < len(p.head.text)+len(p.tail.text) || !strings.HasPrefix(s, p.head.text) || !strings.HasSuffix(s, p.tail.text) {
			return false
		}
		s = s[len(p.head.text) : len(s)-len(p.tail.text)]
	default:
		var ok bool
		if s, ok = p.head.cutFront(s); !ok || !p.stars {
			return ok && s == ""
		}
		if s, ok = p.tail.cutBack(s); !ok {
			return false
		}
	}
	for i := range p.middle {
		var ok bool
		if s, ok = p.middle[i].cutThrough(s); !ok {
			return false
		}
	}
	return true
}

// MatchID reports whether p, as a rule, matches the model id: either the id without its first `/` segment, or the
// whole id.
func (p *Pattern) MatchID(id string) bool {
	if p.Match(id) {
		return true
	}
	if p.StartsWithStar() { // if p matches the rest of the id, it also matches the whole id
		return false
	}
	slash := strings.IndexByte(id, '/')
	return slash >= 0 && p.Match(id[slash+1:])
}

// Quote returns a pattern that matches only s.
func Quote(s string) string {
	if !strings.ContainsAny(s, "*?[") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ { // byte by byte, because the three special characters are ASCII
		switch s[i] {
		case '*', '?', '[':
			b.WriteByte('[')
			b.WriteByte(s[i])
			b.WriteByte(']')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
