package overlay

import (
	"fmt"
	"regexp"
	"strings"

	"winnow/tui/style"
)

// columnGap is the number of cells between columns of entries.
const columnGap = 2

// WithColumns shows the entries in columns of at least width cells until the user types. The
// Extra of the selected entry is then shown below the columns, not next to the text.
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
	text        string // what the line shows
	more        bool   // the line continues the line above
}

// spots arranges the lines in columns that are width cells wide and rows lines high. A
// heading that does not start a column follows an empty row, and is followed by at least
// leastLines lines of its group in the same column. The lines of a wrapped entry stay
// together.
func (p *Picker) spots(width, rows int) (out []spot) {
	column, row := 0, 0
	next := func(n int) {
		if row += n; row >= rows {
			column, row = column+1, 0
		}
	}
	for _, l := range p.matches.lines {
		e := p.entries[p.matches.found[l.match]]
		texts := []string{visible(e.Group)}
		if l.kind == entryLine {
			texts = e.wrapped(width - cellLead)
		}
		texts = texts[:min(len(texts), rows)]
		if l.kind == headingLine && row > 0 {
			if next(1); row > 0 && row+1+max(leastLines, len(e.wrapped(width-cellLead))) > rows {
				column, row = column+1, 0
			}
		}
		if row+len(texts) > rows {
			column, row = column+1, 0
		}
		for i, text := range texts {
			out = append(out, spot{l, column, row + i, text, i > 0})
		}
		next(len(texts))
	}
	return out
}

// leastLines is the minimum number of lines of a group below its heading in the same column.
const leastLines = 2

// cellLead is the number of cells before the text of an entry: the cursor and a gap.
const cellLead = 2

// gaps matches the gap between the keys of an entry and what they do.
var gaps = regexp.MustCompile(` {2,}`)

// wrapped returns the text of an entry in lines of w cells. If Text does not fit in one
// line, Brief replaces it. If the text is still too long, what follows its keys is wrapped
// and indented by their width; a text without keys stays one line.
func (e Entry) wrapped(w int) []string {
	text := visible(e.Text)
	if style.Width(text) > w && e.Brief != "" {
		text = visible(e.Brief)
	}
	all := gaps.FindAllStringIndex(text, -1)
	if style.Width(text) <= w || len(all) == 0 {
		return []string{text}
	}
	gap := all[len(all)-1][1]
	indent := min(style.Width(text[:gap]), w/2)
	lines := style.Wrap(text[gap:], w-indent)
	for i := range lines {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = style.Fit(text[:gap], indent, "")
		}
		lines[i] = lead + lines[i]
	}
	return lines
}

// used returns how many columns are needed if each is rows lines high.
func (p *Picker) used(width, rows int) int {
	all := p.spots(width, rows)
	if len(all) == 0 {
		return 1
	}
	return all[len(all)-1].column + 1
}

// columnWidth returns the width of each of n columns in w cells.
func columnWidth(w, n int) int { return (w - (n-1)*columnGap) / n }

// grid returns the smallest number of columns that show all lines in w cells and at most
// maxRows rows, and the smallest number of rows that these columns need. If the lines do
// not fit, it returns as many columns as fit into w, and the lines are divided into pages.
func (p *Picker) grid(w, maxRows int) (columns, rows int) {
	maxRows = max(2, maxRows)
	for columns = 1; p.used(columnWidth(w, columns), maxRows) > columns; columns++ {
		if columnWidth(w, columns+1) < p.column {
			return columns, maxRows
		}
	}
	for maxRows > 2 && p.used(columnWidth(w, columns), maxRows-1) <= columns {
		maxRows--
	}
	return columns, maxRows
}

// belowColumns is the number of rows below the columns, for the Extra of the selected entry.
// If that takes only one row, the first one stays empty.
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
	width := columnWidth(w, columns)
	all := p.spots(width, rows)
	selected := p.spotOf(all)
	page := selected.column / columns
	lines := make([]string, rows)
	for column := range columns {
		cells := make([]string, rows)
		for _, s := range all {
			if s.column == page*columns+column {
				cells[s.row] = p.cell(s, width, st)
			}
		}
		for row, cell := range cells {
			if column > 0 {
				lines[row] += strings.Repeat(" ", columnGap)
			}
			lines[row] += style.Fit(cell, width, "…")
		}
	}
	p.page, p.pages, p.rows, p.columnW = page+1, (p.used(width, rows)+columns-1)/columns, rows, width
	e, _ := p.selected()
	about := []string{"", ""}
	if text := style.Wrap(visible(e.Extra), w-cellLead); len(text) == 1 {
		about[1] = text[0]
	} else {
		copy(about, text)
	}
	for i, line := range about {
		about[i] = st.Overlay.Muted.Render("  " + line)
	}
	return append(lines, about...)
}

// cell draws a line of a match in w cells of a column.
func (p *Picker) cell(s spot, w int, st style.Styles) string {
	if s.kind == headingLine {
		return st.Overlay.Group.Render(style.TruncateWords(s.text, w, "…"))
	}
	lead, ink := "  ", st.Overlay.Text
	if s.match == p.cursor {
		ink = st.Overlay.Selected
		if !s.more {
			lead = style.Fit(st.Icons.Selected, cellLead, "")
		}
	}
	return ink.Render(style.Fit(lead+s.text, w, "…"))
}

// spotOf returns the position of the selected entry; the zero spot if there is none.
func (p *Picker) spotOf(all []spot) spot {
	for _, s := range all {
		if s.match == p.cursor && s.kind == entryLine && !s.more {
			return s
		}
	}
	return spot{}
}

// across moves the selection n columns to the right, to the nearest entry in that column.
func (p *Picker) across(n int) {
	all := p.spots(p.columnW, max(2, p.rows))
	from := p.spotOf(all)
	best := -1
	for i, s := range all {
		if s.kind == entryLine && !s.more && s.column == from.column+n && (best < 0 || distance(s.row, from.row) < distance(all[best].row, from.row)) {
			best = i
		}
	}
	if best >= 0 {
		p.cursor = all[best].match
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// columnsPosition implements Position for columns: the page and the number of pages.
func (p *Picker) columnsPosition() string {
	if p.pages < 2 {
		return ""
	}
	return fmt.Sprintf("page %d/%d", p.page, p.pages)
}
