package list

// far is how many screens a scroll may walk item by item; beyond it the tree
// tells the place, from estimates where nothing was drawn yet.
const far = 4

// ready reports whether there is anything to scroll.
func (l *List) ready() bool { return l.width > 0 && l.height > 0 && l.Len() > 0 }

// ScrollBy moves the screen n lines down, or up when n is negative. Scrolling
// up leaves the end; reaching the end follows it again.
func (l *List) ScrollBy(n int) {
	if !l.ready() || n == 0 {
		return
	}
	l.updateAnchor()
	a := l.anchor
	switch {
	case n > far*l.height || n < -far*l.height:
		a = l.heights.find(max(0, l.heights.before(a.item)+a.line+n))
	case n > 0:
		a = l.down(a, n)
	default:
		a = l.up(a, -n)
	}
	l.goTo(a)
}

// ShowLine makes a line of item i stand on a row of the screen. Unlike scrolling it
// leaves rows empty below the last line where it takes that, until new lines fill
// them or the user scrolls.
func (l *List) ShowLine(i, line, row int) {
	if !l.ready() || i < 0 || i >= l.Len() {
		return
	}
	l.anchor, l.away, l.slack = l.up(anchor{i, max(0, line)}, row), true, false
	if left, end := l.leftBelow(l.anchor); end && left < 0 {
		l.slack = true
	}
	if last := l.Len() - 1; l.seen.items > last { // what is opened or closed is not new
		l.seen = seen{items: l.Len(), lines: l.heightOf(last), version: l.source.At(last).Version()}
	}
}

// goTo makes a the first line on the screen, as far as the end allows.
func (l *List) goTo(a anchor) {
	l.anchor, l.away, l.slack = a, true, false
	l.updateAnchor()
}

// Page moves by n screens, keeping one line in common.
func (l *List) Page(n int) { l.ScrollBy(n * max(1, l.height-1)) }

// HalfPage moves by n half screens.
func (l *List) HalfPage(n int) { l.ScrollBy(n * max(1, l.height/2)) }

// Top shows the first line.
func (l *List) Top() {
	if l.ready() {
		l.goTo(anchor{})
	}
}

// Bottom shows the last line and follows the end from now on.
func (l *List) Bottom() { l.away, l.slack = false, false }

// ScrollTo shows item i: with its first line at the top of the screen or, when
// centred, with its middle in the middle as long as it fits. It does nothing
// when there is no item i.
func (l *List) ScrollTo(i int, centred bool) {
	if !l.ready() || i < 0 || i >= l.Len() {
		return
	}
	a := anchor{item: i}
	if room := l.height - l.heightOf(i); centred && room > 0 {
		a = l.up(a, room/2)
	}
	l.goTo(a)
}

// AtEnd reports whether the list follows its end.
func (l *List) AtEnd() bool { return !l.away }

// Below is what arrived below the screen since the user left the end: items,
// and lines including those that a seen item grew by. Lines of items that were
// not drawn yet are estimates, and at least one each.
func (l *List) Below() (items, lines int) {
	if !l.away || !l.ready() {
		return 0, 0
	}
	hidden := l.heights.all() - l.heights.before(l.anchor.item) - l.anchor.line - l.height
	items = l.Len() - l.seen.items
	lines = l.heights.all() - l.heights.before(l.seen.items) + l.grown()
	if items > 0 {
		_, last := l.Visible()
		items = max(0, min(items, l.Len()-1-last))
	}
	return items, max(items, min(lines, max(hidden, l.grown())))
}

// grown is by how many lines the last seen item grew since it was seen. An item
// that changed but was not drawn again counts as one line.
func (l *List) grown() int {
	i := l.seen.items - 1
	if i < 0 || l.seen.lines == 0 {
		return 0
	}
	item := l.source.At(i)
	if item.Version() == l.seen.version {
		return 0
	}
	if _, ok := item.(Liner); ok {
		return max(0, l.heightOf(i)-l.seen.lines)
	}
	return max(1, int(l.heights.each[i])-l.seen.lines)
}

// Offset is the place of the screen for a scroll bar: the lines above its first
// row, and the lines of all items. Items that were never drawn are estimated.
func (l *List) Offset() (top, total int) {
	if l.Len() == 0 {
		return 0, 0
	}
	total = l.heights.all()
	if !l.away {
		return max(0, total-l.height), total
	}
	return l.heights.before(l.anchor.item) + l.anchor.line, total
}

// Visible are the first and the last item on the screen, as of the last View;
// both are -1 when the screen shows none.
func (l *List) Visible() (first, last int) {
	if len(l.rows) == 0 {
		return -1, -1
	}
	return l.rows[0].item, l.rows[len(l.rows)-1].item
}

// ItemAt is the item, and the line of it, on a row of the screen counted from
// 0, as of the last View; ok is false where there is none.
func (l *List) ItemAt(y int) (i, line int, ok bool) {
	if y < 0 || y >= len(l.rows) {
		return 0, 0, false
	}
	return l.rows[y].item, l.rows[y].line, true
}
