package chat

import (
	"cmp"
	"math"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// Unit is what a selection grows by.
type Unit int

// The units: a click and drag takes characters, a double click words, a triple
// click lines, which are whole paragraphs of an answer, lines of code and rows of
// tables.
const (
	Character Unit = iota
	Word
	Line
)

// spot is a stretch of the text of a part. Where the pointer is beside the text,
// it is empty.
type spot struct {
	seq      int64
	part     int
	from, to int
}

// selection is what the pointer takes: everything between two spots.
type selection struct {
	anchor, head spot
	unit         Unit
	begun        bool // a button is down, or was
	taken        bool // there is something between the spots
}

// SelectStart begins a selection at a cell of what View drew last. With Word and
// Line it takes one at once; with Character nothing until SelectTo. It reports
// whether there is any text to select.
func (v *View) SelectStart(x, y int, u Unit) bool {
	at, ok := v.spotAt(x, y)
	v.sel = selection{}
	if !ok {
		return false
	}
	at = v.widen(at, u)
	v.sel = selection{anchor: at, head: at, unit: u, begun: true, taken: u != Character}
	return true
}

// SelectTo takes the selection to a cell, which may lie outside of the view: then
// it is the nearest one inside. Call it when the pointer moves with the button
// down, and after scrolling meanwhile.
func (v *View) SelectTo(x, y int) {
	if !v.sel.begun {
		return
	}
	v.redraw() // the rows of before scrolling would lead astray
	at, ok := v.spotAt(x, y)
	if !ok {
		return
	}
	v.sel.head = v.widen(at, v.sel.unit)
	v.sel.taken = v.sel.taken || v.sel.head != v.sel.anchor
}

// SelectEdge is by how many lines to scroll while the pointer is held at row y: 0
// inside the view, more the further away it is.
func (v *View) SelectEdge(y int) int {
	switch {
	case y < 0:
		return max(y, -fastestEdge)
	case y >= v.height:
		return min(y-v.height+1, fastestEdge)
	}
	return 0
}

// fastestEdge is how many lines a pointer outside scrolls at most.
const fastestEdge = 6

// ClearSelection takes the selection away.
func (v *View) ClearSelection() { v.sel = selection{} }

// HasSelection says whether anything is selected.
func (v *View) HasSelection() bool {
	_, _, ok := v.selected()
	return ok
}

// SelectionText is what is selected: the Markdown of answers, the words of the
// user, the input and output of open tool cards, without the line breaks of the
// width, frames and padding. Parts are set apart by a blank line. Folded content
// is not in it. Pairs that are not loaded are not either: see SelectionMissing.
func (v *View) SelectionText() string {
	from, to, ok := v.selected()
	if !ok {
		return ""
	}
	first, _ := v.src.find(from.seq)
	last, _ := v.src.find(to.seq)
	var texts []string
	for i := first; i <= last; i++ {
		it, known := v.src.items[v.src.refs[i].Seq]
		if !known || !it.loaded {
			continue
		}
		it.Lines(v.inner())
		for n, p := range it.parts {
			if a, b, ok := v.stretchOf(i, n); ok {
				b = min(b, p.shows())
				if text := strings.Trim(p.taken(a, b, v.sel.unit == Line), "\n"); text != "" {
					texts = append(texts, text)
				}
			}
		}
	}
	return safetext.Clean(strings.Join(texts, "\n\n"))
}

// SelectionMissing names the pairs of the selection that are not loaded.
func (v *View) SelectionMissing() []int64 {
	from, to, ok := v.selected()
	if !ok {
		return nil
	}
	first, _ := v.src.find(from.seq)
	last, _ := v.src.find(to.seq)
	var out []int64
	for i := first; i <= last; i++ {
		if it, known := v.src.items[v.src.refs[i].Seq]; !known || !it.loaded && !it.running {
			out = append(out, v.src.refs[i].Seq)
		}
	}
	return out
}

// selected are the first and the last spot of the selection. It is gone when one
// of its ends is.
func (v *View) selected() (from, to spot, ok bool) {
	if !v.sel.taken || !v.there(v.sel.anchor) || !v.there(v.sel.head) {
		return from, to, false
	}
	from, to = v.sel.anchor, v.sel.head
	if compare(to, from) < 0 {
		from, to = to, from
	}
	if from.seq == to.seq && from.part == to.part {
		from.to = max(from.to, to.to) // what is taken ends where the later one ends
		to.to = from.to
	}
	return from, to, from.seq != to.seq || from.part != to.part || from.from < to.to
}

func compare(a, b spot) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.part, b.part), cmp.Compare(a.from, b.from))
}

// there says whether a spot still is in the conversation.
func (v *View) there(s spot) bool {
	if _, ok := v.src.find(s.seq); !ok {
		return false
	}
	it, known := v.src.items[s.seq]
	return !known || !it.loaded || s.part < len(it.parts)
}

// stretchOf is what the selection takes of part n of the pair at i.
func (v *View) stretchOf(i, n int) (a, b int, ok bool) {
	from, to, ok := v.selected()
	if !ok {
		return 0, 0, false
	}
	at := spot{seq: v.src.refs[i].Seq, part: n}
	begin := cmp.Or(cmp.Compare(at.seq, from.seq), cmp.Compare(at.part, from.part))
	end := cmp.Or(cmp.Compare(at.seq, to.seq), cmp.Compare(at.part, to.part))
	if begin < 0 || end > 0 {
		return 0, 0, false
	}
	b = math.MaxInt
	if begin == 0 {
		a = from.from
	}
	if end == 0 {
		b = to.to
	}
	return a, b, true
}

// widen makes a spot the word or line that it is in.
func (v *View) widen(s spot, u Unit) spot {
	if u == Character {
		return s
	}
	it := v.src.item(s.seq)
	at := s.from
	if s.from == s.to && s.from > 0 && at >= it.parts[s.part].shows() {
		at-- // behind the end
	}
	s.from, s.to = it.parts[s.part].unit(at, u)
	return s
}

// redraw lets the list find out again what is on which row.
func (v *View) redraw() {
	if v.height > 0 {
		v.list.View(v.inner(), v.height)
	}
}

// spotAt is what a cell shows. Beside a text it is the nearest place of the line;
// where there is no text, the beginning of what follows, or the end of what
// stands above.
func (v *View) spotAt(x, y int) (spot, bool) {
	y = max(0, min(y, v.height-1))
	x -= v.gutter()
	if s, glyphs, ok := v.textAt(y); ok {
		return nearest(s, glyphs, x), true
	}
	for below := y + 1; below < v.height; below++ {
		if s, glyphs, ok := v.textAt(below); ok {
			s.from, s.to = glyphs[0].Start, glyphs[0].Start
			return s, true
		}
	}
	for above := y - 1; above >= 0; above-- {
		if s, glyphs, ok := v.textAt(above); ok {
			end := glyphs[len(glyphs)-1].End
			s.from, s.to = end, end
			return s, true
		}
	}
	return spot{}, false
}

// nearest is the character at column x of a line, or the nearest place.
func nearest(s spot, glyphs []markdown.Glyph, x int) spot {
	for _, g := range glyphs {
		switch {
		case x < g.X:
			s.from, s.to = g.Start, g.Start
			return s
		case x < g.X+g.Width:
			s.from, s.to = g.Start, g.End
			return s
		}
	}
	end := glyphs[len(glyphs)-1].End
	s.from, s.to = end, end
	return s
}

// textAt is the part that row y shows text of, and the text.
func (v *View) textAt(y int) (spot, []markdown.Glyph, bool) {
	i, line, ok := v.list.ItemAt(y)
	if !ok {
		return spot{}, nil, false
	}
	n, glyphs := v.glyphs(i, line)
	return spot{seq: v.src.refs[i].Seq, part: n}, glyphs, len(glyphs) > 0
}

// glyphs are the characters on a line of the pair at i, and their part.
func (v *View) glyphs(i, line int) (part int, glyphs []markdown.Glyph) {
	it := v.src.item(v.src.refs[i].Seq)
	part = -1
	for n, start := range it.starts {
		if line >= start {
			part = n
		}
	}
	if part < 0 {
		return 0, nil
	}
	return part, it.parts[part].glyphs(line-it.starts[part], v.inner())
}

// markSelected draws what is selected of a row, which shows a line of the pair at i.
func (v *View) markSelected(row string, i, line int) string {
	n, glyphs := v.glyphs(i, line)
	a, b, ok := v.stretchOf(i, n)
	if !ok || len(glyphs) == 0 {
		return row
	}
	st := v.look.st.Chat.Selected
	if _, user := v.src.item(v.src.refs[i].Seq).parts[n].(*userPart); user {
		st = v.look.st.Chat.SelectedUser
	}
	width := ansi.StringWidth(row)
	for k := 0; k < len(glyphs); k++ {
		if !inside(glyphs[k], a, b) {
			continue
		}
		end := k
		for end+1 < len(glyphs) && inside(glyphs[end+1], a, b) && glyphs[end+1].X == glyphs[end].X+glyphs[end].Width {
			end++
		}
		from, to := glyphs[k].X, min(glyphs[end].X+glyphs[end].Width, width)
		if from < to {
			row = textwidth.Cut(row, 0, from) + paint(st, ansi.Strip(textwidth.Cut(row, from, to))) + textwidth.Cut(row, to, width)
		}
		k = end
	}
	return row
}

// paint is text in a style. lipgloss underlines rune by rune, which takes
// characters of several runes apart.
func paint(st lipgloss.Style, text string) string {
	before, after, _ := strings.Cut(st.Render("x"), "x")
	return before + text + after
}

// inside says whether a selection from a to b takes a character.
func inside(g markdown.Glyph, a, b int) bool { return g.Start < b && g.End > a }
