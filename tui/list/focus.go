package list

// Focused is the item that has the focus, or -1. How it shows is the item's
// own affair: give it a new version when the focus comes and goes.
func (l *List) Focused() int { return l.focus - 1 }

// Focus gives the focus to item i and scrolls just as far as it takes to show
// it: its first line at least, all of it when it fits. Any i that is no item
// takes the focus away.
func (l *List) Focus(i int) {
	if i < 0 || i >= l.Len() {
		l.focus = 0
		return
	}
	l.focus = i + 1
	l.show(i)
}

// Next moves the focus to the next item; without a focus, to the first on the
// screen. It reports whether the focus moved.
func (l *List) Next() bool { return l.step(+1) }

// Prev moves the focus to the item before; without a focus, to the last on the
// screen. It reports whether the focus moved.
func (l *List) Prev() bool { return l.step(-1) }

func (l *List) step(by int) bool {
	i := l.Focused() + by
	if l.focus == 0 {
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

// show scrolls until item i is on the screen.
func (l *List) show(i int) {
	if !l.ready() {
		return
	}
	l.updateAnchor()
	if i < l.anchor.item || i == l.anchor.item && l.anchor.line > 0 {
		l.goTo(anchor{item: i})
		return
	}
	// The bottom of the item on the last row; its top on the first when it is
	// taller than the screen.
	bottom := l.up(anchor{i, l.heightOf(i) - 1}, l.height-1)
	if l.heightOf(i) > l.height {
		bottom = anchor{item: i}
	}
	if bottom.item > l.anchor.item || bottom.item == l.anchor.item && bottom.line > l.anchor.line {
		l.goTo(bottom)
	}
}
