package style

import (
	"strings"
)

// Cache measures the texts of frames, and keeps the widths of the texts in the last and the
// current frame. The zero value is ready to use. A Cache must be used by one goroutine.
type Cache struct {
	Measure   func(string) int // nil means the function Width
	last, now map[string]int   // widths of the texts in the last frame and in the current frame
}

// Width returns the width of s in cells.
func (c *Cache) Width(s string) int {
	if w, ok := c.now[s]; ok {
		return w
	}
	w, ok := c.last[s]
	if !ok {
		measure := c.Measure
		if measure == nil {
			measure = Width
		}
		w = measure(s)
	}
	if c.now == nil {
		c.now = map[string]int{}
	}
	c.now[s] = w
	return w
}

// Fit does the same as the function Fit, with cached widths.
func (c *Cache) Fit(s string, width int, tail string) string {
	if n := c.Width(s); width > 0 && n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	return Fit(s, width, tail)
}

// Truncate does the same as the function Truncate, with cached widths.
func (c *Cache) Truncate(s string, width int, tail string) string {
	if c.Width(s) <= width {
		return s
	}
	return Truncate(s, width, tail)
}

// EndFrame forgets the texts that this frame did not use.
func (c *Cache) EndFrame() {
	c.last, c.now = c.now, c.last
	clear(c.now)
}
