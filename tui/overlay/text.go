package overlay

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// Text shows lines to read and scroll.
type Text struct {
	title string
	lines []string // sanitised; may hold our own styles
	drawn []string // the lines, wrapped for a width
	width int      // of drawn; 0 is not drawn
	top   int
	rows  int // as drawn last
	keys  map[string]bool
	hint  string
}

// NewText makes an overlay of lines that are safe to show.
func NewText(title string, lines []string) *Text { return &Text{title: title, lines: lines} }

// WithKeys lets keys choose; hint names them in the last line.
func (t *Text) WithKeys(hint string, keys ...string) *Text {
	t.hint, t.keys = hint, map[string]bool{}
	for _, k := range keys {
		t.keys[k] = true
	}
	return t
}

// SetLines shows other lines, at the same place.
func (t *Text) SetLines(lines []string) { t.lines, t.width = lines, 0 }

// Place implements placer: the last line on the screen, of how many.
func (t *Text) Place() string {
	if t.rows <= 0 || len(t.drawn) <= t.rows {
		return ""
	}
	return fmt.Sprintf("%d/%d", min(t.top+t.rows, len(t.drawn)), len(t.drawn))
}

// Hints implements hinter.
func (t *Text) Hints() string { return "↑ ↓ scroll · esc closes" }

// wrapped are the lines at a width: nothing that there is to read is cut off.
func (t *Text) wrapped(w int) []string {
	if t.width != w {
		t.drawn, t.width = t.drawn[:0], w
		for _, l := range t.lines {
			t.drawn = append(t.drawn, wrapLine(l, w)...)
		}
	}
	return t.drawn
}

// Title implements Overlay.
func (t *Text) Title() string { return t.title }

// Key implements Overlay.
func (t *Text) Key(name, _ string) Outcome {
	if t.keys[name] {
		return Chosen{Value: name, Key: name}
	}
	switch name {
	case "esc", "q", "enter":
		return Closed{}
	case "up", "k", "ctrl+p":
		t.top--
	case "down", "j", "ctrl+n":
		t.top++
	case "pgup", "ctrl+u":
		t.top -= max(1, t.rows-1)
	case "pgdown", "ctrl+d", "space":
		t.top += max(1, t.rows-1)
	case "home", "g":
		t.top = 0
	case "end", "G":
		t.top = len(t.drawn)
	}
	return Stay{}
}

// Paste implements Overlay.
func (t *Text) Paste(string) {}

// Click implements Overlay: there is nothing to choose.
func (t *Text) Click(int) Outcome { return Stay{} }

// Scroll implements Overlay.
func (t *Text) Scroll(n int) { t.top += n }

// Size implements Overlay.
func (t *Text) Size(w, h int) (int, int) {
	widest := 40
	for _, l := range t.lines {
		widest = max(widest, ansi.StringWidth(l))
	}
	widest = min(max(widest, ansi.StringWidth(t.hint)), w*9/10)
	rows := len(t.wrapped(widest))
	if t.hint != "" {
		rows += 2
	}
	return widest, min(rows, h*9/10)
}

// Cursor implements Overlay.
func (t *Text) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Body implements Overlay.
func (t *Text) Body(w, h int, st style.Styles) []string {
	rows := h
	if t.hint != "" {
		rows -= 2
	}
	t.rows = rows
	all := t.wrapped(w)
	t.top = min(max(t.top, 0), max(0, len(all)-rows))
	lines := append([]string(nil), all[t.top:min(len(all), t.top+rows)]...)
	if t.hint == "" {
		return lines
	}
	for len(lines) < rows+1 {
		lines = append(lines, "")
	}
	return append(lines, st.Overlay.Muted.Render(strings.TrimSpace(t.hint)))
}
