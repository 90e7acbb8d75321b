package list

import "winnow/tui/keymap"

// Cursor is a line of a list whose lines all have the same height, and the part of the list
// that is on the screen. The zero value is on the first line. Each method is given n, the
// number of lines that the list has now.
type Cursor struct {
	At   int // the line; 0 when there is none
	Top  int // the first line on the screen
	Rows int // lines on the screen, as drawn last
}

// MoveTo puts the cursor on line i, or on the nearest there is.
func (c *Cursor) MoveTo(i, n int) { c.At = max(0, min(i, n-1)) }

// Page is how many lines a screen moves by: one line stays.
func (c *Cursor) Page() int { return max(1, c.Rows-1) }

// Do moves the cursor by an action of the mode [keymap.Text], and reports whether it is
// one that moves.
func (c *Cursor) Do(a keymap.Action, n int) bool {
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

// Scroll scrolls as little as it must to show the lines from first to before end, or the
// first of them where not all fit in the rows, and leaves no row empty below the last line.
func (c *Cursor) Scroll(rows, first, end, n int) {
	c.Rows = rows
	c.Top = max(c.Top, end-rows)
	c.Top = max(0, min(c.Top, first, n-rows))
}

// Shown are the lines on the screen: from, and before to.
func (c *Cursor) Shown(n int) (from, to int) { return c.Top, min(n, c.Top+max(0, c.Rows)) }
