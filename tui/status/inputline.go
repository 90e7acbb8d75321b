package status

import (
	"cmp"
	"errors"
	"strings"

	"winnow/assistant/filter"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// InputLine is a text line with a hint: what the text would do, or what is wrong with it.
// The zero value is empty and not active.
type InputLine struct {
	overlay.HistoryEditor
	Active bool          // the line receives the keys
	Hint   safetext.Text // what the text would do or, if Wrong is set, what is wrong with it
	Wrong  bool
	Column int // column of the error, from 1; 0 if unknown
}

const (
	maxInsert = 4000 // maximum cells of a text that one key or paste inserts
	maxHint   = 500  // maximum cells of a hint
	hintGap   = 3    // cells around a hint that follows the line
)

// Open activates the line and sets its text.
func (t *InputLine) Open(text string) {
	*t = InputLine{HistoryEditor: t.HistoryEditor, Active: true}
	t.Begin(text)
}

// SetHint shows what the text of the line would do.
func (t *InputLine) SetHint(hint safetext.Text) { t.Hint, t.Wrong, t.Column = hint, false, 0 }

// Fail shows what is wrong with the line: the first line of the error, sanitised.
func (t *InputLine) Fail(err error) {
	first, _, _ := strings.Cut(err.Error(), "\n")
	t.Hint, t.Wrong, t.Column = safetext.Line(first, maxHint), true, 0
	var at *filter.Error
	if errors.As(err, &at) {
		t.Column = at.Column
	}
}

// Edit carries out an action of the mode [keymap.Editing]; if a is not such an action, Edit
// inserts text. It reports whether the line changed.
func (t *InputLine) Edit(a keymap.Action, text string) bool {
	before := t.Text()
	if !t.Do(a) {
		t.Insert(string(safetext.Line(text, maxInsert)))
	}
	return t.Text() != before
}

// Room returns how many of w cells the line gets next to its label and its hint, and the hint
// cut to about half of the cells. An error is not such a hint: hint is then "".
func (t *InputLine) Room(label string, w int) (room int, hint string) {
	if !t.Wrong {
		hint = style.Truncate(string(t.Hint), max(0, w/2-hintGap), "…")
	}
	return max(8, w-style.Width(label)-style.Width(hint)-hintGap), hint
}

// Draw draws the line in w cells, scrolled to its cursor. mark styles the rune at Column or,
// if something is missing at the end, the cell after the text.
func (t *InputLine) Draw(w int, mark func(string) string) string {
	body := t.View(w)
	if t.Column == 0 {
		return body
	}
	shift, _ := t.Scroll(w)
	runes := []rune(t.Text())
	from := min(t.Column-1, len(runes))
	left, wide := style.Width(string(runes[:from]))-shift, 1
	if from < len(runes) {
		wide = max(1, style.Width(string(runes[from])))
	}
	if left < 0 || left+wide > w {
		return body
	}
	return style.Cut(body, 0, left) + mark(cmp.Or(style.Cut(body, left, left+wide), " ")) + style.Cut(body, left+wide, w)
}
