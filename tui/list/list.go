package list

import (
	"strings"

	"winnow/tui/style"
)

// Source provides the items of a list. Their IDs are positive and ascending.
type Source interface {
	Len() int
	ID(i int) int64 // 0 ≤ i < Len
	// Index returns the index of the item with an ID, or the index that it would have.
	Index(id int64) (i int, ok bool)
	// Height returns the number of lines of item i, at least one.
	Height(i, width int) int
	// Line returns a line of item i, 0 ≤ line < Height. Lines wider than width cells are
	// cut.
	Line(i, width, line int) string
}

// position is a line of an item, given by two indexes.
type position struct{ item, line int }

// List is a scrollable list with a focus. The zero value is an empty list that follows its
// end.
type List struct {
	source        Source
	width, height int        // size of the last View
	away          bool       // scrolled away from the end; otherwise the list follows its end
	emptyRows     bool       // rows below the last line may stay empty, see ShowLine
	top           position   // first line on the screen; valid only while away
	rows          []position // what the last View drew on each row
	focus         int64      // ID of the focused item; 0 means none
	seen          struct {   // the end of the list when it was last visible
		id    int64 // ID of the last item
		lines int   // number of lines of this item
	}
}

// SetSource sets the content. The item at the top of the screen and the focused item stay
// if s contains them.
func (l *List) SetSource(s Source) {
	var top int64
	if l.top.item < l.Len() {
		top = l.source.ID(l.top.item)
	}
	l.source, l.rows = s, nil
	if i, ok := s.Index(top); ok {
		l.top.item = i
	} else {
		l.top, l.away = position{}, false
	}
}

// Len returns the number of items.
func (l *List) Len() int {
	if l.source == nil {
		return 0
	}
	return l.source.Len()
}

// ready reports whether there is anything to draw.
func (l *List) ready() bool { return l.width > 0 && l.height > 0 && l.Len() > 0 }

// heightOf returns the number of lines of item i.
func (l *List) heightOf(i int) int { return l.source.Height(i, l.width) }

// View draws the list: exactly height lines, each exactly width cells wide.
func (l *List) View(width, height int) []string {
	l.resize(max(width, 0), max(height, 0))
	l.rows = l.rows[:0]
	out := make([]string, 0, l.height)
	if l.ready() {
		l.updateTop()
		for i, line := l.top.item, l.top.line; i < l.Len() && len(out) < l.height; i, line = i+1, 0 {
			for height := l.heightOf(i); line < height && len(out) < l.height; line++ {
				out = append(out, style.Fit(l.source.Line(i, l.width, line), l.width, ""))
				l.rows = append(l.rows, position{i, line})
			}
		}
	}
	for len(out) < l.height {
		out = append(out, strings.Repeat(" ", l.width))
	}
	return out
}

// resize sets the size. If the list is scrolled away from the end, the same item stays
// first, scrolled by the same fraction of its lines.
func (l *List) resize(width, height int) {
	if width != l.width && l.away && l.ready() && width > 0 {
		before := l.heightOf(l.top.item)
		l.width = width
		l.top.line = l.top.line * l.heightOf(l.top.item) / before
	}
	l.width, l.height = width, height
}

// updateTop sets top to the first line to draw, and follows the end again if the end is
// visible.
func (l *List) updateTop() {
	if l.away {
		l.top.item = min(l.top.item, l.Len()-1)
		l.top.line = max(0, min(l.top.line, l.heightOf(l.top.item)-1))
		below, end := l.linesBelow()
		if l.emptyRows && end && below < 0 || !l.emptyRows && (!end || below > 0) {
			return
		}
		l.away, l.emptyRows = false, false
	}
	last := l.Len() - 1
	l.top = l.up(position{last, l.heightOf(last) - 1}, l.height-1)
	l.markSeen()
}

// linesBelow returns how many lines the list has below the screen; negative if rows stay
// empty. If the last item is not visible, end is false and the number is only a lower
// bound.
func (l *List) linesBelow() (lines int, end bool) {
	lines = -l.top.line - l.height
	for i := l.top.item; i < l.Len(); i++ {
		if lines >= 0 {
			return lines, false
		}
		lines += l.heightOf(i)
	}
	return lines, true
}

// markSeen records that the user has seen the end of the list.
func (l *List) markSeen() {
	last := l.Len() - 1
	l.seen.id, l.seen.lines = l.source.ID(last), l.heightOf(last)
}

// maxNew is how many new items Below counts at most.
const maxNew = 100

// Below returns how many lines arrived below the screen since the user left the end, in new
// items and at the end of the last item that the user has seen. It is called in every
// frame, so it looks at up to maxNew items.
func (l *List) Below() (lines int) {
	if !l.away || len(l.rows) == 0 {
		return 0
	}
	seen, known := l.source.Index(l.seen.id)
	if !known {
		seen--
	}
	bottom := l.rows[len(l.rows)-1]
	last := l.Len() - 1
	for i := last; i >= max(seen, bottom.item, last-maxNew) && i >= 0; i-- {
		more := l.heightOf(i)
		if i == seen {
			more = max(0, more-l.seen.lines)
		}
		if i == bottom.item {
			more = min(more, l.heightOf(i)-bottom.line-1)
		}
		lines += more
	}
	return lines
}

// Visible returns the first and last visible item of the last View; both are -1 if none is
// visible.
func (l *List) Visible() (first, last int) {
	if len(l.rows) == 0 {
		return -1, -1
	}
	return l.rows[0].item, l.rows[len(l.rows)-1].item
}

// ItemAt returns the item, and its line, on a row of the screen in the last View, counted
// from 0; ok is false if there is none.
func (l *List) ItemAt(y int) (i, line int, ok bool) {
	if y < 0 || y >= len(l.rows) {
		return 0, 0, false
	}
	return l.rows[y].item, l.rows[y].line, true
}

// RowOf returns the row of the screen that shows a line of item i.
func (l *List) RowOf(i, line int) (y int, ok bool) {
	for y, r := range l.rows {
		if r == (position{i, line}) {
			return y, true
		}
	}
	return 0, false
}
