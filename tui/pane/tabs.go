package pane

import (
	"strings"

	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// Row is a line of a list. Selectable reports whether the cursor can be on it; headings and
// explanations are not selectable.
type Row interface{ Selectable() bool }

// TextRows returns one row per line.
func TextRows[R Row](row func(text string) R, lines ...string) []R {
	rows := make([]R, len(lines))
	for i, l := range lines {
		rows[i] = row(l)
	}
	return rows
}

// List contains the rows of one tab, with a cursor. The zero value is empty.
type List[R Row] struct {
	Rows   []R
	Cursor overlay.ListCursor // position in Rows, even if no row is selectable
}

// Move moves the cursor by n rows, skipping rows that are not selectable.
func (l *List[R]) Move(n int) { l.MoveTo(l.Cursor.At+n, n < 0) }

// MoveTo moves the cursor to row n or, if that is not selectable, to the next row that is: in
// the direction given by up or, if there is none, in the other direction.
func (l *List[R]) MoveTo(n int, up bool) {
	n = min(max(n, 0), max(len(l.Rows)-1, 0))
	steps := [...]int{1, -1}
	if up {
		steps = [...]int{-1, 1}
	}
	for _, step := range steps {
		for i := n; i >= 0 && i < len(l.Rows); i += step {
			if l.Rows[i].Selectable() {
				l.Cursor.At = i
				return
			}
		}
	}
	l.Cursor.At = n
}

// Page moves the cursor by n screens.
func (l *List[R]) Page(n int) { l.Move(n * l.Cursor.Page()) }

// Current returns the row under the cursor; ok is false if there is no selectable row.
func (l *List[R]) Current() (r R, ok bool) {
	if l.Cursor.At >= len(l.Rows) || !l.Rows[l.Cursor.At].Selectable() {
		return r, false
	}
	return l.Rows[l.Cursor.At], true
}

// Find moves the cursor to the first selectable row that matches, and reports whether there
// is one.
func (l *List[R]) Find(matches func(R) bool) bool {
	for i, r := range l.Rows {
		if r.Selectable() && matches(r) {
			l.Cursor.At = i
			return true
		}
	}
	return false
}

// Visible returns how many rows the last frame showed.
func (l *List[R]) Visible() int {
	from, to := l.Cursor.Shown(len(l.Rows))
	return to - from
}

// scroll keeps the cursor within the h visible rows. If it is on the first of them, the
// headings directly above it become visible as well.
func (l *List[R]) scroll(h int) {
	c := &l.Cursor
	top := max(min(c.Top, c.At), c.At-h+1)
	first := top
	for first > 0 && top-first < h-1 && !l.Rows[first-1].Selectable() && c.At == top {
		first--
	}
	c.Top = first
	c.Scroll(h, first, c.At+1, len(l.Rows))
}

// Tabs are the lists of a pane, of which one is open. A Frame shows their titles.
type Tabs[R Row] struct {
	Lists  []List[R]
	Open   int
	titles [][2]int // cells of each title in the top line when last drawn
	head   int      // number of lines above the list when last drawn
}

// List returns the list of the open tab.
func (t *Tabs[R]) List() *List[R] { return &t.Lists[t.Open] }

// Next opens the tab n to the right, or to the left if n is negative.
func (t *Tabs[R]) Next(n int) { t.Open = (t.Open + n + len(t.Lists)) % len(t.Lists) }

// Move performs an action of the key table that moves the cursor or opens another tab. It
// reports whether the action is one of these.
func (t *Tabs[R]) Move(action keymap.Action) bool {
	l := t.List()
	switch action {
	case keymap.PaneDown:
		l.Move(1)
	case keymap.PaneUp:
		l.Move(-1)
	case keymap.PaneFirst:
		l.Cursor.Top = 0
		l.MoveTo(0, false)
	case keymap.PaneLast:
		l.MoveTo(len(l.Rows)-1, true)
	case keymap.PanePageDown:
		l.Page(1)
	case keymap.PanePageUp:
		l.Page(-1)
	case keymap.PreviousTab:
		t.Next(-1)
	case keymap.NextTab:
		t.Next(1)
	default:
		return false
	}
	return true
}

// DrawFuncs draw the inside of a pane: the lines above the list, a row in w cells, and the
// lines below the list, at most h of them.
type DrawFuncs[R Row] struct {
	Head func(w, h int) []string // may be nil
	Row  func(r R, selected bool, w int) string
	Foot func(w, h int) []string
}

// Draw draws h lines of w cells: the frame with the titles, the lines above the list, the
// visible rows and the foot. The Open of f is ignored.
func (t *Tabs[R]) Draw(f Frame, w, h int, v DrawFuncs[R]) []string {
	f.Open = t.Open
	lines, titles := f.Draw(w, h, func(w, h int) []string {
		lines := make([]string, 0, h)
		if v.Head != nil {
			lines = append(lines, v.Head(w, h)...)
		}
		t.head = len(lines)
		foot := v.Foot(w, h-t.head)
		l := t.List()
		l.scroll(h - t.head - len(foot))
		from, to := l.Cursor.Shown(len(l.Rows))
		for i := from; i < to; i++ {
			lines = append(lines, v.Row(l.Rows[i], i == l.Cursor.At && l.Rows[i].Selectable(), w))
		}
		for len(lines) < t.head+l.Cursor.Rows {
			lines = append(lines, strings.Repeat(" ", w))
		}
		return append(lines, foot...)
	})
	t.titles = titles
	return lines
}

// Click handles a click at a cell of the frame as last drawn: a title opens its tab, a row
// gets the cursor. again reports that the row already had the cursor.
func (t *Tabs[R]) Click(x, y int) (again bool) {
	if y == 0 {
		for i, cells := range t.titles {
			if x >= cells[0] && x < cells[1] {
				t.Open = i
			}
		}
		return false
	}
	l := t.List()
	y -= t.head
	row := l.Cursor.Top + y - headLines
	if y < headLines || y >= l.Cursor.Rows+headLines || row >= len(l.Rows) || !l.Rows[row].Selectable() {
		return false
	}
	again = row == l.Cursor.At
	l.Cursor.At = row
	return again
}
