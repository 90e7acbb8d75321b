package overlay

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// Text shows lines to read and scroll.
type Text struct {
	reading
	title string
	keys  map[string]bool
	hint  string
}

// NewText makes an overlay of lines that are safe to show.
func NewText(title string, lines []string) *Text {
	return &Text{title: title, reading: reading{lines: lines}}
}

// WithKeys lets keys choose; hint names them in the last line.
func (t *Text) WithKeys(hint string, keys ...string) *Text {
	t.hint, t.keys = hint, map[string]bool{}
	for _, k := range keys {
		t.keys[k] = true
	}
	return t
}

// SetLines shows other lines, at the same place.
func (t *Text) SetLines(lines []string) { t.set(lines) }

// Hints implements hinter.
func (t *Text) Hints() string { return "↑ ↓ scroll · esc closes" }

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

// Size implements Overlay.
func (t *Text) Size(w, h int) (int, int) {
	const least = 40 // a short line
	widest := min(t.widest(max(least, ansi.StringWidth(t.hint))), w*9/10)
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
	lines := t.show(w, rows)
	if t.hint == "" {
		return lines
	}
	for len(lines) < rows+1 {
		lines = append(lines, "")
	}
	return append(lines, st.Overlay.Muted.Render(strings.TrimSpace(t.hint)))
}
