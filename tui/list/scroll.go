package list

// up returns the line n lines above p, or the first line.
func (l *List) up(p position, n int) position {
	p.line -= n
	for p.line < 0 {
		if p.item == 0 {
			return position{}
		}
		p.item--
		p.line += l.heightOf(p.item)
	}
	return p
}

// down returns the line n lines below p, or the last line.
func (l *List) down(p position, n int) position {
	p.line += n
	for {
		h := l.heightOf(p.item)
		switch {
		case p.line < h:
			return p
		case p.item == l.Len()-1:
			return position{p.item, h - 1}
		}
		p.line -= h
		p.item++
	}
}

// ScrollBy scrolls n lines down, or up if n is negative. Scrolling up leaves the end;
// reaching the end follows it again.
func (l *List) ScrollBy(n int) {
	if !l.ready() || n == 0 {
		return
	}
	l.updateTop()
	if n > 0 {
		l.goTo(l.down(l.top, n))
	} else {
		l.goTo(l.up(l.top, -n))
	}
}

// ShowLine scrolls a line of item i to a row of the screen. Unlike ScrollTo it may leave
// rows empty below the last line, until new lines fill them or the user scrolls.
func (l *List) ShowLine(i, line, row int) {
	if !l.ready() || i < 0 || i >= l.Len() {
		return
	}
	l.top, l.away, l.emptyRows = l.up(position{i, max(0, line)}, row), true, false
	below, end := l.linesBelow()
	l.emptyRows = end && below < 0
	if seen, ok := l.source.Index(l.seen.id); ok && seen == l.Len()-1 { // an item that was folded or unfolded is not new
		l.markSeen()
	}
}

// goTo makes p the first visible line, as far as the end allows.
func (l *List) goTo(p position) {
	l.top, l.away, l.emptyRows = p, true, false
	l.updateTop()
}

// Page scrolls by n screens, less one line each.
func (l *List) Page(n int) { l.ScrollBy(n * max(1, l.height-1)) }

// HalfPage scrolls by n half screens.
func (l *List) HalfPage(n int) { l.ScrollBy(n * max(1, l.height/2)) }

// Top shows the first line.
func (l *List) Top() {
	if l.ready() {
		l.goTo(position{})
	}
}

// Bottom shows the last line and follows the end.
func (l *List) Bottom() { l.away, l.emptyRows = false, false }

// AtEnd reports whether the list follows its end.
func (l *List) AtEnd() bool { return !l.away }

// ScrollTo scrolls a line of item i to a row of the screen, as far as the end allows. It
// does nothing if there is no item i.
func (l *List) ScrollTo(i, line, row int) {
	if l.ready() && i >= 0 && i < l.Len() {
		l.goTo(l.up(position{i, line}, row))
	}
}

// Focused returns the focused item, or -1.
func (l *List) Focused() int {
	if l.focus > 0 && l.Len() > 0 {
		if i, ok := l.source.Index(l.focus); ok {
			return i
		}
	}
	return -1
}

// Focus focuses item i and scrolls just far enough to show it: all of it if it fits,
// otherwise at least its first line. If there is no item i, it removes the focus.
func (l *List) Focus(i int) {
	l.focus = 0
	if i < 0 || i >= l.Len() {
		return
	}
	l.focus = l.source.ID(i)
	if !l.ready() {
		return
	}
	l.updateTop()
	if i < l.top.item || i == l.top.item && l.top.line > 0 {
		l.goTo(position{item: i})
		return
	}
	// Show the last line of the item on the last row or, if the item is taller than the
	// screen, its first line on the first row.
	top := position{item: i}
	if h := l.heightOf(i); h <= l.height {
		top = l.up(position{i, h - 1}, l.height-1)
	}
	if top.item > l.top.item || top.item == l.top.item && top.line > l.top.line {
		l.goTo(top)
	}
}

// SetFocus moves the focus to item i without scrolling.
func (l *List) SetFocus(i int) {
	if i >= 0 && i < l.Len() {
		l.focus = l.source.ID(i)
	}
}

// Step moves the focus by one item, down or up; without a focus, to the first or last
// visible item. It reports whether the focus moved.
func (l *List) Step(by int) bool {
	i := l.Focused() + by
	if l.Focused() < 0 {
		first, last := l.Visible()
		if i = first; by < 0 {
			i = last
		}
	}
	if i < 0 || i >= l.Len() {
		return false
	}
	l.Focus(i)
	return true
}
