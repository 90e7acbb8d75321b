package markdown

import (
	"slices"

	"github.com/charmbracelet/x/ansi"
	extast "github.com/yuin/goldmark/extension/ast"
)

// Glyph is a character on a line and the part of the source that it shows.
type Glyph struct {
	X, Width   int // cells, from the left edge of the line
	Start, End int // bytes of Source
}

// glyphs are cells[from:to] of r as a line that begins at x, without the blanks
// at its end.
func (r run) glyphs(dst []Glyph, x, from, to int) []Glyph {
	for to > from && r.cells[to-1].text == " " {
		to--
	}
	for i := from; i < to; i++ {
		if p := r.places[i]; p != nowhere {
			dst = append(dst, Glyph{X: x, Width: r.cells[i].width, Start: p.start, End: p.end})
		}
		x += r.cells[i].width
	}
	return dst
}

// tracedLeaf is a leaf taken apart for its places.
type tracedLeaf struct {
	*leaf
	trace
	runs []run
}

// newTracedLeaf puts the places of t to what f draws.
func newTracedLeaf(f *leaf, t trace) *tracedLeaf {
	l := &tracedLeaf{leaf: f, trace: t}
	switch f.kind {
	case leafText:
		if len(t.lines) > 0 {
			l.runs = []run{match(f.text, t.lines[0], t.skip)}
		} else {
			l.runs = []run{match(f.text, shown{}, 0)}
		}
	case leafCode:
		for i, line := range f.lines {
			var s shown
			if i < len(t.lines) {
				s = t.lines[i]
			}
			l.runs = append(l.runs, match(line, s, 0))
		}
	case leafTable:
		i := 0
		for _, row := range f.table.rows {
			for _, c := range row {
				var s shown
				if i < len(t.lines) {
					s = t.lines[i]
				}
				l.runs = append(l.runs, match(c, s, 0))
				i++
			}
		}
	case leafRule:
	}
	return l
}

// layout adds the glyphs of each line that the leaf has at width to dst.
func (l *tracedLeaf) layout(dst [][]Glyph, width int) [][]Glyph {
	if l.gap {
		dst = append(dst, nil)
	}
	lead, leads, inner := l.leads(width)
	first, rest := ansi.StringWidth(lead), ansi.StringWidth(leads)
	x := func(from int) int {
		if len(dst) == from {
			return first
		}
		return rest
	}
	from := len(dst)
	switch l.kind {
	case leafText:
		r := l.runs[0]
		for start := 0; start <= len(r.cells); {
			end := start
			for end < len(r.cells) && r.cells[end].text != "\n" {
				end++
			}
			breakLine(r.cells[start:end], inner, func(a, b int) {
				dst = append(dst, r.glyphs(nil, x(from), start+a, start+b))
			})
			start = end + 1
		}
	case leafCode:
		for _, r := range l.runs {
			breakCode(r.cells, inner, func(lead, a, b int) {
				dst = append(dst, r.glyphs(nil, x(from)+lead, a, b))
			})
		}
	case leafTable:
		l.table.layout(inner)
		n := len(l.table.width)
		for i := range l.table.rows {
			for _, line := range l.table.glyphs(i, l.runs[i*n:(i+1)*n], l.runs[:n], inner) {
				at := x(from)
				for k := range line {
					line[k].X += at
				}
				dst = append(dst, line)
			}
		}
	case leafRule:
		dst = append(dst, nil)
	}
	return dst
}

// glyphs are the lines of row i as they were laid out, given its cells and those
// of the head.
func (t *table) glyphs(i int, cells, head []run, inner int) [][]Glyph {
	if t.cols == nil {
		return t.recordGlyphs(i, cells, head, inner)
	}
	var lines [][]Glyph
	x := 0
	for col, r := range cells {
		for y, part := range r.wrapped(t.cols[col]) {
			for len(lines) <= y {
				lines = append(lines, nil)
			}
			lines[y] = r.glyphs(lines[y], x+t.left(r.width(part), col), part[0], part[1])
		}
		x += t.cols[col] + columnGap
	}
	if i == 0 {
		lines = append(lines, nil) // the line under the head
	}
	return lines
}

// recordGlyphs are the lines of a row that stands as a list of its cells.
func (t *table) recordGlyphs(i int, cells, head []run, inner int) [][]Glyph {
	if i == 0 {
		return nil
	}
	var lines [][]Glyph
	if i > 1 {
		lines = append(lines, nil)
	}
	for col, r := range cells {
		if t.rows[0][col] != "" {
			label := head[col].cells
			label = append(label[:len(label):len(label)], cell{text: ":", width: 1}, cell{text: " ", width: 1})
			r.cells = append(label, r.cells...)
			r.places = append(slices.Repeat([]span{nowhere}, len(label)), r.places...)
		}
		for _, part := range r.wrapped(inner) {
			lines = append(lines, r.glyphs(nil, 0, part[0], part[1]))
		}
	}
	return lines
}

// wrapped are the lines of r at width, by their first cell and the one after
// their last.
func (r run) wrapped(width int) [][2]int {
	var parts [][2]int
	for start := 0; start <= len(r.cells); {
		end := start
		for end < len(r.cells) && r.cells[end].text != "\n" {
			end++
		}
		breakLine(r.cells[start:end], width, func(a, b int) { parts = append(parts, [2]int{start + a, start + b}) })
		start = end + 1
	}
	return parts
}

// width is how many cells a part takes when it is drawn.
func (r run) width(part [2]int) int {
	to := part[1]
	for to > part[0] && r.cells[to-1].text == " " {
		to--
	}
	n := 0
	for _, c := range r.cells[part[0]:to] {
		n += c.width
	}
	return n
}

// columnGap is the width of what stands between two columns.
const columnGap = 3

// left is how many blanks stand before a text of width n in column i.
func (t *table) left(n, i int) int {
	free := max(0, t.cols[i]-n)
	switch t.align[i] {
	case extast.AlignRight:
		return free
	case extast.AlignCenter:
		return free / 2
	default:
	}
	return 0
}
