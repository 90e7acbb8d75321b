package tui

import (
	"errors"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/filter"
	"winnow/assistant/safetext"
	"winnow/tui/cells"
)

// textLine is a line of text with a cursor: the filter line, the search.
type textLine struct {
	runes   []rune
	at      int // of the cursor
	active  bool
	hint    string // what the text would do, or what is wrong with it
	wrong   bool
	column  int // where it is wrong, from 1; 0 is nowhere
	history []string
	place   int // in history; len(history) is the line being written
	kept    string
	offers  offers
}

func (t *textLine) text() string { return string(t.runes) }

func (t *textLine) open(text string) {
	*t = textLine{active: true, history: t.history, place: len(t.history)}
	t.set(text)
}

func (t *textLine) set(text string) { t.runes = []rune(text); t.at = len(t.runes) }

// say tells what the line would do; fail tells what is wrong with it.
func (t *textLine) say(hint string) { t.hint, t.wrong, t.column = hint, false, 0 }

func (t *textLine) fail(err error) {
	t.hint, t.wrong, t.column = sentence(err), true, 0
	var at *filter.Error
	if errors.As(err, &at) {
		t.column = at.Column
	}
}

// walk goes to an earlier or a later line of the history; it reports whether
// there is one.
func (t *textLine) walk(step int) bool {
	at := t.place + step
	if at < 0 || at > len(t.history) {
		return false
	}
	if t.place == len(t.history) {
		t.kept = t.text()
	}
	t.place = at
	if at == len(t.history) {
		t.set(t.kept)
	} else {
		t.set(t.history[at])
	}
	return true
}

// remember keeps a line that worked, as the newest.
func (t *textLine) remember(line string) {
	if line != "" && (len(t.history) == 0 || t.history[len(t.history)-1] != line) {
		t.history = append(t.history, line)
	}
}

// key edits the line; it reports whether the text changed.
func (t *textLine) key(name, text string) bool {
	before := t.text()
	switch name {
	case "left":
		t.at = max(0, t.at-1)
	case "right":
		t.at = min(len(t.runes), t.at+1)
	case "home", "ctrl+a":
		t.at = 0
	case "end", "ctrl+e":
		t.at = len(t.runes)
	case "backspace", "ctrl+h":
		if t.at > 0 {
			t.runes = append(t.runes[:t.at-1:t.at-1], t.runes[t.at:]...)
			t.at--
		}
	case "delete":
		if t.at < len(t.runes) {
			t.runes = append(t.runes[:t.at:t.at], t.runes[t.at+1:]...)
		}
	case "ctrl+u":
		t.runes, t.at = t.runes[t.at:], 0
	case "ctrl+k":
		t.runes = t.runes[:t.at]
	case "ctrl+w":
		from := strings.LastIndexByte(strings.TrimRight(string(t.runes[:t.at]), " "), ' ') + 1
		head := []rune(string(t.runes[:t.at])[:from])
		t.runes, t.at = append(head, t.runes[t.at:]...), len(head)
	default:
		if add := []rune(safetext.Line(text, maxLine)); len(add) > 0 {
			t.runes = append(t.runes[:t.at:t.at], append(add, t.runes[t.at:]...)...)
			t.at += len(add)
		}
	}
	return t.text() != before
}

// maxLine is the longest text that one key or paste puts into a line, in cells.
const maxLine = 4000

// put replaces the runes from up to to by text, and sets the cursor behind it.
func (t *textLine) put(from, to int, text string) {
	head := append(append([]rune(nil), t.runes[:from]...), []rune(text)...)
	t.at = len(head)
	t.runes = append(head, t.runes[to:]...)
}

// scroll is how many cells of the line are left of a window of w cells that
// shows the cursor, and in which cell of the window the cursor is.
func (t *textLine) scroll(w int) (shift, cursor int) {
	head := ansi.StringWidth(string(t.runes[:t.at]))
	shift = max(0, head-w+1)
	return shift, head - shift
}

// view draws the line in w cells with its cursor in sight. mark draws the rune
// that is wrong; the cell behind the text stands for what is missing.
func (t *textLine) view(w int, mark func(string) string) string {
	shift, _ := t.scroll(w)
	body := cells.Cut(t.text(), shift, shift+w)
	if t.column == 0 {
		return body
	}
	from := min(t.column-1, len(t.runes))
	left, wide := ansi.StringWidth(string(t.runes[:from]))-shift, 1
	if from < len(t.runes) {
		wide = max(1, ansi.StringWidth(string(t.runes[from])))
	}
	if left < 0 || left+wide > w {
		return body
	}
	sign := cells.Cut(body, left, left+wide)
	if sign == "" {
		sign = " "
	}
	return cells.Cut(body, 0, left) + mark(sign) + cells.Cut(body, left+wide, w)
}
