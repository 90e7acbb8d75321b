package overlay

import (
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// maxLine is the maximum width of the text in a Line, in cells; minLine is its minimum
// width on the screen, enough for a short path.
const (
	maxLine = 400
	minLine = 48
)

// Line asks for a line of text.
type Line struct {
	title, hint string
	keys        *keymap.Map
	text        Editor
	width       int // width of the text when last drawn
}

// NewLine asks for a line of text. It starts with text and shows hint below the line.
func NewLine(title safetext.Text, text string, hint safetext.Text) *Line {
	l := &Line{title: string(title), hint: string(hint)}
	l.text.Set(string(safetext.Line(text, maxLine)))
	return l
}

// Escape implements Overlay.
func (l *Line) Escape() Outcome { return Closed{} }

// SetKeys implements Overlay.
func (l *Line) SetKeys(keys *keymap.Map) { l.keys = keys }

// Title implements Overlay.
func (l *Line) Title() string { return l.title }

// Key implements Overlay.
func (l *Line) Key(name keymap.Key, text string) Outcome {
	switch a := l.keys.Action(keymap.Line, name); {
	case a == keymap.LineClose:
		return Closed{}
	case a == keymap.LineAccept && !l.text.Empty():
		return Chosen{Value: l.text.Text(), Action: a}
	case a == keymap.LineAccept, l.text.Do(l.keys.Action(keymap.Editing, name)):
	default:
		if room := maxLine - style.Width(l.text.Text()); room > 0 {
			l.text.Insert(string(safetext.Line(text, room)))
		}
	}
	return Stay{}
}

// Click implements Overlay. There is nothing to choose.
func (l *Line) Click(int) Outcome { return Stay{} }

// Scroll implements Overlay. There is only one line.
func (l *Line) Scroll(int) {}

// Position implements Overlay.
func (l *Line) Position() string { return "" }

// Hints implements Overlay.
func (l *Line) Hints() string {
	return l.keys.Hints(keymap.Line, keymap.To("accepts", keymap.LineAccept), keymap.To("closes", keymap.LineClose))
}

// Size implements Overlay.
func (l *Line) Size(w, _ int) (int, int) {
	w = min(max(minLine, style.Width(l.text.Text())+1, style.Width(l.hint)), w*9/10)
	return w, 2 + len(hintLines(l.hint, w, style.Styles{}))
}

// Cursor implements Overlay.
func (l *Line) Cursor() (x, y int, ok bool) {
	_, x = l.text.Scroll(l.width)
	return x, 0, true
}

// Body implements Overlay.
func (l *Line) Body(w, _ int, st style.Styles) []string {
	l.width = w
	return append([]string{st.Overlay.Text.Render(l.text.View(w)), ""}, hintLines(l.hint, w, st)...)
}
