package style

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Whatever is measured in whatever order, the answers are those without a cache, and a
// text of the last frame is not measured again.
func TestCacheMeasuresWhatIsNew(t *testing.T) {
	measured := 0
	c := Cache{Measure: func(s string) int { measured++; return ansi.StringWidth(s) }}
	frame := func(first, last int) {
		for i := first; i < last; i++ {
			text := fmt.Sprintf("\x1b[1m日本 %d\x1b[m", i)
			for range 2 {
				if got, want := c.Width(text), ansi.StringWidth(text); got != want {
					t.Errorf("Width(%q) = %d, want %d", text, got, want)
				}
				for width := -1; width < 9; width++ {
					if got, want := c.Fit(text, width, "…"), Fit(text, width, "…"); got != want {
						t.Errorf("Fit(%q, %d) = %q, want %q", text, width, got, want)
					}
					if got, want := c.Truncate(text, width, "…"), Truncate(text, width, "…"); got != want {
						t.Errorf("Truncate(%q, %d) = %q, want %q", text, width, got, want)
					}
				}
			}
		}
		c.EndFrame()
	}
	for _, f := range []struct{ first, last, want int }{{0, 10, 10}, {0, 10, 0}, {5, 12, 2}, {5, 12, 0}, {0, 12, 5}} {
		measured = 0
		if frame(f.first, f.last); measured != f.want {
			t.Errorf("texts %d to %d: %d measured, want %d", f.first, f.last, measured, f.want)
		}
	}
}
