package tui

import (
	"errors"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/filter"
	"winnow/assistant/safetext"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// textLine is a line of text in the footer: the filter line, the search.
type textLine struct {
	textline.Editor
	active  bool
	hint    string // what the text would do, or what is wrong with it
	wrong   bool
	column  int      // where it is wrong, from 1; 0 is nowhere
	history []string // lines that were applied, oldest first
	cleared string   // the newest line that was cleared since
	place   int      // in past; len(past) is the line being written
	written string   // the line being written, while place is another
	offers  completions
}

const (
	maxLine  = 4000 // cells of the longest text that one key or paste inserts
	lineGaps = 3    // cells around the hint behind a line
)

func (t *textLine) open(text string) {
	*t = textLine{active: true, history: t.history, cleared: t.cleared}
	t.place = len(t.past())
	t.Set(text)
}

// setHint shows what the line would do; fail shows what is wrong with it.
func (t *textLine) setHint(hint string) { t.hint, t.wrong, t.column = hint, false, 0 }

func (t *textLine) fail(err error) {
	t.hint, t.wrong, t.column = sentence(err), true, 0
	var at *filter.Error
	if errors.As(err, &at) {
		t.column = at.Column
	}
}

// walk shows an earlier or a later line of the history; it reports whether there
// is one.
func (t *textLine) walk(step int) bool {
	at, past := t.place+step, t.past()
	if at < 0 || at > len(past) {
		return false
	}
	if t.place == len(past) {
		t.written = t.Text()
	}
	t.place = at
	t.Set(append(past[:len(past):len(past)], t.written)[at])
	return true
}

// past is what walk goes through, the newest last.
func (t *textLine) past() []string {
	if t.cleared == "" || len(t.history) > 0 && t.history[len(t.history)-1] == t.cleared {
		return t.history
	}
	return append(t.history[:len(t.history):len(t.history)], t.cleared)
}

// remember adds a line that was applied to the history.
func (t *textLine) remember(line string) {
	if line != "" && (len(t.history) == 0 || t.history[len(t.history)-1] != line) {
		t.history = append(t.history, line)
	}
	t.cleared = ""
}

// clear empties the line; walk brings back what was typed.
func (t *textLine) clear() {
	t.cleared = t.Text()
	t.place = len(t.past())
	t.Set("")
}

// key edits the line; it reports whether the text changed.
func (t *textLine) key(name, text string) bool {
	before := t.Text()
	if !t.Key(name) {
		t.Insert(safetext.Line(text, maxLine))
	}
	return t.Text() != before
}

// room divides w cells between the line and the hint behind it: the line has at
// least half of them.
func (t *textLine) room(label string, w int) (room int, hint string) {
	if !t.wrong {
		hint = textwidth.Truncate(oneLine(t.hint), max(0, w/2-lineGaps), "…")
	}
	return max(8, w-ansi.StringWidth(label)-ansi.StringWidth(hint)-lineGaps), hint
}

// view draws the line in w cells with its cursor in sight. mark draws the rune
// that is wrong; the cell behind the text stands for what is missing.
func (t *textLine) view(w int, mark func(string) string) string {
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
	return textwidth.Cut(body, 0, left) + mark(orElse(textwidth.Cut(body, left, left+wide), " ")) + textwidth.Cut(body, left+wide, w)
}
