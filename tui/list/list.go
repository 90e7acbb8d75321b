package list

import "strings"

// Item is one entry of a list.
type Item interface {
	// ID tells this item from all others of the list, for as long as it lives.
	ID() string
	// Version changes whenever Render may give something else at the same width.
	Version() uint64
	// Render gives the lines of the item, joined by "\n". Lines wider than
	// width cells are cut.
	Render(width int) string
}

// Liner is an Item that keeps its own lines, for example because it streams.
// The list calls Lines instead of Render, each time it draws the item, and
// does not cache the answer. The slice stays the item's and is only read, up
// to the next call of one of the item's methods.
type Liner interface {
	Item
	Lines(width int) []string
}

// Source hands out items. Its items stay where they are until the list is
// told otherwise by Inserted, Removed or SetSource.
type Source interface {
	Len() int
	At(i int) Item // 0 ≤ i < Len
}

// Indexer is a Source that can find an item by its ID. Without it SetSource
// looks for the item under the eye only near its old place.
type Indexer interface {
	Index(id string) (i int, ok bool)
}

// slice is the Source of the items given to SetItems.
type slice struct{ items []Item }

func (s *slice) Len() int      { return len(s.items) }
func (s *slice) At(i int) Item { return s.items[i] }

// anchor is the first line on the screen: a line of an item.
type anchor struct{ item, line int }

// List is a long list, drawn only where it is seen. The zero value is an empty
// list that follows its end.
type List struct {
	source  Source
	own     *slice // source, when it came from SetItems
	heights heights
	cache   cache

	width, height int    // of the last View or Resize
	away          bool   // the user scrolled away from the end; else the list follows it
	anchor        anchor // first line on the screen; right only while away
	rows          []row  // what the last View put on each row
	focus         int    // place of the focused item plus one; 0 means none
	seen          seen
	slack         bool // rows may stay empty below the last line, see ShowLine
}

// seen is how far the user has seen the list, for Below.
type seen struct {
	items   int    // items there were when the end was last on the screen
	lines   int    // lines of the last of them
	version uint64 // its version
}

// row is what a row of the screen shows.
type row struct{ item, line int }

// SetItems makes items the content; the list keeps the slice. The item under
// the eye stays there when items still has it, and so does the focus.
func (l *List) SetItems(items []Item) {
	own := &slice{items}
	l.SetSource(own)
	l.own = own
}

// SetSource makes s the content. The item under the eye stays there when s
// still has it, and so does the focus. A nil source is an empty one.
func (l *List) SetSource(s Source) {
	if s == nil {
		s = &slice{}
	}
	eye, focus := l.idAt(l.anchor.item), l.idAt(l.focus-1)
	at, focused := l.anchor.item, l.focus-1
	l.source, l.own = s, nil
	l.heights.reset(s.Len())
	l.cache.clear()
	l.rows = nil
	l.focus = 0
	if i, ok := l.find(focus, focused); ok {
		l.focus = i + 1
	}
	if i, ok := l.find(eye, at); ok {
		l.anchor.item = i
	} else {
		l.anchor, l.away = anchor{}, false
	}
	l.seen.items = min(l.seen.items, l.Len())
}

// idAt is the ID of item i, or "" when there is none.
func (l *List) idAt(i int) string {
	if i < 0 || i >= l.Len() {
		return ""
	}
	return l.source.At(i).ID()
}

// searchSpan is how far from its old place an item is looked for. Filters move
// items by more than that only in lists that have an Index.
const searchSpan = 4096

// find is the place of the item id, which was at near.
func (l *List) find(id string, near int) (int, bool) {
	if id == "" || l.Len() == 0 {
		return 0, false
	}
	if ix, ok := l.source.(Indexer); ok {
		return ix.Index(id)
	}
	near = max(0, min(near, l.Len()-1))
	for d := range searchSpan {
		if near-d >= 0 && l.source.At(near-d).ID() == id {
			return near - d, true
		}
		if near+d < l.Len() && l.source.At(near+d).ID() == id {
			return near + d, true
		}
		if near-d < 0 && near+d >= l.Len() {
			break
		}
	}
	return 0, false
}

// Len is the number of items.
func (l *List) Len() int {
	if l.source == nil {
		return 0
	}
	return l.heights.len()
}

// At is item i; it panics when there is none.
func (l *List) At(i int) Item { return l.source.At(i) }

// Append adds items at the end. Like Replace and Remove it is for lists that
// were filled by SetItems or by Append alone; with another Source, change that
// and call Inserted or Removed.
func (l *List) Append(items ...Item) {
	l.owned("Append")
	l.own.items = append(l.own.items, items...)
	l.Inserted(l.Len(), len(items))
}

// Replace puts item in the place of item i.
func (l *List) Replace(i int, item Item) {
	l.owned("Replace")
	l.cache.remove(l.own.items[i].ID())
	l.own.items[i] = item
}

// Remove takes item i out and lets go of it.
func (l *List) Remove(i int) {
	l.owned("Remove")
	l.cache.remove(l.own.items[i].ID())
	copy(l.own.items[i:], l.own.items[i+1:])
	l.own.items[len(l.own.items)-1] = nil
	l.own.items = l.own.items[:len(l.own.items)-1]
	l.Removed(i, 1)
}

// owned panics when the items are not the list's to change.
func (l *List) owned(method string) {
	if l.source == nil {
		l.SetItems(nil)
	}
	if l.own == nil {
		panic("list: " + method + " on a list that was filled by SetSource")
	}
}

// Inserted tells the list that its source has n more items, from place i on.
func (l *List) Inserted(i, n int) {
	if n <= 0 {
		return
	}
	atEnd := i == l.Len()
	l.heights.insert(i, n)
	l.rows = nil
	if atEnd {
		return
	}
	if l.away && i <= l.anchor.item {
		l.anchor.item += n
	}
	if i < l.focus {
		l.focus += n
	}
	if i < l.seen.items {
		l.seen.items += n
	}
}

// Removed tells the list that the n items from place i on have left its source.
func (l *List) Removed(i, n int) {
	if n <= 0 {
		return
	}
	l.heights.remove(i, n)
	l.rows = nil
	switch a := l.anchor.item; {
	case a >= i+n:
		l.anchor.item -= n
	case a >= i: // the item under the eye is gone: what came after it takes its place
		l.anchor = anchor{item: max(0, min(i, l.Len()-1))}
	}
	switch f := l.focus - 1; {
	case f >= i+n:
		l.focus -= n
	case f >= i:
		l.focus = min(i+1, l.Len())
	}
	if gone := min(i+n, l.seen.items) - i; gone > 0 {
		l.seen.items -= gone
		l.seen.lines, l.seen.version = 0, 0
	}
}

// Invalidate forgets everything that was rendered, for a change that shows in
// no version, such as another theme.
func (l *List) Invalidate() { l.cache.clear() }

// lines are the lines of item i at the list's width, at least one; the height
// of the item is corrected by the way.
func (l *List) lines(i int) *drawn {
	item := l.source.At(i)
	var d *drawn
	if own, ok := item.(Liner); ok {
		d = &l.cache.borrowed
		*d = drawn{lines: own.Lines(l.width)}
		if len(d.lines) == 0 {
			d.lines = blank
		}
	} else {
		d = l.cache.get(item, l.width, func() []string {
			return strings.Split(item.Render(l.width), "\n")
		})
	}
	l.heights.set(i, len(d.lines))
	return d
}

// blank are the lines of an item that has none.
var blank = []string{""}

// heightOf is the true height of item i, which is rendered when need be.
func (l *List) heightOf(i int) int { return len(l.lines(i).lines) }
