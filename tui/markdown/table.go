package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// table is a table whose cells are styled; rows may still arrive.
type table struct {
	style *Style
	align []extast.Alignment
	rows  [][]string // the first is the head
	width []int      // natural width of each column

	// The lines laid out so far. They stay as long as the columns do, so that a
	// new row costs a row; epoch counts how often they did not.
	inner  int // width the lines are for; 0 means none
	cols   []int
	lines  []string
	starts []int // where in lines each row begins
	laid   int   // rows in lines
	epoch  int
	cells  int // cells laid out, ever: the work done
}

// newTable makes a table of a parsed one.
func newTable(s *Style, n *extast.Table, src []byte) *table {
	t := &table{style: s, align: n.Alignments, width: make([]int, len(n.Alignments))}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		t.add(row, src)
	}
	return t
}

// add appends a parsed row.
func (t *table) add(row ast.Node, src []byte) {
	cells := make([]string, len(t.width))
	i := 0
	for c := row.FirstChild(); c != nil && i < len(cells); c = c.NextSibling() {
		cells[i] = t.style.inlineText(c, src)
		if len(t.rows) == 0 {
			cells[i] = paint(sequence(t.style.look.TableHead), ansi.Strip(cells[i]))
		}
		if len(t.rows) <= measuredRows {
			t.width[i] = max(t.width[i], ansi.StringWidth(cells[i]))
		}
		i++
	}
	t.rows = append(t.rows, cells)
}

// leastColumn is how narrow a column may get; when the columns need more than
// there is, each row becomes a list of its cells.
const leastColumn = 4

// measuredRows is up to how many rows a table takes the widths of its columns
// from: to lay out a longer one again would take longer than a frame.
const measuredRows = 200

// columnStep is what columns widen by, so that few rows of a growing table move
// those above them. A table that is whole keeps it: nothing jumps when it ends.
const columnStep = 4

// columns are the widths of the columns in inner cells; nil when they do not
// fit. They are whole steps, or as wide as the cells where there is no room for
// that.
func (t *table) columns(inner int) []int {
	n := len(t.width)
	room := inner - columnGap*(n-1)
	if n == 0 || room < n*leastColumn {
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
	for limit := most; sum > room; { // cut the widest until all fit
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

// layout gives the lines of the table in inner cells. The slice is the table's.
func (t *table) layout(inner int) []string {
	cols := t.columns(inner)
	if inner != t.inner || !equal(cols, t.cols) {
		t.inner, t.cols, t.laid, t.lines, t.starts = inner, cols, 0, nil, nil
		t.epoch++
	}
	for ; t.laid < len(t.rows); t.laid++ {
		t.cells += len(t.width)
		t.starts = append(t.starts, len(t.lines))
		switch {
		case cols == nil:
			t.record(t.rows[t.laid], inner)
		default:
			t.row(t.rows[t.laid])
			if t.laid == 0 {
				t.rule()
			}
		}
	}
	return t.lines
}

func equal(a, b []int) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// row lays out one row.
func (t *table) row(cells []string) {
	bar := " " + t.style.look.TableLine.Render(t.style.look.Column) + " "
	parts := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		parts[i] = wrap(c, t.cols[i])
		height = max(height, len(parts[i]))
	}
	for y := range height {
		var b strings.Builder
		for i := range parts {
			if i > 0 {
				b.WriteString(bar)
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

// pad writes s aligned in column i.
func (t *table) pad(b *strings.Builder, s string, i int) {
	n := ansi.StringWidth(s)
	free := max(0, t.cols[i]-n)
	left := t.left(n, i)
	b.WriteString(strings.Repeat(" ", left))
	b.WriteString(s)
	b.WriteString(strings.Repeat(" ", free-left))
}

// rule lays out the line under the head.
func (t *table) rule() {
	look := &t.style.look
	parts := make([]string, len(t.cols))
	for i, w := range t.cols {
		parts[i] = strings.Repeat(look.Line, w)
	}
	t.lines = append(t.lines, look.TableLine.Render(strings.Join(parts, look.Line+look.Cross+look.Line)))
}

// record lays out one row as a list of its cells, each after the head of its
// column.
func (t *table) record(cells []string, inner int) {
	if t.laid == 0 {
		return
	}
	if t.laid > 1 {
		t.lines = append(t.lines, "")
	}
	for i, c := range cells {
		line := c
		if head := t.rows[0][i]; head != "" {
			line = head + ": " + c
		}
		t.lines = append(t.lines, wrap(line, inner)...)
	}
}
