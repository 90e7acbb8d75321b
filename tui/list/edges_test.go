package list

import "testing"

func TestEdgesCountLinesOfTheItemsAtTheEdges(t *testing.T) {
	l := newList(fours(5))
	if got := edgesAt(l, 10, 6); got != (Edges{LinesAbove: 2, ItemsAbove: 3}) {
		t.Errorf("at the end: %+v", got)
	}
	l.Top()
	if got := edgesAt(l, 10, 6); got != (Edges{LinesBelow: 2, ItemsBelow: 3}) {
		t.Errorf("at the beginning: %+v", got)
	}
	if got := edgesAt(l, 10, 40); got != (Edges{}) {
		t.Errorf("where all is shown: %+v", got)
	}
}

// The bar touches an end only when the screen does, and is at least one cell.
func TestTheBarTouchesOnlyTheEndsThatAreShown(t *testing.T) {
	for items := 2; items < 60; items += 7 {
		l := newList(fours(items))
		l.View(10, 6)
		l.Top()
		for range items * 4 {
			l.View(10, 6)
			for cells := 3; cells < 9; cells++ {
				e := l.Edges()
				from, to, ok := l.Bar(cells)
				above, below := e.LinesAbove+e.ItemsAbove > 0, e.LinesBelow+e.ItemsBelow > 0
				if ok != (above || below) || from < 0 || to > cells || ok && (from >= to || above != (from > 0) || below != (to < cells)) {
					t.Fatalf("%d items, %+v: the bar of %d cells is [%d, %d), %v", items, e, cells, from, to, ok)
				}
			}
			l.ScrollBy(1)
		}
	}
}

// fours are n items of four lines.
func fours(n int) items {
	var all items
	for i := range n {
		all = append(all, newItem(int64(1000+i), 4))
	}
	return all
}

func edgesAt(l *List, w, h int) Edges {
	l.View(w, h)
	return l.Edges()
}
