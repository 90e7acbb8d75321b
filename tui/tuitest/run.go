package tuitest

import (
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// run is a stretch of a row that is drawn at once.
type run struct {
	x, w  int // in cells
	text  string
	paint paint
	form  form
}

// runs divides a row. Spaces draw nothing and are left out, but for single ones
// between words of a run. A picture is read as the row is, from left to right.
func (p *picture) runs(row uv.Line) []run {
	var out []run
	last := func() *run {
		if len(out) == 0 {
			return &run{}
		}
		return &out[len(out)-1]
	}
	for x := range row {
		c := &row[x]
		if blank(c) {
			continue
		}
		next := run{x: x, w: c.Width, text: c.Content, paint: p.scheme.paint(&c.Style), form: formOf(c.Content)}
		if l := last(); l.joins(next) {
			if l.x+l.w < x {
				l.text += " "
			}
			l.text += next.text
			l.w = x + next.w - l.x
			continue
		}
		out = append(out, next)
	}
	return out
}

// blank says that nothing is to be drawn: a space, or the right half of a wide
// character.
func blank(c *uv.Cell) bool { return c.Width <= 0 || c.Content == " " || c.Content == "" }

// joins says whether a cell continues the run.
func (r *run) joins(next run) bool {
	gap := next.x - r.x - r.w
	if r.paint.pen() != next.paint.pen() || r.form != next.form || r.w == 0 || r.form.kind == sign {
		return false
	}
	return gap == 0 || gap == 1 && r.form.kind == letters
}

// isPlain says that every monospaced font has a character, in one cell and
// drawn from left to right.
func isPlain(content string) bool {
	r, n := utf8.DecodeRuneInString(content)
	if n != len(content) || r == utf8.RuneError {
		return false
	}
	return r <= unicode.MaxLatin1 || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) || r == '…' || r == '–' || r == '•'
}

// span is a stretch of a row with the same key.
type span struct {
	x, w int // in cells
	key  string
}

// spans divides a row by a property of its cells; "" is left out.
func spans(row uv.Line, key func(*uv.Cell) string) []span {
	var out []span
	for x := range row {
		c := &row[x]
		if c.Width <= 0 {
			continue // the character before it covers this cell
		}
		k := key(c)
		if k == "" {
			continue
		}
		if n := len(out) - 1; n >= 0 && out[n].key == k && out[n].x+out[n].w == x {
			out[n].w += c.Width
			continue
		}
		out = append(out, span{x, c.Width, k})
	}
	return out
}
