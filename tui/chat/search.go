package chat

import (
	"slices"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// search is the search in the conversation: without regard to case, over what
// the pairs in view say and have done.
type search struct {
	needle []rune // lower case; none: nothing is searched for
	at     place  // of the hit that was gone to last
}

// place is a line of a pair. A line of firstHit or lastHit is not known yet: the
// pair is not loaded.
type place struct {
	seq  int64 // 0 is none
	line int
}

const (
	firstHit = -1
	lastHit  = -2
)

// Hit says where a search has led: the Nth of so many pairs that hold the text.
type Hit struct{ Nth, Of int }

// Search looks for a text; "" ends the search.
func (v *View) Search(needle string) { v.found = search{needle: lower(needle)} }

// Searching says what is searched for, in lower case.
func (v *View) Searching() string { return string(v.found.needle) }

// NextFound goes to the next line that holds the text, or the one before, and
// round at the end; ok is false when there is none. Of a pair that is not
// loaded, stored tells: the sorted Seqs of those that hold it.
func (v *View) NextFound(back bool, stored []int64) (hit Hit, ok bool) {
	holding := v.holding(stored)
	if len(holding) == 0 {
		return Hit{}, false
	}
	here := v.here()
	if line, in := v.hitFrom(here, back); in {
		v.goToHit(place{here.seq, line})
	} else {
		v.goToHit(place{seq: beside(holding, here.seq, back), line: end(back)})
	}
	nth, _ := slices.BinarySearch(holding, v.found.at.seq)
	return Hit{nth + 1, len(holding)}, true
}

// holding are the visible pairs that hold the text.
func (v *View) holding(stored []int64) []int64 {
	if len(v.found.needle) == 0 {
		return nil
	}
	var out []int64
	for _, r := range v.src.refs {
		it := v.src.items[r.Seq]
		if it != nil && it.loaded {
			if it.holds(v.found.needle) {
				out = append(out, r.Seq)
			}
		} else if _, kept := slices.BinarySearch(stored, r.Seq); kept {
			out = append(out, r.Seq)
		}
	}
	return out
}

// here is where the search goes on from: the last hit as long as its pair has
// the focus, else before the focused pair, else before what is on the screen.
func (v *View) here() place {
	i := v.list.Focused()
	if i < 0 {
		i, _ = v.list.Visible()
	}
	if i < 0 || i >= v.Len() {
		return place{line: -1}
	}
	if seq := v.src.refs[i].Seq; seq != v.found.at.seq {
		return place{seq, -1}
	}
	return v.found.at
}

// hitFrom is the next line that holds the text in the same pair.
func (v *View) hitFrom(from place, back bool) (line int, ok bool) {
	it := v.src.items[from.seq]
	if it == nil || !it.loaded {
		return 0, false
	}
	hits := v.hitLines(it)
	if back {
		slices.Reverse(hits)
	}
	for _, line := range hits {
		if (!back && line > from.line) || (back && line < from.line) {
			return line, true
		}
	}
	return 0, false
}

// beside is the Seq in holding after seq, or before it, and round at the end.
func beside(holding []int64, seq int64, back bool) int64 {
	i, in := slices.BinarySearch(holding, seq)
	switch {
	case back:
		i--
	case in:
		i++
	}
	return holding[(i+len(holding))%len(holding)]
}

// end is which hit of a pair one meets first.
func end(back bool) int {
	if back {
		return lastHit
	}
	return firstHit
}

// goToHit shows a hit in the middle. Of a pair that is not loaded it shows the
// beginning until Load.
func (v *View) goToHit(at place) {
	v.found.at = at
	v.Aim(at.seq)
	it := v.src.items[at.seq]
	if it == nil || !it.loaded {
		return
	}
	if hits := v.hitLines(it); at.line < 0 && len(hits) > 0 {
		v.found.at.line = hits[0]
		if at.line == lastHit {
			v.found.at.line = hits[len(hits)-1]
		}
	}
	v.showLine(at.seq, v.found.at.line)
}

// showLine puts a line of a pair into the middle of the screen and gives its
// part the focus.
func (v *View) showLine(seq int64, line int) {
	i, ok := v.src.find(seq)
	if !ok || line < 0 {
		return
	}
	v.focus = v.src.items[seq].partAt(line)
	v.list.Focus(i)
	v.list.ScrollTo(i, false)
	v.list.ScrollBy(line - v.height/2)
}

// hitLines are the lines of a loaded pair, as drawn now, that hold the text. A
// closed part that holds it is opened; one that holds it in no single line, as
// where it is wrapped, counts with its first.
func (v *View) hitLines(it *item) []int {
	width := v.inner()
	it.Lines(width)
	for _, p := range it.parts {
		if open, _ := p.folded(); !open && contains(p.source(), v.found.needle) && p.fold(false) {
			it.bump()
		}
	}
	lines := it.Lines(width)
	var out []int
	for k, p := range it.parts {
		last := len(lines)
		if k+1 < len(it.starts) {
			last = it.starts[k+1]
		}
		before := len(out)
		for n := it.starts[k]; n < last; n++ {
			if contains(ansi.Strip(lines[n]), v.found.needle) {
				out = append(out, n)
			}
		}
		if len(out) == before && contains(p.source(), v.found.needle) {
			out = append(out, it.starts[k])
		}
	}
	return out
}

// partAt is the part that a line of the pair belongs to.
func (it *item) partAt(line int) int {
	at := 0
	for n, start := range it.starts {
		if line >= start {
			at = n
		}
	}
	return at
}

func (it *item) holds(needle []rune) bool {
	return slices.ContainsFunc(it.parts, func(p part) bool { return contains(p.source(), needle) })
}

// lower is a text rune by rune in lower case: as many runes as it has.
func lower(s string) []rune {
	out := []rune(s)
	for i, r := range out {
		out[i] = unicode.ToLower(r)
	}
	return out
}

func contains(text string, needle []rune) bool { return indexRunes(lower(text), needle) >= 0 }

// indexRunes is where needle begins in text, or -1.
func indexRunes(text, needle []rune) int {
	for i := 0; i+len(needle) <= len(text); i++ {
		if slices.Equal(text[i:i+len(needle)], needle) {
			return i
		}
	}
	return -1
}

// mark shows the hits in a drawn line. The styles are many, and it is called for
// each line of each frame: it takes the one it needs.
func (s *search) mark(row string, found *lipgloss.Style) string {
	if len(s.needle) == 0 {
		return row
	}
	plain := []rune(ansi.Strip(row))
	text := lower(string(plain))
	var b strings.Builder
	cell, from := 0, 0 // up to where the row is drawn, in cells and in runes
	for {
		n := indexRunes(text[from:], s.needle)
		if n < 0 {
			break
		}
		begin := cell + ansi.StringWidth(string(plain[from:from+n]))
		hit := string(plain[from+n : from+n+len(s.needle)])
		b.WriteString(textwidth.Cut(row, cell, begin) + paint(*found, hit))
		cell, from = begin+ansi.StringWidth(hit), from+n+len(s.needle)
	}
	if from == 0 {
		return row
	}
	return b.String() + textwidth.Cut(row, cell, ansi.StringWidth(row))
}

// UserText is the first line of what the user said in a pair; "" when the pair
// is not loaded.
func (v *View) UserText(seq int64) string {
	if it := v.src.items[seq]; it != nil && it.loaded {
		return firstLine(it.pair.UserText)
	}
	return ""
}

// Answer is the text of the focused pair's answer, without markers; the whole
// logical text, never what is on the screen.
func (v *View) Answer() (string, bool) {
	p, ok := v.Focused()
	if !ok {
		return "", false
	}
	return answerText(p), true
}

func answerText(p assistant.Pair) string {
	var parts []string
	for _, piece := range assistant.Pieces(p.AssistantText, len(cardsOf(p))) {
		if piece.Call < 0 {
			parts = append(parts, strings.TrimSpace(piece.Text))
		}
	}
	return strings.Join(parts, "\n\n")
}

// Markdown is the whole focused pair as Markdown.
func (v *View) Markdown() (string, bool) {
	p, ok := v.Focused()
	if !ok {
		return "", false
	}
	var b strings.Builder
	b.WriteString("**You:** " + p.UserText + "\n\n**" + p.Model + ":**\n\n")
	cards := cardsOf(p)
	for _, piece := range assistant.Pieces(p.AssistantText, len(cards)) {
		if piece.Call >= 0 {
			c := cards[piece.Call]
			b.WriteString("> `" + c.name + " " + string(c.input) + "`: " + firstLine(c.message) + "\n\n")
			continue
		}
		b.WriteString(strings.TrimSpace(piece.Text) + "\n\n")
	}
	return strings.TrimSpace(b.String()) + "\n", true
}

// Code lists the code blocks of the focused pair.
func (v *View) Code() []markdown.Code {
	it := v.focused()
	if it == nil {
		return nil
	}
	var out []markdown.Code
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			out = append(out, t.doc().Code()...)
		}
	}
	return out
}
