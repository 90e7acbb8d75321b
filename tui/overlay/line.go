package overlay

import (
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/cells"
	"winnow/tui/style"
)

// lineLimit bounds what can be typed into a Line, in cells.
const lineLimit = 400

// Line asks for a line of text. Enter chooses it, Esc closes.
type Line struct {
	title, hint string
	text        []rune
}

// NewLine asks for a line that begins as text; hint stands below it.
func NewLine(title, text, hint string) *Line {
	return &Line{title: title, hint: hint, text: []rune(safetext.Line(text, lineLimit))}
}

// Title implements Overlay.
func (l *Line) Title() string { return l.title }

// Key implements Overlay.
func (l *Line) Key(name, text string) Outcome {
	switch name {
	case "esc":
		return Closed{}
	case "enter":
		if len(l.text) == 0 {
			return Stay{}
		}
		return Chosen{Value: string(l.text), Key: name}
	case "backspace", "ctrl+h":
		if n := len(l.text); n > 0 {
			l.text = l.text[:n-1]
		}
	case "ctrl+u":
		l.text = nil
	default:
		l.Paste(text)
	}
	return Stay{}
}

// Paste implements Overlay.
func (l *Line) Paste(text string) {
	if room := lineLimit - ansi.StringWidth(string(l.text)); room > 0 {
		l.text = append(l.text, []rune(safetext.Line(text, room))...)
	}
}

// Click implements Overlay: there is nothing to choose.
func (l *Line) Click(int) Outcome { return Stay{} }

// Scroll implements Overlay: there is one line.
func (l *Line) Scroll(int) {}

// Size implements Overlay.
func (l *Line) Size(w, _ int) (int, int) {
	const least = 48 // a path of a few names
	return min(max(least, ansi.StringWidth(string(l.text))+1, ansi.StringWidth(l.hint)), w*9/10), 3
}

// Cursor implements Overlay.
func (l *Line) Cursor() (x, y int, ok bool) { return ansi.StringWidth(string(l.text)), 0, true }

// Body implements Overlay.
func (l *Line) Body(w, _ int, st style.Styles) []string {
	text := string(l.text)
	if over := ansi.StringWidth(text) - w + 1; over > 0 {
		text = cells.TruncateLeft(text, over+1, st.Icons.Ellipsis)
	}
	return []string{st.Overlay.Text.Render(text), "", st.Overlay.Muted.Render(cells.Truncate(l.hint, w, st.Icons.Ellipsis))}
}
