package overlay

import (
	"testing"

	"pgregory.net/rapid"

	"winnow/tui/keymap"
)

// Whatever moves it, the cursor is on a line, the line is on the screen, and no row is
// empty while lines are above.
func TestCursorStaysOnTheScreen(t *testing.T) {
	actions := []keymap.Action{keymap.TextUp, keymap.TextDown, keymap.TextPageUp, keymap.TextPageDown, keymap.TextFirst, keymap.TextLast, keymap.Save}
	rapid.Check(t, func(t *rapid.T) {
		var c ListCursor
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n, rows := rapid.IntRange(0, 30).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "rows")
			c.MoveTo(c.At, n)
			action, before := rapid.SampledFrom(actions).Draw(t, "action"), c.At
			if moved := c.Do(action, n); moved == (action == keymap.Save) || action == keymap.Save && c.At != before {
				t.Fatalf("%s: %v, %+v", action, moved, c)
			}
			c.Scroll(rows, c.At, c.At+1, n)
			from, to := c.Shown(n)
			switch {
			case n == 0 && (c.At != 0 || from != 0 || to != 0):
				t.Fatalf("an empty list: %+v", c)
			case n > 0 && (c.At >= n || c.At < from || c.At >= to):
				t.Fatalf("line %d is not in %d to %d of %d: %+v", c.At, from, to, n, c)
			case to-from != min(n, rows):
				t.Fatalf("%d lines on %d rows of %d: %+v", to-from, rows, n, c)
			}
		}
	})
}

func TestCursorScrollsAsLittleAsItMust(t *testing.T) {
	for _, c := range []struct {
		from             ListCursor
		rows, first, end int
		top              int
	}{
		{ListCursor{Top: 5}, 10, 7, 8, 5},
		{ListCursor{Top: 5}, 10, 4, 5, 4},
		{ListCursor{Top: 5}, 10, 15, 16, 6},
		{ListCursor{Top: 5}, 10, 20, 40, 20}, // more lines than fit: the first of them
		{ListCursor{Top: 95}, 10, 95, 96, 90},
	} {
		got := c.from
		got.Scroll(c.rows, c.first, c.end, 100)
		if got.Top != c.top {
			t.Errorf("%+v to %d-%d in %d rows: top %d, want %d", c.from, c.first, c.end, c.rows, got.Top, c.top)
		}
	}
}
