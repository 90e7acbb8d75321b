package list

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

// Key moves the cursor by a key that scrolls what is read, and reports whether it is one.
func (c *Cursor) Key(name string, n int) bool {
	switch name {
	case "up", "k", "ctrl+p":
		c.MoveTo(c.At-1, n)
	case "down", "j", "ctrl+n":
		c.MoveTo(c.At+1, n)
	case "pgup", "ctrl+u":
		c.MoveTo(c.At-c.Page(), n)
	case "pgdown", "ctrl+d":
		c.MoveTo(c.At+c.Page(), n)
	case "home", "g":
		c.MoveTo(0, n)
	case "end", "G":
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
