package list

import "math"

// Edges describes what is above and below the screen after the last View. Computing it takes
// the same time for any number of items: lines are counted only in the items at the edges.
type Edges struct {
	LinesAbove, ItemsAbove int // how many lines of the first visible item are above the screen, and how many items precede it
	LinesBelow, ItemsBelow int // how many lines of the last visible item are below the screen, and how many items follow it
}

// Edges returns what is above and below the screen.
func (l *List) Edges() (e Edges) {
	if len(l.rows) == 0 {
		return e
	}
	top, bottom := l.rows[0], l.rows[len(l.rows)-1]
	return Edges{
		LinesAbove: top.line, ItemsAbove: top.item,
		LinesBelow: l.heightOf(bottom.item) - bottom.line - 1, ItemsBelow: l.Len() - bottom.item - 1,
	}
}

// Bar returns the part [from, to) of a scroll bar of some cells that represents the screen,
// based on items and the lines of the items at the edges; ok is false if everything is
// visible.
func (l *List) Bar(cells int) (from, to int, ok bool) {
	e := l.Edges()
	if cells < 1 || len(l.rows) == 0 || e == (Edges{}) {
		return 0, 0, false
	}
	part := func(item, line int) float64 {
		return (float64(item) + float64(line)/float64(l.heightOf(item))) / float64(l.Len())
	}
	top, bottom := l.rows[0], l.rows[len(l.rows)-1]
	first, last := part(top.item, top.line), part(bottom.item, bottom.line+1)
	low, high := 0, cells // the bar touches an end only if the screen does
	if e.LinesAbove+e.ItemsAbove > 0 {
		low = 1
	}
	if e.LinesBelow+e.ItemsBelow > 0 {
		high--
	}
	size := max(1, min(high-low, int(math.Round((last-first)*float64(cells)))))
	from = max(0, min(max(low, int(first*float64(cells))), high-size))
	if high == cells {
		from = cells - size
	}
	return from, from + size, true
}
