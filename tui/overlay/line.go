package overlay

import (
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/style"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// lineLimit bounds what can be typed into a Line, in cells.
const lineLimit = 400

// Line asks for a line of text. Enter chooses it, Esc closes.
type Line struct {
	title, hint string
	text        textline.Editor
	room        int // cells of the text, as drawn last
}

// NewLine asks for a line that begins as text; hint stands below it.
func NewLine(title, text, hint string) *Line {
	l := &Line{title: title, hint: hint}
	l.text.Set(safetext.Line(text, lineLimit))
	return l
}

// Title implements Overlay.
func (l *Line) Title() string { return l.title }

// Key implements Overlay.
func (l *Line) Key(name, text string) Outcome {
	switch name {
	case "esc":
		return Closed{}
	case "enter":
		if l.text.Empty() {
			return Stay{}
		}
		return Chosen{Value: l.text.Text(), Key: name}
	}
	if l.text.Key(name) {
		return Stay{}
	}
	return l.Paste(text)
}

// Paste implements Overlay.
func (l *Line) Paste(text string) Outcome {
	if room := lineLimit - ansi.StringWidth(l.text.Text()); room > 0 {
		l.text.Insert(safetext.Line(text, room))
	}
	return Stay{}
}

// Click implements Overlay: there is nothing to choose.
func (l *Line) Click(int) Outcome { return Stay{} }

// Scroll implements Overlay: there is one line.
func (l *Line) Scroll(int) {}

// Size implements Overlay.
func (l *Line) Size(w, _ int) (int, int) {
	const least = 48 // a path of a few names
	return min(max(least, ansi.StringWidth(l.text.Text())+1, ansi.StringWidth(l.hint)), w*9/10), 3
}

// Cursor implements Overlay.
func (l *Line) Cursor() (x, y int, ok bool) {
	_, at := l.text.Scroll(l.room)
	return at, 0, true
}

// Body implements Overlay.
func (l *Line) Body(w, _ int, st style.Styles) []string {
	l.room = w
	return []string{st.Overlay.Text.Render(l.text.View(w)), "", st.Overlay.Muted.Render(textwidth.Truncate(l.hint, w, st.Icons.Ellipsis))}
}
