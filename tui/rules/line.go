package rules

import (
	"strings"
	"unicode"

	"winnow/tui/cells"

	"github.com/charmbracelet/x/ansi"
)

// editor is a line of text with a cursor. The zero value is empty.
type editor struct {
	runes   []rune
	at      int  // the cursor stands before this one
	offered bool // nobody typed the text: the first character that is typed takes its place
}

// set replaces the text and puts the cursor at its end.
func (e *editor) set(text string) {
	e.runes = []rune(text)
	e.at = len(e.runes)
	e.offered = false
}

// offer sets a text that can be taken as it is, edited, or typed over.
func (e *editor) offer(text string) {
	e.set(text)
	e.offered = text != ""
}

// prepend puts text before the text; the cursor stays where it is in that.
func (e *editor) prepend(text string) {
	e.runes = append([]rune(text), e.runes...)
	e.at += len([]rune(text))
}

func (e *editor) text() string { return string(e.runes) }

// key takes a key and says whether the text is another now.
func (e *editor) key(name, text string, most int) bool {
	before := len(e.runes)
	edits := true
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
		if in := printed(text); len(in) > 0 {
			return e.insert(in, most)
		}
		edits = false
	}
	e.offered = e.offered && !edits
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

// printed are the characters of a key or a paste that a line takes. Line ends
// become spaces, other control characters are left out; what else is hidden
// stays, and is shown.
func printed(text string) []rune {
	var in []rune
	for _, r := range strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text) {
		if !unicode.IsControl(r) {
			in = append(in, r)
		}
	}
	return in
}

// insert puts characters at the cursor, or in the place of what was offered, as
// many as fit into most. It says whether the text is another now.
func (e *editor) insert(in []rune, most int) bool {
	was := e.offered
	if was {
		e.set("")
	}
	in = in[:min(len(in), max(0, most-len(e.runes)))]
	e.runes = append(e.runes[:e.at:e.at], append(in, e.runes[e.at:]...)...)
	e.at += len(in)
	return was || len(in) > 0
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
		left = fit(cells.TruncateLeft(left, over, ""), room, "")
	}
	rest = fit(rest, room-ansi.StringWidth(left), "")
	text := in.Text
	if e.offered {
		text = in.Offered
	}
	return text.on(left) + in.Cursor.on(under) + in.Text.on(rest)
}
