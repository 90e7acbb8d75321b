package rules

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// editor is a line of text with a cursor. The zero value is empty.
type editor struct {
	runes []rune
	at    int // the cursor stands before this one
}

// set replaces the text and puts the cursor at its end.
func (e *editor) set(text string) {
	e.runes = []rune(text)
	e.at = len(e.runes)
}

func (e *editor) text() string { return string(e.runes) }

// key takes a key and says whether the text is another now.
func (e *editor) key(name, text string, most int) bool {
	before := len(e.runes)
	switch name {
	case "left":
		e.at = max(0, e.at-1)
	case "right":
		e.at = min(len(e.runes), e.at+1)
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.runes)
	case "backspace":
		e.cut(max(0, e.at-1))
	case "delete":
		if e.at < len(e.runes) {
			e.at++
			e.cut(e.at - 1)
		}
	case "ctrl+u":
		e.cut(0)
	case "ctrl+w":
		e.cut(e.wordStart())
	default:
		e.insert(text, most)
	}
	return len(e.runes) != before
}

// cut removes what stands between from and the cursor.
func (e *editor) cut(from int) {
	e.runes = append(e.runes[:from:from], e.runes[e.at:]...)
	e.at = from
}

// wordStart is where the word before the cursor begins. Patterns have no
// spaces, so the signs that divide ids end a word as well.
func (e *editor) wordStart() int {
	i := e.at
	for i > 0 && !unicode.IsLetter(e.runes[i-1]) && !unicode.IsDigit(e.runes[i-1]) {
		i--
	}
	for i > 0 && (unicode.IsLetter(e.runes[i-1]) || unicode.IsDigit(e.runes[i-1])) {
		i--
	}
	return i
}

// insert puts text at the cursor, as much of it as fits into most characters.
// Line ends become spaces, other control characters are left out; what else is
// hidden stays, and is shown.
func (e *editor) insert(text string, most int) {
	var in []rune
	for _, r := range strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text) {
		if !unicode.IsControl(r) && len(e.runes)+len(in) < most {
			in = append(in, r)
		}
	}
	e.runes = append(e.runes[:e.at:e.at], append(in, e.runes[e.at:]...)...)
	e.at += len(in)
}

// view draws the line in w cells with the cursor as a reversed cell; the text
// moves so that the cursor is always seen.
func (e *editor) view(w int, in *paint) string {
	if w <= 0 {
		return ""
	}
	under, rest := " ", ""
	if e.at < len(e.runes) {
		under, rest = shown(string(e.runes[e.at])), shown(string(e.runes[e.at+1:]))
	}
	if ansi.StringWidth(under) > w {
		under = " "
	}
	room := w - ansi.StringWidth(under)
	left := shown(string(e.runes[:e.at]))
	if over := ansi.StringWidth(left) - room; over > 0 {
		left = fit(ansi.TruncateLeft(left, over, ""), room, "")
	}
	rest = fit(rest, room-ansi.StringWidth(left), "")
	return in.Text.on(left) + in.Cursor.on(under) + in.Text.on(rest)
}
