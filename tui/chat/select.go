package chat

import (
	"cmp"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// Unit is what a selection grows by.
type Unit int

// The units: a click and drag selects characters, a double click words, a triple
// click lines as they were before they were broken for the width.
const (
	Character Unit = iota
	Word
	Line
)

// position is a cell of a part as it is drawn.
type position struct {
	seq              int64
	part, line, cell int
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.seq, q.seq), cmp.Compare(p.part, q.part), cmp.Compare(p.line, q.line), cmp.Compare(p.cell, q.cell))
}

// stretch is what stands between two positions, without the cell of the second.
type stretch struct{ from, to position }

// selection is what the pointer selects: everything from one stretch to another.
type selection struct {
	anchor, head stretch
	unit         Unit
	begun        bool // a button is down, or was
	some         bool // there is something between them
}

// SelectStart begins a selection at a cell of what View drew last. With Word and
// Line it selects one at once; with Character nothing until SelectTo. It reports
// whether there is any text to select.
func (v *View) SelectStart(x, y int, u Unit) bool {
	v.sel = selection{}
	at, ok := v.stretchAt(x, y, u)
	if ok {
		v.sel = selection{anchor: at, head: at, unit: u, begun: true, some: u != Character}
	}
	return ok
}

// SelectTo extends the selection to a cell, which may lie outside of the view: then
// it is the nearest one inside. Call it when the pointer moves with the button
// down, and after scrolling meanwhile.
func (v *View) SelectTo(x, y int) {
	if !v.sel.begun {
		return
	}
	if v.height > 0 { // the rows of before scrolling would lead astray
		v.list.View(v.inner(), v.height)
	}
	if at, ok := v.stretchAt(x, y, v.sel.unit); ok {
		v.sel.head = at
		v.sel.some = v.sel.some || at != v.sel.anchor
	}
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

// ClearSelection ends the selection.
func (v *View) ClearSelection() { v.sel = selection{} }

// HasSelection reports whether anything is selected.
func (v *View) HasSelection() bool {
	_, ok := v.selected()
	return ok
}

// selected is the selection from its first to its last cell. There is none when
// one of its ends is gone.
func (v *View) selected() (s stretch, ok bool) {
	s = v.sel.anchor
	if h := v.sel.head; h.from.compare(s.from) < 0 {
		s.from = h.from
	}
	if h := v.sel.head; h.to.compare(s.to) > 0 {
		s.to = h.to
	}
	return s, v.sel.some && v.exists(s.from) && v.exists(s.to) && s.from.compare(s.to) < 0
}

// exists reports whether a position is in the conversation still.
func (v *View) exists(p position) bool {
	if _, ok := v.src.find(p.seq); !ok {
		return false
	}
	it, known := v.src.items[p.seq]
	return !known || !it.loaded || p.part < len(it.parts)
}

// SelectionText is the selected text as it is drawn, without bars, indents and
// padding, and without the line breaks of the width. Parts are set apart by a
// blank line. Pairs that are not loaded are not in it: see SelectionMissing.
func (v *View) SelectionText() string {
	sel, ok := v.selected()
	if !ok {
		return ""
	}
	first, _ := v.src.find(sel.from.seq)
	last, _ := v.src.find(sel.to.seq)
	var texts []string
	for i := first; i <= last; i++ {
		it, known := v.src.items[v.src.refs[i].Seq]
		if !known || !it.loaded {
			continue
		}
		it.Lines(v.inner())
		for n := range it.parts {
			if text := strings.Trim(it.copied(n, sel), "\n"); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return safetext.Clean(strings.Join(texts, "\n\n"))
}

// copied is what sel holds of part n.
func (it *item) copied(n int, sel stretch) string {
	var b strings.Builder
	begun := false
	for y := range it.partHeight(n) {
		from, to, j := it.cellsOf(n, y, sel)
		switch {
		case from > to:
			continue
		case begun && j.Soft && j.Space:
			b.WriteByte(' ')
		case begun && !j.Soft:
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(textwidth.Cut(it.line(n, y), from, to), " "))
		begun = true
	}
	return b.String()
}

// cellsOf are the cells of line y of part n that sel holds, as far as they show
// text; from is greater than to when sel does not reach the line.
func (it *item) cellsOf(n, y int, sel stretch) (from, to int, j markdown.Joint) {
	j = it.jointOf(n, y)
	begin, end := position{it.seq, n, y, 0}, position{it.seq, n, y, math.MaxInt}
	if end.compare(sel.from) < 0 || begin.compare(sel.to) > 0 {
		return 1, 0, j
	}
	lead, width := it.textOf(n, y)
	from, to = lead, width
	if begin.compare(sel.from) < 0 {
		from = min(max(lead, sel.from.cell), width)
	}
	if end.compare(sel.to) > 0 {
		to = min(max(lead, sel.to.cell), width)
	}
	return from, to, j
}

// textOf are the cells of line y of part n where the text begins and ends.
func (it *item) textOf(n, y int) (from, to int) {
	to = ansi.StringWidth(strings.TrimRight(it.line(n, y), " "))
	return min(int(it.jointOf(n, y).Lead), to), to
}

// jointOf is how line y of part n is joined to the one above it.
func (it *item) jointOf(n, y int) markdown.Joint {
	if it.joints == nil {
		it.joints = map[int][]markdown.Joint{}
	}
	joints, ok := it.joints[n] // as long as the lines
	if !ok {
		joints = it.parts[n].joined()
		it.joints[n] = joints
	}
	if y < len(joints) {
		return joints[y]
	}
	return markdown.Joint{Lead: notCopied}
}

// partHeight is how many lines part n has, as drawn last.
func (it *item) partHeight(n int) int {
	switch {
	case n >= len(it.starts):
		return 0
	case n+1 < len(it.starts):
		return it.starts[n+1] - it.starts[n]
	}
	return len(it.lines) - it.starts[n]
}

// line is line y of part n, without styles; "" where there is none.
func (it *item) line(n, y int) string {
	if y >= it.partHeight(n) {
		return ""
	}
	return ansi.Strip(it.lines[it.starts[n]+y])
}

// SelectionMissing names the pairs of the selection that are not loaded.
func (v *View) SelectionMissing() []int64 {
	sel, ok := v.selected()
	if !ok {
		return nil
	}
	first, _ := v.src.find(sel.from.seq)
	last, _ := v.src.find(sel.to.seq)
	var out []int64
	for i := first; i <= last; i++ {
		if it, known := v.src.items[v.src.refs[i].Seq]; !known || !it.loaded && !it.running {
			out = append(out, v.src.refs[i].Seq)
		}
	}
	return out
}

// stretchAt is the character, word or line on a cell. Beside a text it is the
// nearest place of the line; where there is no text, the beginning of what
// follows, or the end of what stands above.
func (v *View) stretchAt(x, y int, u Unit) (stretch, bool) {
	y, x = max(0, min(y, v.height-1)), x-v.gutter()
	if it, n, line, ok := v.textAt(y); ok {
		return it.unitAt(n, line, x, u), true
	}
	for below := y + 1; below < v.height; below++ {
		if it, n, line, ok := v.textAt(below); ok {
			return it.unitAt(n, line, -1, u), true
		}
	}
	for above := y - 1; above >= 0; above-- {
		if it, n, line, ok := v.textAt(above); ok {
			return it.unitAt(n, line, math.MaxInt, u), true
		}
	}
	return stretch{}, false
}

// textAt is the part, and the line of it, that row y shows text of.
func (v *View) textAt(y int) (it *item, n, line int, ok bool) {
	i, line, ok := v.list.ItemAt(y)
	if !ok {
		return nil, 0, 0, false
	}
	it = v.src.item(v.src.refs[i].Seq)
	if n, line, ok = it.partOf(line); !ok {
		return nil, 0, 0, false
	}
	from, to := it.textOf(n, line)
	return it, n, line, from < to
}

// partOf is the part that a line of the pair belongs to, and which of its lines it
// is; ok is false above the first part.
func (it *item) partOf(line int) (n, at int, ok bool) {
	if len(it.starts) == 0 || line < it.starts[0] || line >= len(it.lines) {
		return 0, 0, false
	}
	n = it.partAt(line)
	return n, line - it.starts[n], true
}

// unitAt is the unit at column x of a line, or the nearest place.
func (it *item) unitAt(n, line, x int, u Unit) stretch {
	at := func(line, cell int) position { return position{it.seq, n, line, cell} }
	from, to := it.textOf(n, line)
	if u == Line {
		first, last := line, line
		for it.jointOf(n, first).Soft {
			first--
		}
		for it.jointOf(n, last+1).Soft {
			last++
		}
		begin, _ := it.textOf(n, first)
		_, end := it.textOf(n, last)
		return stretch{at(first, begin), at(last, end)}
	}
	chars := characters(it.line(n, line))
	i, hit := 0, false
	for i = range chars {
		if c := chars[i]; c.at >= from && x < c.at+c.width {
			hit = x >= c.at
			break
		}
	}
	switch {
	case !hit && x >= to:
		if u == Character {
			return stretch{at(line, to), at(line, to)}
		}
	case !hit && u == Character:
		return stretch{at(line, from), at(line, from)}
	}
	a, b := i, i+1
	if u == Word {
		a, b = wordAround(chars, i)
	}
	return stretch{at(line, max(from, chars[a].at)), at(line, chars[b-1].at+chars[b-1].width)}
}

// character is one on a line, from the cell where it stands.
type character struct {
	text      string
	at, width int
}

func characters(line string) []character {
	var all []character
	at := 0
	for state := byte(0); line != ""; {
		text, width, n, next := markdown.Character(line, state)
		if width > 0 {
			all = append(all, character{text, at, width})
		}
		at, line, state = at+width, line[n:], next
	}
	return all
}

// wordAround are the first character of the word that holds character i, and the
// one after its last; i alone where there is none.
func wordAround(chars []character, i int) (from, to int) {
	from, to = i, i+1
	if !isWord(chars[i].text) {
		return from, to
	}
	for from > 0 && isWord(chars[from-1].text) {
		from--
	}
	for to < len(chars) && isWord(chars[to].text) {
		to++
	}
	for to > i+1 && strings.Contains(".:?", chars[to-1].text) {
		to--
	}
	return from, to
}

// isWord reports whether a character belongs to words: letters, digits, and what
// addresses, paths and the names of models are made of.
func isWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:@%~+#?&=", r)
}

// markSelected draws what is selected of a row, which shows a line of the pair at i.
func (v *View) markSelected(row string, i, line int, sel stretch) string {
	it := v.src.item(v.src.refs[i].Seq)
	n, y, ok := it.partOf(line)
	if !ok {
		return row
	}
	from, to, _ := it.cellsOf(n, y, sel)
	if from >= to {
		return row
	}
	st := v.look.st.Chat.Selected
	if _, user := it.parts[n].(*userPart); user {
		st = v.look.st.Chat.SelectedUser
	}
	return textwidth.Cut(row, 0, from) + paint(st, ansi.Strip(textwidth.Cut(row, from, to))) + textwidth.Cut(row, to, ansi.StringWidth(row))
}

// paint is text in a style. lipgloss underlines rune by rune, which takes
// characters of several runes apart.
func paint(st lipgloss.Style, text string) string {
	before, after, _ := strings.Cut(st.Render("x"), "x")
	return before + text + after
}
