package markdown

import (
	"bytes"
	"unicode/utf8"
)

// span is a part of the source.
type span struct{ start, end int }

// nowhere is the place of what shows nothing of the source: a bullet, a bar.
var nowhere = span{-1, -1}

// moved is s as seen from a source that begins n bytes earlier.
func (s span) moved(n int) span {
	if s == nowhere {
		return s
	}
	return span{s.start + n, s.end + n}
}

// shown is a text as it is seen, without styles, with the place in the source
// of every byte of it.
type shown struct {
	text   []byte
	places []span
}

// add appends s, which all stands at one place.
func (t *shown) add(s string, at span) {
	t.text = append(t.text, s...)
	for range len(s) {
		t.places = append(t.places, at)
	}
}

// addRunes appends the source from start to end as clean shows it.
func (t *shown) addRunes(src []byte, start, end int) {
	for at := start; at < end; {
		r, n := utf8.DecodeRune(src[at:end])
		if r == utf8.RuneError && n <= 1 {
			for n = 1; at+n < end && !utf8.RuneStart(src[at+n]) || at+n < end && isInvalid(src[at+n:end]); {
				n++
			}
			t.add(string(utf8.RuneError), span{at, at + n})
		} else {
			t.add(clean(string(r)), span{at, at + n})
		}
		at += n
	}
}

func isInvalid(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return r == utf8.RuneError && n == 1
}

// longestEntity bounds the search for the end of an entity, in bytes.
const longestEntity = 40

// addLiteral appends the source from start to end as literal shows it: escapes
// and entities are one place each.
func (t *shown) addLiteral(src []byte, start, end int) {
	for at := start; at < end; {
		n := 1
		switch rest := src[at:end]; {
		case rest[0] == '\\' && len(rest) > 1 && rest[1] < utf8.RuneSelf:
			n = 2
		case rest[0] == '&':
			if semi := bytes.IndexByte(rest[:min(len(rest), longestEntity)], ';'); semi > 0 {
				n = semi + 1
			}
		default:
			if to := bytes.IndexAny(rest, `\&`); to > 0 {
				n = to
			} else if to < 0 {
				n = len(rest)
			}
		}
		unit := src[at : at+n]
		switch s := literal(unit); {
		case n > 1 && s != clean(string(unit)):
			t.add(s, span{at, at + n})
		case unit[0] == '&':
			n = 1 // no entity: what follows may hold an escape
			t.addRunes(src, at, at+1)
		default:
			t.addRunes(src, at, at+n)
		}
		at += n
	}
}

// addCode appends a line of code as cleanCode shows it.
func (t *shown) addCode(src []byte, start, end int) {
	column := 0
	for at := start; at < end; {
		if src[at] == '\t' {
			for n := tabWidth - column%tabWidth; n > 0; n-- {
				t.add(" ", span{at, at + 1})
				column++
			}
			at++
			continue
		}
		to := end
		if tab := bytes.IndexByte(src[at:end], '\t'); tab >= 0 {
			to = at + tab
		}
		before := len(t.text)
		t.addRunes(src, at, to)
		column += utf8.RuneCount(t.text[before:])
		at = to
	}
}

// run is a stretch of drawn cells with the place of each.
type run struct {
	cells  []cell
	places []span
}

// resync is how far, in characters, a match looks ahead for a cell: what has no
// width is not drawn.
const resync = 8

// match gives the cells of s, a styled string, the places of t, which shows the
// same. The first skip cells are decoration.
func match(s string, t shown, skip int) run {
	r := run{cells: cells(s)}
	r.places = make([]span, len(r.cells))
	at := 0
	for i := range r.cells {
		r.places[i] = nowhere
		text := r.cells[i].text
		if i < skip {
			continue
		}
		for k, n := at, 0; k < len(t.text) && n < resync; n++ {
			if bytes.HasPrefix(t.text[k:], []byte(text)) {
				at = k + len(text)
				r.places[i] = span{t.places[k].start, t.places[at-1].end}
				break
			}
			_, size := utf8.DecodeRune(t.text[k:])
			k += size
		}
	}
	return r
}
