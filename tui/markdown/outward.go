package markdown

import (
	"sort"

	"github.com/charmbracelet/x/ansi"
)

// The places of a contained document are those of its own text, in which the
// lines stand without what contains them. Here they become places of the text
// around it, and back.

// line is the line of the contained document that holds its byte at, and where
// that ends.
func (c *container) line(at int) (k, end int) {
	k = max(0, sort.Search(len(c.lines), func(i int) bool { return c.lines[i].at > at })-1)
	if k+1 < len(c.lines) {
		return k, c.lines[k+1].at
	}
	return k, len(c.doc.src)
}

// outward is where byte at of the contained document stands in the one around it.
func (c *container) outward(at int) int {
	k, _ := c.line(at)
	l := c.lines[k]
	return l.from + max(0, at-l.at-l.ahead)
}

// outwardSpan is where a part of a line of the contained document stands; of a
// part of several lines it is what lies in the first.
func (c *container) outwardSpan(s span) span {
	if s == nowhere {
		return s
	}
	k, end := c.line(s.start)
	l := c.lines[k]
	if s.start < s.end && s.end <= l.at+l.ahead { // the rest of a tab
		return span{max(0, l.from-1), l.from}
	}
	return span{l.from + max(0, s.start-l.at-l.ahead), l.from + max(0, min(s.end, end)-l.at-l.ahead)}
}

// outwardMark is m in the source around. What encloses whole lines encloses them
// with what they begin with there.
func (c *container) outwardMark(m markup) markup {
	edge := func(s span) span { // of several lines
		if s == nowhere {
			return s
		}
		return span{c.outward(s.start), c.outward(max(s.start, s.end-1)) + min(1, s.end-s.start)}
	}
	out := markup{outer: edge(m.outer), inner: edge(m.inner), paired: m.paired, joint: edge(m.joint)}
	k, _ := c.line(m.outer.start)
	if !m.paired && m.outer.start == c.lines[k].at {
		out.outer.start = lineStart(c.in.src, out.outer.start)
	}
	if m.open > 0 {
		out.open = edge(m.opening()).end - out.outer.start
	}
	if m.closed > 0 {
		out.closed = out.outer.end - edge(m.closing()).start
	}
	return out
}

// inward is where byte at of the source around stands in the contained document:
// what is not in it is where its next line begins.
func (c *container) inward(at int) int {
	if len(c.lines) == 0 {
		return 0
	}
	l := c.lines[max(0, sort.Search(len(c.lines), func(i int) bool { return c.lines[i].from > at })-1)]
	_, end := c.line(l.at)
	return min(l.at+l.ahead+max(0, at-l.from), end)
}

// from makes a part of the source of inner, which d contains, one of d.
func (d *Doc) from(inner *Doc, s span) (start, end int) {
	for ; inner != d; inner = inner.around.in {
		last := inner.around.outward(max(s.start, s.end-1)) + min(1, s.end-s.start)
		s = span{inner.around.outward(s.start), last}
	}
	return s.start, s.end
}

// innerGlyphs are the glyphs of line y of the container b, which is block i.
func (d *Doc) innerGlyphs(b *block, i, y, width int) []Glyph {
	c := b.inner
	first, rest, inner := c.fit(width)
	n := len(c.doc.Lines(inner))
	if n == 0 && b.kind == blockItem {
		n = 1
	}
	if n > 0 && d.gap(b, i) {
		y--
	}
	if y >= n {
		return d.undecidedGlyphs(b, y-n, width)
	}
	x := ansi.StringWidth(rest)
	if y == 0 {
		x = ansi.StringWidth(first)
	}
	var out []Glyph
	for _, g := range c.doc.Trace(y, inner) {
		s := c.outwardSpan(span{g.Start, g.End})
		out = append(out, Glyph{X: g.X + x, Width: g.Width, Start: s.start, End: s.end})
	}
	return out
}

// undecidedGlyphs are the glyphs of line y of what came after the open container b.
func (d *Doc) undecidedGlyphs(b *block, y, width int) []Glyph {
	var lines [][]Glyph
	for k, l := range d.undecidedLeaves(b) {
		if k == 0 && d.blank {
			lines = append(lines, nil)
		}
		lines = l.layout(lines, width)
	}
	if y < len(lines) {
		return lines[y]
	}
	return nil
}

// undecidedLeaves are the leaves of what came after the open container b.
func (d *Doc) undecidedLeaves(b *block) []*tracedLeaf {
	if b != d.open {
		return nil
	}
	if rest := d.undecided(); rest != nil {
		return d.tracedLeaves(rest, rest.end, rest.leaves)
	}
	return nil
}
