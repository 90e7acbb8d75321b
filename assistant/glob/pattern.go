package glob

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled pattern. Compile makes it; the zero value matches only
// the empty string. It is immutable and may be shared by goroutines.
type Pattern struct {
	text   string
	tokens []token
	head   segment   // before the first star
	middle []segment // between stars
	tail   segment   // after the last star, when there is one
	stars  bool      // there is a star
	never  bool      // it has a class without members: nothing matches
}

// Compile makes a Pattern of text. Every text is a pattern.
func Compile(text string) *Pattern {
	p := &Pattern{text: text, tokens: parse(text)}
	p.split(utf8.ValidString(text))
	p.never = slices.ContainsFunc(p.tokens, func(t token) bool { return t.kind == never })
	return p
}

// String returns the text that p was compiled from.
func (p *Pattern) String() string { return p.text }

// Literal returns the one string p matches, and true, when there is just one.
func (p *Pattern) Literal() (string, bool) {
	if p.stars || !p.head.plain {
		return "", false
	}
	return p.head.text, true
}

// Prefix returns the text with which every match of p begins, as far as the
// pattern fixes it.
func (p *Pattern) Prefix() string {
	var b []byte
	for _, t := range p.tokens {
		if t.kind != char || !utf8.ValidRune(t.rune) {
			break
		}
		b = utf8.AppendRune(b, t.rune)
	}
	return string(b)
}

// Suffix returns the text with which every match of p ends, as far as the
// pattern fixes it.
func (p *Pattern) Suffix() string {
	i := len(p.tokens)
	for i > 0 && p.tokens[i-1].kind == char && utf8.ValidRune(p.tokens[i-1].rune) {
		i--
	}
	var b []byte
	for _, t := range p.tokens[i:] {
		b = utf8.AppendRune(b, t.rune)
	}
	return string(b)
}

// Core returns the longest text that every match of p contains, the
// first of them when several are as long.
func (p *Pattern) Core() string {
	var best, run []byte
	for _, t := range p.tokens {
		if t.kind != char || !utf8.ValidRune(t.rune) {
			run = run[:0]
			continue
		}
		run = utf8.AppendRune(run, t.rune)
		if len(run) > len(best) {
			best = append(best[:0], run...)
		}
	}
	return string(best)
}

// OpenStart reports whether p begins with a star, so that anything may
// precede what it matches.
func (p *Pattern) OpenStart() bool { return len(p.tokens) > 0 && p.tokens[0].kind == star }

// Match reports whether p matches the whole of s. It allocates nothing as long
// as no part between two stars is longer than 64 × maxBlocks characters.
//
// It cuts the head off the front and the tail off the back; then it is
// enough to find each middle segment as far left as possible, in order.
func (p *Pattern) Match(s string) bool {
	s, ok := p.head.cutFront(s)
	if !ok || !p.stars {
		return ok && s == ""
	}
	if s, ok = p.tail.cutBack(s); !ok {
		return false
	}
	for i := range p.middle {
		if s, ok = p.middle[i].cutThrough(s); !ok {
			return false
		}
	}
	return true
}

// MatchID reports whether p, as a rule, matches the model id: the id without
// its first `/` segment, or the whole id.
func (p *Pattern) MatchID(id string) bool {
	if p.Match(id) {
		return true
	}
	if p.OpenStart() { // then what matches the rest matches the whole
		return false
	}
	slash := strings.IndexByte(id, '/')
	return slash >= 0 && p.Match(id[slash+1:])
}

// Quote returns a pattern that matches s and nothing else.
func Quote(s string) string {
	if !strings.ContainsAny(s, "*?[") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ { // the three are ASCII: bytes will do
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
