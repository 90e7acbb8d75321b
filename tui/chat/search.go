package chat

import (
	"regexp"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/markup"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// search is the search in the conversation: without regard to case, over what
// the pairs in view say and have done.
type search struct {
	needle string
	match  *regexp.Regexp // nil: nothing is searched for
	at     hitLocation    // of the hit that was gone to last
}

// hitLocation is a line of a pair. A line of firstHit or lastHit is not known yet: the
// pair is not loaded.
type hitLocation struct {
	seq  int64 // 0 is none
	line int
}

const (
	firstHit = -1
	lastHit  = -2
)

// Hit says where a search has led: the Nth of so many pairs that contain the text.
type Hit struct{ Nth, Of int }

// Search looks for a text; "" ends the search.
func (v *View) Search(needle string) {
	v.search = search{needle: needle}
	if needle != "" {
		v.search.match = regexp.MustCompile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(needle, "\ufffd")))
	}
}

// Searching is the text that is searched for.
func (v *View) Searching() string { return v.search.needle }

// NextFound goes to the next line that contains the text, or the one before, and
// round at the end; ok is false when there is none. stored names, of the pairs
// that are not loaded, those that contain it, sorted.
func (v *View) NextFound(back bool, stored []int64) (hit Hit, ok bool) {
	pairs := v.matchingPairs(stored)
	if len(pairs) == 0 {
		return Hit{}, false
	}
	here := v.searchStart()
	if line, in := v.nextHitInPair(here, back); in {
		v.goToHit(hitLocation{here.seq, line})
	} else {
		i, in := slices.BinarySearch(pairs, here.seq)
		line := firstHit
		switch {
		case back:
			i, line = i-1, lastHit
		case in:
			i++
		}
		v.goToHit(hitLocation{pairs[(i+len(pairs))%len(pairs)], line})
	}
	nth, _ := slices.BinarySearch(pairs, v.search.at.seq)
	return Hit{nth + 1, len(pairs)}, true
}

// matchingPairs are the visible pairs that contain the text.
func (v *View) matchingPairs(stored []int64) []int64 {
	var out []int64
	if v.search.match == nil {
		return nil
	}
	contains := func(p part) bool { return v.search.match.MatchString(p.source()) }
	for _, r := range v.src.refs {
		found := false
		if it := v.src.loaded(r.Seq); it != nil {
			found = slices.ContainsFunc(it.parts, contains)
		} else {
			_, found = slices.BinarySearch(stored, r.Seq)
		}
		if found {
			out = append(out, r.Seq)
		}
	}
	return out
}

// searchStart is where the search goes on from: the last hit as long as its pair has
// the focus, else before the focused pair, else before what is on the screen.
func (v *View) searchStart() hitLocation {
	i := v.list.Focused()
	if i < 0 {
		i, _ = v.list.Visible()
	}
	if i < 0 {
		return hitLocation{line: -1}
	}
	if seq := v.src.ID(i); seq != v.search.at.seq {
		return hitLocation{seq, -1}
	}
	return v.search.at
}

// nextHitInPair is the next line that contains the text in the same pair.
func (v *View) nextHitInPair(from hitLocation, back bool) (line int, ok bool) {
	hits := v.hitLines(from.seq)
	if back {
		slices.Reverse(hits)
	}
	for _, line := range hits {
		if !back && line > from.line || back && line < from.line {
			return line, true
		}
	}
	return 0, false
}

// goToHit shows a hit in the middle. Of a pair that is not loaded it shows the
// beginning until Load.
func (v *View) goToHit(at hitLocation) {
	v.search.at = at
	v.JumpTo(at.seq)
	if hits := v.hitLines(at.seq); at.line < 0 && len(hits) > 0 {
		if v.search.at.line = hits[0]; at.line == lastHit {
			v.search.at.line = hits[len(hits)-1]
		}
	}
	if line := v.search.at.line; line >= 0 {
		i, _ := v.src.Index(at.seq)
		n, _, _ := v.src.at(i).partAt(line)
		v.focusOn(i, n)
		v.list.ScrollTo(i, line, v.height/2)
	}
}

// hitLines are the lines of a pair, as drawn now, that contain the text; none when
// it is not loaded. A closed part that contains it is opened; one that contains it
// in no single line, as where it is wrapped, counts with its first.
func (v *View) hitLines(seq int64) (out []int) {
	it := v.src.loaded(seq)
	if it == nil {
		return nil
	}
	match := v.search.match.MatchString
	for _, p := range it.parts {
		if !p.state().open && match(p.source()) {
			p.state().setOpen(true)
			it.changed()
		}
	}
	it.layOutAll(v.innerWidth())
	for k, p := range it.parts {
		first, last := it.lineRange(k)
		before := len(out)
		for n := first; n <= last; n++ {
			if match(it.plainLine(n)) {
				out = append(out, n)
			}
		}
		if len(out) == before && match(p.source()) {
			out = append(out, first)
		}
	}
	return out
}

// highlight shows the hits in a drawn line. It takes the one style it needs, since
// it is called for each line of each frame.
func (s *search) highlight(row string, found *lipgloss.Style) string {
	if s.match == nil {
		return row
	}
	plain := ansi.Strip(row)
	hits := s.match.FindAllStringIndex(plain, -1)
	if len(hits) == 0 {
		return row
	}
	var b strings.Builder
	cell := 0 // up to where the row is drawn
	for _, at := range hits {
		begin := ansi.StringWidth(plain[:at[0]])
		hit := plain[at[0]:at[1]]
		b.WriteString(textwidth.Cut(row, cell, begin) + paint(*found, hit))
		cell = begin + ansi.StringWidth(hit)
	}
	return b.String() + textwidth.Cut(row, cell, ansi.StringWidth(row))
}

// UserText is the first line of the user's message in a pair; "" when the pair
// is not loaded.
func (v *View) UserText(seq int64) string {
	if it := v.src.loaded(seq); it != nil {
		return firstLine(it.pair.UserText)
	}
	return ""
}

// Answer is the text of the focused pair's answer as the model wrote it, without
// markers; of a running pair what has come so far.
func (v *View) Answer() (string, bool) {
	it := v.focused()
	if it == nil || !it.loaded {
		return "", false
	}
	var texts []string
	for _, p := range it.answerParts() {
		if t, ok := p.(*textPart); ok {
			texts = append(texts, strings.TrimSpace(t.source()))
		}
	}
	return strings.Join(texts, "\n\n"), true
}

// Markdown is the whole focused pair as Markdown; of a running one what has come so far.
func (v *View) Markdown() (string, bool) {
	it := v.focused()
	if it == nil || !it.loaded {
		return "", false
	}
	texts := []string{"**You:** " + it.pair.UserText, "**" + oneLine(it.pair.Model) + ":**"}
	for _, p := range it.answerParts() {
		switch p := p.(type) {
		case *toolCard:
			texts = append(texts, "> `"+p.call.Name+" "+string(p.call.Arguments)+"`: "+firstLine(p.message()))
		case *textPart:
			texts = append(texts, strings.TrimSpace(p.source()))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n")) + "\n", true
}

// answerParts are the texts and the tool cards of an answer, in order.
func (it *item) answerParts() (all []part) {
	if it.running { // the pair does not have them yet
		for _, p := range it.parts {
			switch p.(type) {
			case *textPart, *toolCard:
				all = append(all, p)
			}
		}
		return all
	}
	cards := toolCards(it.pair)
	for _, piece := range markup.Pieces(it.pair.AssistantText, len(cards)) {
		if piece.Call >= 0 {
			all = append(all, cards[piece.Call])
		} else {
			all = append(all, newTextPart(piece.Text, it.rc.md))
		}
	}
	return all
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
			out = append(out, t.code()...)
		}
	}
	return out
}
