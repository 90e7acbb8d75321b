package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// trace is where a leaf stands in the source.
type trace struct {
	lines []shown // of text one, of code its lines, of a table its cells in order
	skip  int     // cells of decoration that the text begins with
	marks []markup
	body  []bodyLine // the lines of the source without what contains them; none for tables
	inner span       // from the first to the last character that is seen
	outer span       // whole lines, with fences
	code  bool
}

// bodyLine is a part of a line of the source. The blanks before it are what a
// container left of a tab.
type bodyLine struct {
	span
	blanks int
}

// traceText traces a paragraph, a heading or the text of a tight item.
func traceText(n ast.Node, src []byte) trace {
	t := tracer{src: src, end: max(n.Pos(), 0)}
	t.children(n)
	out := trace{lines: []shown{t.out}, marks: t.marks, body: bodyOf(n)}
	h, heading := n.(*ast.Heading)
	if heading && h.Level > 1 {
		out.skip = h.Level + 1
	}
	out.bounds(src)
	if heading && out.inner != nowhere && src[min(max(n.Pos(), 0), len(src)-1)] != '#' { // the line under it
		out.outer.end = lineEnd(src, min(out.outer.end+1, len(src)))
	}
	out.contained()
	return out
}

// traceCode traces a block of code.
func traceCode(n ast.Node, src []byte) trace {
	out := trace{body: bodyOf(n), code: true}
	for _, b := range out.body {
		var line shown
		for range b.blanks {
			line.add(" ", span{max(b.start-1, 0), b.start})
		}
		line.addCode(src, b.start, b.start+len(bytes.TrimSuffix(src[b.start:b.end], []byte("\n"))))
		out.lines = append(out.lines, line)
	}
	out.bounds(src)
	if f, ok := n.(*ast.FencedCodeBlock); ok && out.inner != nowhere {
		out.outer.start = lineStart(src, max(f.Pos(), 0))
		sign := src[max(f.Pos(), 0)]
		last := out.body[len(out.body)-1].end
		end := lineEnd(src, min(last, len(src)))
		if bytes.IndexByte(src[min(last, len(src)):end], sign) >= 0 {
			out.outer.end = end
		}
		out.marks = append(out.marks, fences(out.outer, out.inner))
	}
	return out
}

// fences are the signs around code.
func fences(outer, inner span) markup {
	return markup{
		outer: outer, inner: inner, paired: true, open: inner.start - outer.start, closed: outer.end - inner.end, joint: nowhere,
	}
}

// traceTable traces a table.
func traceTable(n *extast.Table, src []byte) trace {
	var out trace
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		cells, marks := traceRow(row, src, len(n.Alignments))
		out.lines = append(out.lines, cells...)
		out.marks = append(out.marks, marks...)
	}
	out.bounds(src)
	return out
}

// traceRow traces the cells of a row; a row of fewer cells has empty ones.
func traceRow(row ast.Node, src []byte, columns int) ([]shown, []markup) {
	cells := make([]shown, columns)
	var marks []markup
	i := 0
	var all trace
	for c := row.FirstChild(); c != nil && i < columns; c = c.NextSibling() {
		t := tracer{src: src, end: max(c.Pos(), 0)}
		t.children(c)
		cells[i] = t.out
		marks = append(marks, t.marks...)
		i++
	}
	all.lines = cells
	all.bounds(src)
	if all.inner != nowhere {
		marks = append(marks, markup{outer: all.outer, inner: all.inner, joint: nowhere})
	}
	return cells, marks
}

// bodyOf are the lines of a block without what contains it.
func bodyOf(n ast.Node) []bodyLine {
	lines := n.Lines()
	body := make([]bodyLine, lines.Len())
	for i := range body {
		s := lines.At(i)
		body[i] = bodyLine{span{s.Start, s.Stop}, s.Padding}
	}
	return body
}

// bounds finds the first and the last character that is seen, and their lines.
func (t *trace) bounds(src []byte) {
	t.inner, t.outer = nowhere, nowhere
	for _, line := range t.lines {
		for _, p := range line.places {
			if p == nowhere {
				continue
			}
			if t.inner == nowhere || p.start < t.inner.start {
				t.inner.start = p.start
			}
			t.inner.end = max(t.inner.end, p.end)
		}
	}
	if t.inner != nowhere {
		t.outer = span{lineStart(src, t.inner.start), lineEnd(src, t.inner.end)}
	}
}

// contained notes the bullet, the bar or the sign of a heading that the first
// line begins with.
func (t *trace) contained() {
	if t.inner != nowhere {
		t.marks = append(t.marks, markup{outer: t.outer, inner: t.inner, joint: nowhere})
	}
}

// lineStart is where the line begins that holds src[at].
func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// lineEnd is where the line ends that holds src[at], without its break.
func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(src)
}

// move makes the places those of a source that begins n bytes earlier; places
// below least become least.
func (t *trace) move(n, least int) {
	t.remap(func(s span) span {
		if s == nowhere {
			return s
		}
		s = s.moved(n)
		return span{max(s.start, least), max(s.end, least)}
	})
}

// remap makes every place what fix makes of it.
func (t *trace) remap(fix func(span) span) {
	for _, line := range t.lines {
		for i := range line.places {
			line.places[i] = fix(line.places[i])
		}
	}
	for i := range t.marks {
		m := &t.marks[i]
		m.outer, m.inner, m.joint = fix(m.outer), fix(m.inner), fix(m.joint)
	}
	for i := range t.body {
		t.body[i].span = fix(t.body[i].span)
	}
	t.inner, t.outer = fix(t.inner), fix(t.outer)
}
