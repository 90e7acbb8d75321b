package overlay

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"
)

// reading is lines that are read and scrolled. Nothing of them is cut off: long
// ones are wrapped.
type reading struct {
	lines []string // safe to show; may hold our own styles
	drawn []string // wrapped for a width
	width int      // of drawn; 0 is not drawn
	top   int      // the first of drawn on the screen
	rows  int      // on the screen, as drawn last
}

// set reads other lines, at the same place.
func (r *reading) set(lines []string) { r.lines, r.width = lines, 0 }

// widest is the width of the longest line, at least least.
func (r *reading) widest(least int) int {
	for _, l := range r.lines {
		least = max(least, ansi.StringWidth(l))
	}
	return least
}

func (r *reading) wrapped(w int) []string {
	if r.width != w {
		r.drawn, r.width = r.drawn[:0], w
		for _, l := range r.lines {
			r.drawn = append(r.drawn, wrapLine(l, w)...)
		}
	}
	return r.drawn
}

// show is what stands on so many rows of a width.
func (r *reading) show(w, rows int) []string {
	all := r.wrapped(w)
	r.rows = max(0, rows)
	r.top = min(max(r.top, 0), max(0, len(all)-r.rows))
	return append([]string(nil), all[r.top:min(len(all), r.top+r.rows)]...)
}

// Scroll implements Overlay.
func (r *reading) Scroll(n int) { r.top += n }

// Place implements placer: the last line on the screen, of how many.
func (r *reading) Place() string {
	if r.rows <= 0 || len(r.drawn) <= r.rows {
		return ""
	}
	return fmt.Sprintf("%d/%d", min(r.top+r.rows, len(r.drawn)), len(r.drawn))
}
