package tui

import (
	"image"
	"testing"
)

func TestArrangeCoversTheScreen(t *testing.T) {
	for w := minWidth; w <= 220; w += 7 {
		for h := minHeight; h <= 70; h += 3 {
			for _, rows := range []int{0, 1, 3, 9, 500} {
				for _, show := range []panesShown{bothPanes, paneFirst, chatOnly, paneOnly} {
					for _, hud := range []hudShown{hudUndocked, hudDocked, hudFocused} {
						checkLayout(t, w, h, rows, show, hud)
					}
				}
			}
		}
	}
}

func checkLayout(t *testing.T, w, h, rows int, show panesShown, hud hudShown) {
	t.Helper()
	l := arrange(w, h, rows, show, hud)
	parts := []image.Rectangle{l.Header, l.Chat, l.Pane, l.HUD, l.Input, l.Footer, l.Divider}
	area := 0
	for i, p := range parts {
		if p.Dx() < 0 || p.Dy() < 0 || !p.In(image.Rect(0, 0, w, h)) {
			t.Fatalf("Arrange(%d, %d, %d, %d, %d): part %d is %v", w, h, rows, show, hud, i, p)
		}
		area += p.Dx() * p.Dy()
		for j, q := range parts[:i] {
			if p.Overlaps(q) {
				t.Fatalf("Arrange(%d, %d, %d, %d, %d): parts %d and %d overlap: %v %v", w, h, rows, show, hud, j, i, q, p)
			}
		}
	}
	if area != w*h {
		t.Fatalf("Arrange(%d, %d, %d, %d, %d) covers %d cells of %d", w, h, rows, show, hud, area, w*h)
	}
	if got := l.Input.Dy() - inputFrame; got < minInput || (got > minInput && got > h/3) {
		t.Fatalf("Arrange(%d, %d, %d, %d, %d): the input has %d lines", w, h, rows, show, hud, got)
	}
}

func TestArrange(t *testing.T) {
	for name, c := range map[string]struct {
		w, h       int
		show       panesShown
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
		"wide, pane full":     {120, 40, paneOnly, false, false, true},
		"narrow, pane full":   {80, 24, paneOnly, false, false, true},
	} {
		l := arrange(c.w, c.h, 3, c.show, hudUndocked)
		if l.Small != c.small || (l.Chat.Dx() > 0) != c.chat || (l.Pane.Dx() > 0) != c.pane {
			t.Errorf("%s: Arrange(%d, %d) = small %v, chat %v, pane %v", name, c.w, c.h, l.Small, l.Chat, l.Pane)
		}
	}
}

func TestTheHUDHasItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		w, h            int
		show            panesShown
		docked, focused bool
		chat, pane, hud image.Rectangle
	}{
		"wide":                  {120, 40, bothPanes, true, false, image.Rect(0, 1, 71, 35), image.Rect(72, 1, 120, 18), image.Rect(72, 18, 120, 35)},
		"wide with focus":       {120, 40, bothPanes, true, true, image.Rect(0, 1, 71, 35), image.Rect(72, 1, 120, 18), image.Rect(72, 18, 120, 35)},
		"wide without a pane":   {120, 40, chatOnly, true, false, image.Rect(0, 1, 71, 35), image.Rectangle{}, image.Rect(72, 1, 120, 35)},
		"narrow":                {80, 24, bothPanes, true, false, image.Rect(0, 1, 80, 13), image.Rectangle{}, image.Rect(0, 13, 80, 19)},
		"narrow below the pane": {80, 24, paneFirst, true, false, image.Rectangle{}, image.Rect(0, 1, 80, 13), image.Rect(0, 13, 80, 19)},
		"narrow with focus":     {80, 24, bothPanes, true, true, image.Rectangle{}, image.Rectangle{}, image.Rect(0, 1, 80, 19)},
		"small":                 {40, 12, bothPanes, true, false, image.Rect(0, 1, 40, 7), image.Rectangle{}, image.Rectangle{}},
		"small with focus":      {40, 12, bothPanes, true, true, image.Rectangle{}, image.Rectangle{}, image.Rect(0, 1, 40, 7)},
		"low":                   {40, 14, bothPanes, true, false, image.Rect(0, 1, 40, 6), image.Rectangle{}, image.Rect(0, 6, 40, 9)},
		"undocked":              {80, 24, bothPanes, false, true, image.Rect(0, 1, 80, 19), image.Rectangle{}, image.Rectangle{}},
	} {
		l := arrange(c.w, c.h, 3, c.show, hudAs(c.docked, c.focused))
		for part, is := range map[string][2]image.Rectangle{"chat": {l.Chat, c.chat}, "pane": {l.Pane, c.pane}, "HUD": {l.HUD, c.hud}} {
			if got, want := is[0], is[1]; got != want && !(got.Empty() && want.Empty()) {
				t.Errorf("%s: the %s is at %v, want %v", name, part, got, want)
			}
		}
	}
}
