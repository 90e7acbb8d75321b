package chat

import (
	"cmp"
	"math"
	"strings"

	"winnow/tui/markdown"
	"winnow/tui/style"
)

// position is a cell of a drawn pair.
type position struct {
	seq        int64
	line, cell int
}

// compareLine compares the line of p with a line of the pair seq.
func (p position) compareLine(seq int64, line int) int {
	return cmp.Or(cmp.Compare(p.seq, seq), cmp.Compare(p.line, line))
}

func (p position) compare(q position) int {
	return cmp.Or(p.compareLine(q.seq, q.line), cmp.Compare(p.cell, q.cell))
}

// cellRange is the range between two positions, excluding the second.
type cellRange struct{ from, to position }

// selection is what the mouse selects: everything from anchor to head, including both.
type selection struct {
	anchor, head cellRange
	dragging     bool // the button was pressed on text
	nonEmpty     bool // SelectTo has moved the head away from the anchor
}

// SelectStart starts a selection at a cell of the last View. Nothing is selected before
// SelectTo.
func (v *View) SelectStart(x, y int) {
	at, ok := v.rangeAt(x, y)
	v.sel = selection{anchor: at, head: at, dragging: ok}
}

// SelectTo extends the selection to a cell. A cell above or below the view scrolls, faster
// the further away it is, and selects to the nearest cell inside. Call it when the mouse
// moves with the button down.
func (v *View) SelectTo(x, y int) {
	if !v.sel.dragging || v.height == 0 {
		return
	}
	v.list.ScrollBy(max(min(y, 0), -maxEdgeScroll) + min(max(y-v.height+1, 0), maxEdgeScroll))
	v.layout() // after scrolling, the rows show other lines
	if at, ok := v.rangeAt(x, y); ok {
		v.sel.head = at
		v.sel.nonEmpty = v.sel.nonEmpty || at != v.sel.anchor
	}
}

// SelectEnd ends the drag that SelectStart started. started reports whether there was one,
// and selected whether anything is selected.
func (v *View) SelectEnd() (started, selected bool) {
	started, v.sel.dragging = v.sel.dragging, false
	_, selected = v.selected()
	return started, selected
}

// maxEdgeScroll is the maximum number of lines that one call of SelectTo scrolls.
const maxEdgeScroll = 6

// ClearSelection ends the selection.
func (v *View) ClearSelection() { v.sel = selection{} }

// selected returns the selection from its first to its last cell. ok is false if nothing is
// selected, or if the pair at one of the ends is gone.
func (v *View) selected() (s cellRange, ok bool) {
	if !v.sel.nonEmpty {
		return cellRange{}, false
	}
	s = v.sel.anchor
	if h := v.sel.head; h.from.compare(s.from) < 0 {
		s.from = h.from
	}
	if h := v.sel.head; h.to.compare(s.to) > 0 {
		s.to = h.to
	}
	_, first := v.src.Index(s.from.seq)
	_, last := v.src.Index(s.to.seq)
	return s, first && last && s.from.compare(s.to) < 0
}

// SelectionText returns the selected text as drawn, without bars, indents, padding and soft
// line breaks. Parts are separated by a blank line. Pairs that are not loaded are left out,
// see SelectionMissing.
func (v *View) SelectionText() string {
	var texts []string
	v.eachSelected(func(seq int64, sel cellRange) {
		it := v.src.loaded(seq)
		if it == nil {
			return
		}
		it.layOutAll(v.innerWidth())
		for n := range it.parts {
			if text := strings.Trim(it.selectedText(n, sel), "\n"); text != "" {
				texts = append(texts, text)
			}
		}
	})
	return strings.Join(texts, "\n\n")
}

// SelectionMissing returns the pairs of the selection that are not loaded.
func (v *View) SelectionMissing() (missing []int64) {
	v.eachSelected(func(seq int64, _ cellRange) {
		if v.src.loaded(seq) == nil {
			missing = append(missing, seq)
		}
	})
	return missing
}

// eachSelected calls do for each pair of the selection.
func (v *View) eachSelected(do func(seq int64, sel cellRange)) {
	sel, ok := v.selected()
	if !ok {
		return
	}
	first, _ := v.src.Index(sel.from.seq)
	for _, r := range v.src.refs[first:] {
		if r.Seq > sel.to.seq {
			return
		}
		do(r.Seq, sel)
	}
}

// selectedText returns the text of part n that is in sel.
func (it *item) selectedText(n int, sel cellRange) string {
	var b strings.Builder
	first, last := it.lineRange(n)
	started := false
	for y := first; y <= last; y++ {
		from, to := it.selectedCells(y, sel)
		if from > to {
			continue
		}
		switch j := it.lineInfo(y); {
		case started && j.Soft && j.Space:
			b.WriteByte(' ')
		case started && !j.Soft:
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(style.Cut(it.plainLine(y), from, to), " "))
		started = true
	}
	return b.String()
}

// selectedCells returns the cells [from, to) of a line that are text and in sel; from is
// greater than to if sel does not include the line.
func (it *item) selectedCells(y int, sel cellRange) (from, to int) {
	if sel.to.compareLine(it.seq, y) < 0 || sel.from.compareLine(it.seq, y) > 0 {
		return 1, 0
	}
	first, last := it.textCells(y)
	from, to = first, last
	if sel.from.compareLine(it.seq, y) == 0 {
		from = min(max(first, sel.from.cell), last)
	}
	if sel.to.compareLine(it.seq, y) == 0 {
		to = min(max(first, sel.to.cell), last)
	}
	return from, to
}

// textCells returns the columns where a line's text starts and ends.
func (it *item) textCells(y int) (from, to int) {
	line, info := it.plainLine(y), it.lineInfo(y)
	if tail := int(info.Tail); tail > 0 {
		line = style.Cut(line, 0, style.Width(line)-tail)
	}
	to = style.Width(strings.TrimRight(line, " "))
	return min(int(info.Lead), to), to
}

// plainLine returns a line of the pair without styles.
func (it *item) plainLine(y int) string { return style.Strip(it.line(y)) }

// lineInfo returns how a line of the pair is copied.
func (it *item) lineInfo(y int) markdown.LineInfo {
	if n, at, ok := it.partAt(y); ok {
		return it.parts[n].Info(at)
	}
	return markdown.LineInfo{Lead: markdown.NotCopied}
}

// rangeAt returns the character at a cell. Next to the text of a line, it returns the
// nearest place in the line. In a line without text, it returns the start of the text below
// or, if there is none, the end of the text above.
func (v *View) rangeAt(x, y int) (cellRange, bool) {
	y, x = max(0, min(y, v.height-1)), x-v.gutter()
	for row := y; row < v.height; row++ {
		if it, line, ok := v.textAt(row); ok {
			return it.characterAt(line, x), true
		}
		x = -1
	}
	for row := y - 1; row >= 0; row-- {
		if it, line, ok := v.textAt(row); ok {
			return it.characterAt(line, math.MaxInt), true
		}
	}
	return cellRange{}, false
}

// textAt returns the line of a pair shown on row y; ok is false if it has no text.
func (v *View) textAt(y int) (it *item, line int, ok bool) {
	i, line, ok := v.list.ItemAt(y)
	if !ok {
		return nil, 0, false
	}
	it = v.src.at(i)
	from, to := it.textCells(line)
	return it, line, from < to
}

// characterAt returns the character at column x of a line, or the nearest place.
func (it *item) characterAt(line, x int) cellRange {
	from, to := it.textCells(line)
	end := min(max(x, from), to)
	begin := end
	if x == begin && x < to { // a wide character is selected as a whole
		end = 0
		for s, state := it.plainLine(line), byte(0); end <= x; {
			_, width, n, next := markdown.Character(s, state)
			begin, end, s, state = end, end+width, s[n:], next
		}
	}
	return cellRange{position{it.seq, line, begin}, position{it.seq, line, end}}
}

// drawSelected draws the selected part of a row that shows a line of pair i.
func (v *View) drawSelected(row string, i, line int, sel cellRange) string {
	it := v.src.at(i)
	n, _, ok := it.partAt(line)
	from, to := it.selectedCells(line, sel)
	if !ok || from >= to {
		return row
	}
	st := v.rc.st.Chat.Selected
	if _, user := it.parts[n].(*userPart); user {
		st = v.rc.st.Chat.SelectedUser
	}
	return style.Cut(row, 0, from) + st.Render(style.Strip(style.Cut(row, from, to))) + style.Cut(row, to, style.Width(row))
}
