package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"winnow/tui/style"
)

// table is a table, or a piece of one, with styled cells; rows may still be added.
type table struct {
	style     *Style
	align     []extast.Alignment
	head      []string
	rows      [][]string
	width     []int // natural width of each column; all pieces use the widths of the first piece
	continued bool  // this piece continues another piece
	read      int   // number of bytes of the source of the rows that have been read

	// The lines laid out so far. They stay valid while the columns do, so that a new row
	// costs only that row.
	inner    int // width of the lines; 0 if there are none
	cols     []int
	lines    []string
	laidRows int // number of rows in lines
}

// newTable returns a table with a parsed head.
func newTable(s *Style, n *extast.Table, src []byte) *table {
	t := &table{style: s, align: n.Alignments, width: make([]int, len(n.Alignments))}
	t.head, _ = t.cells(n.FirstChild(), src)
	for i, c := range t.head {
		t.head[i] = paint(s.tableHead, style.Strip(c))
	}
	return t
}

// cells renders a parsed row. It also returns the number of elements drawn.
func (t *table) cells(row ast.Node, src []byte) (cells []string, nodes int) {
	cells = make([]string, len(t.width))
	i := 0
	for c := row.FirstChild(); c != nil && i < len(cells); c = c.NextSibling() {
		if c.FirstChild() != nil {
			text, n := t.style.inlineText(c, src)
			cells[i], nodes = text, nodes+n
		}
		if !t.continued {
			t.width[i] = max(t.width[i], style.Width(cells[i]))
		}
		i++
	}
	return cells, nodes
}

// minColumn is the minimum width for which columns must have room; otherwise, each row becomes
// a list of its cells.
const minColumn = 4

// columnStep is the step in which columns widen, so that few rows of a growing table change
// the rows above. A complete table keeps these widths, so that nothing jumps at the end.
const columnStep = 4

// columns returns the widths of the columns in inner cells; nil if there is not enough room
// for columns of minColumn cells. The widths are multiples of columnStep or, if there is no
// room for that, the widths of the cells. If these do not fit either, the widest columns are
// narrowed.
func (t *table) columns(inner int) []int {
	n := len(t.width)
	room := inner - columnGap*(n-1)
	if n == 0 || room < n*minColumn {
		return nil
	}
	cols := make([]int, n)
	most, sum := 0, 0
	for i, w := range t.width {
		cols[i] = max(1, (w+columnStep-1)/columnStep*columnStep)
		sum += cols[i]
	}
	if sum <= room {
		return cols
	}
	sum = 0
	for i, w := range t.width {
		cols[i] = max(1, min(w, room))
		most, sum = max(most, cols[i]), sum+cols[i]
	}
	for limit := most; sum > room; { // narrow the widest columns until all columns fit
		limit--
		for i := range cols {
			if cols[i] > limit {
				cols[i]--
				sum--
				if sum == room {
					break
				}
			}
		}
	}
	return cols
}

// layout lays out new rows, or all rows if the columns have changed.
func (t *table) layout(inner int) {
	cols := t.columns(inner)
	if inner != t.inner || !slices.Equal(cols, t.cols) || (cols == nil) != (t.cols == nil) {
		t.inner, t.cols, t.laidRows, t.lines = inner, cols, 0, nil
		if cols != nil && !t.continued {
			t.row(t.head)
			t.rule()
		}
	}
	for ; t.laidRows < len(t.rows); t.laidRows++ {
		if cols == nil {
			t.record(t.rows[t.laidRows], inner)
		} else {
			t.row(t.rows[t.laidRows])
		}
	}
}

// row lays out one row.
func (t *table) row(cells []string) {
	parts := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		var p blockLayout
		wrap(&p, c, t.cols[i])
		parts[i] = p.lines
		height = max(height, len(p.lines))
	}
	for y := range height {
		var b strings.Builder
		for i := range parts {
			if i > 0 {
				b.WriteString(t.style.column)
			}
			s := ""
			if y < len(parts[i]) {
				s = parts[i][y]
			}
			t.pad(&b, s, i)
		}
		t.lines = append(t.lines, trimRight(b.String()))
	}
}

// pad writes s, aligned in column i.
func (t *table) pad(b *strings.Builder, s string, i int) {
	free, left := max(0, t.cols[i]-style.Width(s)), 0
	switch t.align[i] {
	case extast.AlignRight:
		left = free
	case extast.AlignCenter:
		left = free / 2
	default:
	}
	b.WriteString(strings.Repeat(" ", left) + s + strings.Repeat(" ", free-left))
}

// rule lays out the line below the head.
func (t *table) rule() {
	look := &t.style.look
	parts := make([]string, len(t.cols))
	for i, w := range t.cols {
		parts[i] = strings.Repeat(look.Line, w)
	}
	t.lines = append(t.lines, look.TableLine.Render(strings.Join(parts, look.Line+look.Cross+look.Line)))
}

// record lays out one row as a list of its cells, each after the head of its column. Empty
// cells are left out.
func (t *table) record(cells []string, inner int) {
	if t.continued || t.laidRows > 0 {
		t.lines = append(t.lines, "")
	}
	for i, c := range cells {
		if c == "" {
			continue
		}
		if t.head[i] != "" {
			c = t.head[i] + ": " + c
		}
		var p blockLayout
		wrap(&p, c, inner)
		t.lines = append(t.lines, p.lines...)
	}
}

// columnGap is the width of the separator between two columns.
const columnGap = 3
