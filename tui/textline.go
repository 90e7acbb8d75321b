package tui

import (
	"cmp"
	"errors"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/filter"
	"winnow/assistant/safetext"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// footerLine is a line of text in the footer: the filter line, the search.
type footerLine struct {
	textline.Line
	active bool
	hint   string // what the text would do, or what is wrong with it
	wrong  bool
	column int // where it is wrong, from 1; 0 is nowhere
}

const (
	maxInsert = 4000 // cells of the longest text that one key or paste inserts
	hintGap   = 3    // cells around the hint after a line
)

func (t *footerLine) open(text string) {
	*t = footerLine{Line: t.Line, active: true}
	t.Begin(text)
}

// setHint shows what the line would do; fail shows what is wrong with it.
func (t *footerLine) setHint(hint string) { t.hint, t.wrong, t.column = hint, false, 0 }

func (t *footerLine) fail(err error) {
	t.hint, t.wrong, t.column = sentence(err), true, 0
	var at *filter.Error
	if errors.As(err, &at) {
		t.column = at.Column
	}
}

// key edits the line; it reports whether the text changed.
func (t *footerLine) key(name, text string) bool {
	before := t.Text()
	if !t.Key(name) {
		t.Insert(safetext.Line(text, maxInsert))
	}
	return t.Text() != before
}

// room divides w cells between the line and the hint behind it: the line has at
// least half of them.
func (t *footerLine) room(label string, w int) (room int, hint string) {
	if !t.wrong {
		hint = textwidth.Truncate(oneLine(t.hint), max(0, w/2-hintGap), "…")
	}
	return max(8, w-ansi.StringWidth(label)-ansi.StringWidth(hint)-hintGap), hint
}

// view draws the line in w cells around its cursor. mark draws the wrong rune, or the
// cell after the text when something is missing.
func (t *footerLine) view(w int, mark func(string) string) string {
	body := t.View(w)
	if t.column == 0 {
		return body
	}
	shift, _ := t.Scroll(w)
	runes := []rune(t.Text())
	from := min(t.column-1, len(runes))
	left, wide := ansi.StringWidth(string(runes[:from]))-shift, 1
	if from < len(runes) {
		wide = max(1, ansi.StringWidth(string(runes[from])))
	}
	if left < 0 || left+wide > w {
		return body
	}
	return textwidth.Cut(body, 0, left) + mark(cmp.Or(textwidth.Cut(body, left, left+wide), " ")) + textwidth.Cut(body, left+wide, w)
}
