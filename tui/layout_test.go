package tui

import (
	"image"
	"testing"
)

func TestArrangeCoversTheScreen(t *testing.T) {
	for w := minWidth; w <= 220; w += 7 {
		for h := minHeight; h <= 70; h += 3 {
			for _, rows := range []int{0, 1, 3, 9, 500} {
				for _, show := range []panes{bothPanes, paneFirst, chatOnly} {
					checkLayout(t, w, h, rows, show)
				}
			}
		}
	}
}

func checkLayout(t *testing.T, w, h, rows int, show panes) {
	t.Helper()
	l := arrange(w, h, rows, show)
	parts := []image.Rectangle{l.header, l.chat, l.pane, l.input, l.footer}
	area := 0
	for i, p := range parts {
		if p.Dx() < 0 || p.Dy() < 0 || !p.In(image.Rect(0, 0, w, h)) {
			t.Fatalf("arrange(%d, %d, %d, %d): part %d is %v", w, h, rows, show, i, p)
		}
		area += p.Dx() * p.Dy()
		for j, q := range parts[:i] {
			if p.Overlaps(q) {
				t.Fatalf("arrange(%d, %d, %d, %d): parts %d and %d overlap: %v %v", w, h, rows, show, j, i, q, p)
			}
		}
	}
	if area != w*h {
		t.Fatalf("arrange(%d, %d, %d, %d) covers %d cells of %d", w, h, rows, show, area, w*h)
	}
	if got := l.input.Dy() - inputFrame; got < minInput || (got > minInput && got > h/3) {
		t.Fatalf("arrange(%d, %d, %d, %d): the input has %d lines", w, h, rows, show, got)
	}
}

func TestArrange(t *testing.T) {
	for name, c := range map[string]struct {
		w, h       int
		show       panes
		small      bool
		chat, pane bool
	}{
		"too narrow":          {39, 40, bothPanes, true, false, false},
		"too low":             {80, 11, bothPanes, true, false, false},
		"narrow":              {80, 24, bothPanes, false, true, false},
		"narrow with pane":    {80, 24, paneFirst, false, false, true},
		"wide":                {120, 40, bothPanes, false, true, true},
		"wide, pane in focus": {120, 40, paneFirst, false, true, true},
		"wide without window": {120, 40, chatOnly, false, true, false},
	} {
		l := arrange(c.w, c.h, 3, c.show)
		if l.small != c.small || (l.chat.Dx() > 0) != c.chat || (l.pane.Dx() > 0) != c.pane {
			t.Errorf("%s: arrange(%d, %d) = small %v, chat %v, pane %v", name, c.w, c.h, l.small, l.chat, l.pane)
		}
	}
}
