package chat

import (
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/markup"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// search is the search in the conversation. It ignores case and covers what the visible
// pairs contain.
type search struct {
	needle  string
	find    markdown.Needle // empty if there is no search
	at      hitLocation     // the current hit
	goingOn bool            // the hit after at is unknown until its pair is laid out by the next frames
	back    bool            // search for the previous hit instead
}

// hitLocation is a line of a pair.
type hitLocation struct {
	seq  int64 // 0 if none
	line int   // beforeFirst and afterLast are outside the pair's lines
}

const (
	beforeFirst = -1
	afterLast   = math.MaxInt
)

// Hit is the position of the current hit: the Nth of Of pairs that contain the text.
type Hit struct{ Nth, Of int }

// Search searches for a text; "" ends the search.
func (v *View) Search(needle string) {
	v.search = search{needle: needle, find: markdown.NewNeedle(needle)}
}

// Searching returns the current search text.
func (v *View) Searching() string { return v.search.needle }

// NextFound goes to the next line that contains the text, or the previous one, and wraps
// around at the ends; ok is false if there is none. stored contains the pairs with the text
// that are not loaded, sorted.
func (v *View) NextFound(back bool, stored []int64) (hit Hit, ok bool) {
	pairs := v.matchingPairs(stored)
	if len(pairs) == 0 {
		return Hit{}, false
	}
	v.rc.budget = frameBudget
	here := v.searchStart()
	if v.search.goingOn {
		here.line = v.search.at.line
	}
	line, in, known := v.nextHitInPair(here, back)
	switch i, at := slices.BinarySearch(pairs, here.seq); {
	case !known:
		v.search.at, v.search.goingOn, v.search.back = here, true, back
	case in:
		v.goToHit(hitLocation{here.seq, line})
	case back:
		v.enterPair(pairs[(i-1+len(pairs))%len(pairs)], back)
	default:
		if at {
			i++
		}
		v.enterPair(pairs[i%len(pairs)], back)
	}
	nth, _ := slices.BinarySearch(pairs, v.search.at.seq)
	return Hit{nth + 1, len(pairs)}, true
}

// enterPair goes to the first or last hit of a pair. If the pair is not loaded or laid out
// yet, it shows its start until it is.
func (v *View) enterPair(seq int64, back bool) {
	v.search.at, v.search.back, v.search.goingOn = hitLocation{seq, beforeFirst}, back, true
	if back {
		v.search.at.line = afterLast
	}
	v.JumpTo(seq)
	v.goOn()
}

// goOn goes to the pending hit as soon as it is known.
func (v *View) goOn() {
	if i := v.list.Focused(); i >= 0 && v.src.ID(i) != v.search.at.seq { // the user has gone elsewhere
		v.search.goingOn = false
	}
	if !v.search.goingOn || v.src.loaded(v.search.at.seq) == nil {
		return
	}
	line, in, known := v.nextHitInPair(v.search.at, v.search.back)
	switch {
	case !known:
		v.rc.pending = true
	case in:
		v.goToHit(hitLocation{v.search.at.seq, line})
	default:
		v.search.goingOn = false
	}
}

// matchingPairs returns the visible pairs that contain the text.
func (v *View) matchingPairs(stored []int64) []int64 {
	var out []int64
	if v.search.needle == "" {
		return nil
	}
	contains := func(p part) bool { return v.search.find.In(p.source()) }
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

// searchStart returns where the search continues: at the last hit if its pair still has the
// focus, otherwise before the focused pair, otherwise before the visible lines.
func (v *View) searchStart() hitLocation {
	i := v.list.Focused()
	if i < 0 {
		i, _ = v.list.Visible()
	}
	if i < 0 {
		return hitLocation{line: beforeFirst}
	}
	if seq := v.src.ID(i); seq != v.search.at.seq {
		return hitLocation{seq, beforeFirst}
	}
	return v.search.at
}

// nextHitInPair returns the next line in the same pair that contains the text; in is false
// if there is none. known is false if the pair is not laid out yet. A closed part that
// contains the text is opened. If the text is in no drawn line, as within Markdown syntax,
// the part's first line counts.
func (v *View) nextHitInPair(from hitLocation, back bool) (line int, in, known bool) {
	it := v.src.loaded(from.seq)
	if it == nil {
		return 0, false, true
	}
	for _, p := range it.parts {
		if !p.state().open && v.search.find.In(p.source()) {
			p.state().setOpen(true)
			it.changed()
		}
	}
	if it.layOut(v.innerWidth()); it.stale {
		return 0, false, false
	}
	for n := range it.parts {
		k := n
		if back {
			k = len(it.parts) - 1 - n
		}
		if line, ok := v.hitInPart(it, k, from.line, back); ok {
			return line, true, true
		}
	}
	return 0, false, true
}

// hitInPart returns the hit in part k that is nearest to a line of the pair, after or
// before it.
func (v *View) hitInPart(it *item, k, from int, back bool) (line int, ok bool) {
	p, first := it.parts[k], it.starts[k]
	switch {
	case back && from <= first || !back && from >= first+p.Len():
		return 0, false
	case !v.search.find.In(p.source()):
		return 0, false
	}
	lines := &p.state().partLines
	if line, ok = lines.find(v.search.find, max(from-first, -1), back); ok {
		return first + line, true
	}
	if _, ok = lines.find(v.search.find, -1, false); !ok && (back || from < first) {
		return first, true
	}
	return 0, false
}

// find returns the next line after from that contains the text, or the previous one.
func (s *partLines) find(needle markdown.Needle, from int, back bool) (line int, ok bool) {
	first := 0
	for n := range s.sources {
		source := s.sources[n]
		if back {
			source = s.sources[len(s.sources)-1-n]
			if n == 0 {
				first = s.Len()
			}
			first -= source.Len()
		}
		if line, ok = source.Find(needle, max(from, first-1)-first, back); ok && (back && first+line < from || !back && first+line > from) {
			return first + line, true
		}
		if !back {
			first += source.Len()
		}
	}
	return 0, false
}

// findLine is lineSource.Find of n lines.
func findLine(n int, line func(int) string, needle markdown.Needle, from int, back bool) (int, bool) {
	step, i := 1, from+1
	if back {
		step, i = -1, min(from, n)-1
	}
	for ; i >= 0 && i < n; i += step {
		if needle.In(ansi.Strip(line(i))) {
			return i, true
		}
	}
	return 0, false
}

// goToHit scrolls a hit to the middle.
func (v *View) goToHit(at hitLocation) {
	v.search.at, v.search.goingOn = at, false
	v.JumpTo(at.seq)
	i, _ := v.src.Index(at.seq)
	n, _, _ := v.src.at(i).partAt(at.line)
	v.focusOn(i, n)
	v.list.ScrollTo(i, at.line, v.height/2)
}

// highlight highlights the hits in a drawn line.
func (s *search) highlight(row string, found style.Style) string {
	if s.needle == "" {
		return row
	}
	plain := ansi.Strip(row)
	hits := s.find.All(plain)
	if len(hits) == 0 {
		return row
	}
	var b strings.Builder
	cell := 0 // column up to which the row has been drawn
	for _, at := range hits {
		begin := ansi.StringWidth(plain[:at[0]])
		hit := plain[at[0]:at[1]]
		b.WriteString(style.Cut(row, cell, begin) + found.Render(hit))
		cell = begin + ansi.StringWidth(hit)
	}
	return b.String() + style.Cut(row, cell, ansi.StringWidth(row))
}

// UserText returns the first line of the user's message in a pair; "" if the pair is not
// loaded.
func (v *View) UserText(seq int64) string {
	if it := v.src.loaded(seq); it != nil {
		return firstLine(it.pair.UserText)
	}
	return ""
}

// Answer returns the focused pair's answer as the model wrote it, without markers; for a
// running pair, what has arrived so far.
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

// Markdown returns the whole focused pair as Markdown; for a running pair, what has arrived
// so far.
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

// answerParts returns the texts and tool cards of an answer, in order.
func (it *item) answerParts() (all []part) {
	if it.running { // the pair does not contain them yet
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

// longAnswer is the size in bytes from which the code of an answer is not read at once.
const longAnswer = 64 << 10

// Code returns the code blocks of the focused pair. If more is not nil, the answer is long:
// more returns the blocks, and may be called from any goroutine.
func (v *View) Code() (blocks []markdown.Code, more func() []markdown.Code) {
	it := v.focused()
	if it == nil {
		return nil, nil
	}
	size, texts := 0, []string{}
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			texts = append(texts, t.source())
			size += len(texts[len(texts)-1])
		}
	}
	if size > longAnswer {
		colours := v.rc.st.Markdown
		return nil, func() (all []markdown.Code) {
			for _, text := range texts {
				all = append(all, codeIn(text, markdown.NewStyle(colours))...)
			}
			return all
		}
	}
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			blocks = append(blocks, t.code()...)
		}
	}
	return blocks, nil
}

// codeIn returns the code blocks in a text.
func codeIn(text string, md *markdown.Style) []markdown.Code {
	d := markdown.New(md)
	d.Append(text)
	d.Finish()
	return d.Code()
}
