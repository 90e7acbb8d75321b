package overlay

import (
	"fmt"
	"strings"

	"winnow/tui/style"
)

// columnGap is the number of cells between columns of entries.
const columnGap = 2

// WithColumns shows the entries in columns of at least width cells until the user types.
// Extra is shown below the columns for the selected entry, not next to its text.
func (p *Picker) WithColumns(width int) *Picker {
	p.column = width
	return p
}

// fullWidth reports whether the overlay takes the full width of the screen, because the
// usual widths are too narrow for columns of sentences.
func (p *Picker) fullWidth() bool { return p.column > 0 }

func (p *Picker) inColumns() bool { return p.column > 0 && p.query.Empty() }

// spot is the position of a line of a match; columns are numbered across all pages.
type spot struct {
	matchLine
	column, row int
}

// spots arranges the lines in columns of rows lines. A heading follows an empty row, and is
// never the last in its column.
func (p *Picker) spots(rows int) (out []spot) {
	column, row := 0, 0
	next := func() {
		if row++; row >= rows {
			column, row = column+1, 0
		}
	}
	for _, l := range p.matches.lines {
		if l.kind == headingLine && row > 0 {
			next()
			if row == rows-1 {
				next()
			}
		}
		out = append(out, spot{l, column, row})
		next()
	}
	return out
}

// used returns how many columns of rows lines are needed.
func (p *Picker) used(rows int) int {
	all := p.spots(rows)
	if len(all) == 0 {
		return 1
	}
	return all[len(all)-1].column + 1
}

// grid returns the fewest columns that show all lines in w cells and at most most rows, and
// the fewest rows for them; if they do not fit, all columns that w holds, in pages.
func (p *Picker) grid(w, most int) (columns, rows int) {
	most = max(2, most)
	columns = max(1, (w+columnGap)/(p.column+columnGap))
	needed := p.used(most)
	if needed > columns {
		return columns, most
	}
	for most > 2 && p.used(most-1) <= needed {
		most--
	}
	return needed, most
}

// belowColumns is the number of rows below the columns: an empty one and the line of the
// selected entry.
const belowColumns = 2

// columnsSize implements Size for columns.
func (p *Picker) columnsSize(w, h int) (int, int) {
	_, rows := p.grid(w, h-pickerHeadLines-belowColumns)
	return w, rows + pickerHeadLines + belowColumns
}

// columnsBody draws the page of the selected entry in columns.
func (p *Picker) columnsBody(w, h int, st style.Styles) []string {
	columns, _ := p.grid(w, h-pickerHeadLines-belowColumns)
	rows := max(2, h-pickerHeadLines-belowColumns)
	all := p.spots(rows)
	selected := p.spotOf(all)
	page := selected.column / columns
	width := (w - (columns-1)*columnGap) / columns
	lines := make([]string, rows)
	for column := range columns {
		cells := make([]string, rows)
		for _, s := range all {
			if s.column == page*columns+column {
				cells[s.row] = p.cell(s.matchLine, width, st)
			}
		}
		for row, cell := range cells {
			if column > 0 {
				lines[row] += strings.Repeat(" ", columnGap)
			}
			lines[row] += style.Fit(cell, width, "…")
		}
	}
	p.page, p.pages, p.rows = page+1, (p.used(rows)+columns-1)/columns, rows
	e, _ := p.selected()
	return append(lines, "", st.Overlay.Muted.Render(style.TruncateWords("  "+visible(e.Extra), w, "…")))
}

// cell draws a line of a match in a column.
func (p *Picker) cell(l matchLine, w int, st style.Styles) string {
	e := p.entries[p.matches.found[l.match]]
	if l.kind == headingLine {
		return st.Overlay.Group.Render(style.TruncateWords(visible(e.Group), w, "…"))
	}
	e.Extra = ""
	return e.draw(l.match == p.cursor, "", visible(e.Text), "", w, st)
}

// spotOf returns the position of the selected entry.
func (p *Picker) spotOf(all []spot) spot {
	for _, s := range all {
		if s.match == p.cursor && s.kind == entryLine {
			return s
		}
	}
	return spot{}
}

// across moves the selection n columns to the right, to the nearest entry in that column.
func (p *Picker) across(n int) {
	all := p.spots(max(2, p.rows))
	from := p.spotOf(all)
	best := -1
	for i, s := range all {
		if s.kind == entryLine && s.column == from.column+n && (best < 0 || distance(s.row, from.row) < distance(all[best].row, from.row)) {
			best = i
		}
	}
	if best >= 0 {
		p.cursor = all[best].match
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// columnsPosition implements Position for columns: page / number of pages.
func (p *Picker) columnsPosition() string {
	if p.pages < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.page, p.pages)
}
