package glob

import (
	"strings"
	"unicode/utf8"
)

// shape names the patterns that have a faster way than the general one.
type shape uint8

const (
	general  shape = iota
	literal        // abc
	prefix         // abc*
	suffix         // *abc
	contains       // *abc*
	all            // *
	nothing        // holds a class without members
)

// Pattern is a compiled pattern. Compile makes it; the zero value matches only
// the empty string. It is immutable and may be shared by goroutines.
type Pattern struct {
	text   string
	shape  shape
	fixed  string // what literal, prefix, suffix and contains look for
	tokens []token
	head   segment   // general: before the first star
	middle []segment // general: between stars
	tail   segment   // general: behind the last star, when starred
	stars  bool      // general: there is a star
}

// Compile makes a Pattern of text. Every text is a pattern.
func Compile(text string) *Pattern {
	p := &Pattern{text: text, tokens: parse(text)}
	p.shape, p.fixed = shapeOf(p.tokens, utf8.ValidString(text))
	if p.shape == general {
		p.split()
	}
	return p
}

// String returns the text that p was compiled from.
func (p *Pattern) String() string { return p.text }

// Literal returns the one string p matches, and true, when there is just one.
func (p *Pattern) Literal() (string, bool) { return p.fixed, p.shape == literal }

// Prefix returns the text with which every match of p begins, as far as the
// pattern fixes it.
func (p *Pattern) Prefix() string {
	var b []byte
	for _, t := range p.tokens {
		if t.kind != one || !utf8.ValidRune(t.rune) {
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
	for i > 0 && p.tokens[i-1].kind == one && utf8.ValidRune(p.tokens[i-1].rune) {
		i--
	}
	var b []byte
	for _, t := range p.tokens[i:] {
		b = utf8.AppendRune(b, t.rune)
	}
	return string(b)
}

// Core returns the longest text that every match of p holds somewhere, the
// first of them when several are as long.
func (p *Pattern) Core() string {
	var best, run []byte
	for _, t := range p.tokens {
		if t.kind != one || !utf8.ValidRune(t.rune) {
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

// OpenStart reports whether p begins with a star, so that anything may stand
// before what it matches.
func (p *Pattern) OpenStart() bool { return len(p.tokens) > 0 && p.tokens[0].kind == star }

// Match reports whether p matches the whole of s. It allocates nothing as long
// as no part between two stars is longer than 64 × maxBlocks characters.
func (p *Pattern) Match(s string) bool {
	switch p.shape {
	case literal:
		return s == p.fixed
	case prefix:
		return strings.HasPrefix(s, p.fixed)
	case suffix:
		return strings.HasSuffix(s, p.fixed)
	case contains:
		return strings.Contains(s, p.fixed)
	case all:
		return true
	case nothing:
		return false
	default:
	}
	return p.matchGeneral(s)
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

// shapeOf finds the fast way for tokens, if any, and its text. Where text is
// compared bytewise it must be valid UTF-8: only then does every occurrence
// begin and end between characters.
func shapeOf(toks []token, valid bool) (shape, string) {
	var b []byte
	stars := 0
	for _, t := range toks {
		switch t.kind {
		case never:
			return nothing, ""
		case star:
			stars++
		case one:
			b, _ = appendRune(b, t.rune)
		default:
		}
	}
	for _, t := range toks {
		if t.kind != one && t.kind != star {
			return general, ""
		}
	}
	first := stars > 0 && toks[0].kind == star
	last := stars > 0 && toks[len(toks)-1].kind == star
	switch {
	case stars == 1 && len(toks) == 1:
		return all, ""
	case !valid:
		return general, ""
	case stars == 0:
		return literal, string(b)
	case stars == 1 && last:
		return prefix, string(b)
	case stars == 1 && first:
		return suffix, string(b)
	case stars == 2 && first && last:
		return contains, string(b)
	}
	return general, ""
}
