package rules

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// editor is the line that is typed, or what the pane offers in its place.
type editor struct {
	textline.Editor
	offered bool // nobody typed the text: the first character that is typed takes its place
}

// Set replaces the text and puts the cursor at its end.
func (e *editor) Set(text string) {
	e.Editor.Set(text)
	e.offered = false
}

// offer sets a text that can be taken as it is, edited, or typed over.
func (e *editor) offer(text string) {
	e.Set(text)
	e.offered = text != ""
}

// key takes a key and says whether the text is another now.
func (e *editor) key(name, text string, most int) bool {
	before := e.Text()
	in := printed(text)
	switch {
	case e.Key(name):
		e.offered = false
	case len(in) > 0:
		return e.insert(in, most)
	}
	return e.Text() != before
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
		e.Set("")
	}
	in = in[:min(len(in), max(0, most-e.Len()))]
	e.Insert(string(in))
	return was || len(in) > 0
}

// view draws the line in w cells with the cursor as a reversed cell; the text
// moves so that the cursor is always seen.
func (e *editor) view(w int, in *paint) string {
	if w <= 0 {
		return ""
	}
	before, after := e.Split()
	under, rest := " ", ""
	if after != "" {
		first, _ := ansi.FirstGraphemeCluster(after, ansi.GraphemeWidth)
		under, rest = shown(first), shown(after[len(first):])
	}
	if ansi.StringWidth(under) > w {
		under = " "
	}
	room := w - ansi.StringWidth(under)
	left := shown(before)
	if over := ansi.StringWidth(left) - room; over > 0 {
		left = fit(textwidth.TruncateLeft(left, over, ""), room, "")
	}
	rest = fit(rest, room-ansi.StringWidth(left), "")
	text := in.Text
	if e.offered {
		text = in.Offered
	}
	return text.on(left) + in.Cursor.on(under) + in.Text.on(rest)
}
