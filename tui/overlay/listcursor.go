package overlay

import "winnow/tui/keymap"

// ListCursor is the selected line of a list whose lines all have the same height, together
// with the visible part of the list. The zero value is on the first line. The parameter n of
// its methods is the current number of lines in the list.
type ListCursor struct {
	At   int // the selected line; 0 if there is none
	Top  int // the first visible line
	Rows int // number of visible lines when last drawn
}

// MoveTo moves the cursor to line i, or to the nearest existing line.
func (c *ListCursor) MoveTo(i, n int) { c.At = max(0, min(i, n-1)) }

// Page returns how many lines to scroll by for a page; one line stays visible.
func (c *ListCursor) Page() int { return max(1, c.Rows-1) }

// Do carries out an action that moves the cursor, and returns false for any other action.
// The actions belong to the mode [keymap.Text].
func (c *ListCursor) Do(a keymap.Action, n int) bool {
	switch a {
	case keymap.TextUp:
		c.MoveTo(c.At-1, n)
	case keymap.TextDown:
		c.MoveTo(c.At+1, n)
	case keymap.TextPageUp:
		c.MoveTo(c.At-c.Page(), n)
	case keymap.TextPageDown:
		c.MoveTo(c.At+c.Page(), n)
	case keymap.TextFirst:
		c.MoveTo(0, n)
	case keymap.TextLast:
		c.MoveTo(n, n)
	default:
		return false
	}
	return true
}

// Scroll scrolls as little as necessary to show the lines [first, end) in a list that is rows
// lines high, or as many of them as fit, from the first on. It leaves no row empty below the
// last line.
func (c *ListCursor) Scroll(rows, first, end, n int) {
	c.Rows = rows
	c.Top = max(c.Top, end-rows)
	c.Top = max(0, min(c.Top, first, n-rows))
}

// Shown returns the range [from, to) of visible lines.
func (c *ListCursor) Shown(n int) (from, to int) { return c.Top, min(n, c.Top+max(0, c.Rows)) }
