package chat

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/markdown"
)

func cellsOf(s string) int { return ansi.StringWidth(s) }

// shows implements logical.
func (s *sheet) shows() int { return s.text.Len() }

// unit implements logical.
func (s *sheet) unit(at int, u Unit) (from, to int) { return unitOf(s.text.String(), at, u) }

// taken implements logical.
func (s *sheet) taken(from, to int, _ bool) string { return cut(s.text.String(), from, to) }

// cut is text from one place to another, as far as there is text.
func cut(text string, from, to int) string {
	from, to = max(0, from), min(to, len(text))
	if from >= to {
		return ""
	}
	return text[from:to]
}

// unitOf is the word or line of plain text that holds a place.
func unitOf(text string, at int, u Unit) (from, to int) {
	at = max(0, min(at, len(text)))
	if u == Line {
		from = strings.LastIndexByte(text[:at], '\n') + 1
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			return from, at + n
		}
		return from, len(text)
	}
	from, to = at, at
	for to < len(text) {
		_, n := utf8.DecodeRuneInString(text[to:])
		if !markdown.IsWord(text[to : to+n]) {
			break
		}
		to += n
	}
	for from > 0 && to > at {
		_, n := utf8.DecodeLastRuneInString(text[:from])
		if !markdown.IsWord(text[from-n : from]) {
			break
		}
		from -= n
	}
	for to > at+1 && strings.IndexByte(".:?", text[to-1]) >= 0 {
		to--
	}
	if from == to && at < len(text) {
		_, n, _ := grapheme(text[at:], 0)
		return at, at + n
	}
	return from, to
}

// shows implements logical: the thinking is its text while it is open.
func (p *reasoningPart) shows() int {
	if !p.open {
		return 0
	}
	return p.thought.Len()
}

// glyphs implements logical.
func (p *reasoningPart) glyphs(y, width int) []markdown.Glyph {
	if y < 1 || y > len(p.rows) {
		return nil
	}
	r := p.rows[y-1]
	r.x = indent
	return r.glyphs(p.thought.String(), width)
}

// unit implements logical.
func (p *reasoningPart) unit(at int, u Unit) (from, to int) { return unitOf(p.thought.String(), at, u) }

// taken implements logical.
func (p *reasoningPart) taken(from, to int, _ bool) string {
	return cut(p.thought.String(), from, min(to, p.shows()))
}

// shows implements logical: the text of an answer is its Markdown.
func (p *textPart) shows() int { return len(p.doc.Source()) }

// glyphs implements logical.
func (p *textPart) glyphs(y, width int) []markdown.Glyph {
	if p.raw {
		return p.sheet.glyphs(y, width)
	}
	return p.doc.Trace(y, width)
}

// unit implements logical.
func (p *textPart) unit(at int, u Unit) (from, to int) {
	switch {
	case p.raw:
		return p.sheet.unit(at, u)
	case u == Line:
		return p.doc.Paragraph(at)
	}
	return p.doc.Word(at)
}

// taken implements logical.
func (p *textPart) taken(from, to int, whole bool) string {
	if p.raw {
		return cut(p.doc.Source(), from, to)
	}
	return p.doc.Slice(from, to, whole)
}
