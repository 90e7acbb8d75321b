package chat

import (
	"math"
	"slices"

	"winnow/tui/markdown"
)

// search is the search in the conversation. It ignores case and covers what the visible
// pairs contain.
type search struct {
	needle  string
	find    markdown.Needle    // empty if there is no search
	at      hitLocation        // the current hit
	goingOn bool               // the search will continue when the next frames have laid out the pair of at
	back    markdown.Direction // direction in which the search will continue
	settled bool               // the search has continued and found a hit, which LateHit has not returned yet
	pairs   []int64            // the visible pairs that contained the text when NextFound was last called
}

// hitLocation is the nth hit, from 0, that starts in a line of a pair.
type hitLocation struct {
	seq  int64 // the pair; 0 if there is no hit
	line int   // beforeFirst and afterLast are outside the pair's lines
	nth  int
}

const (
	beforeFirst = -1
	afterLast   = math.MaxInt
)

// Hit is the position of the current hit, counted from 1. Nth is 0 while the hit is unknown
// because its pair is not laid out yet, and if nothing that is drawn of the pair contains
// the text.
type Hit struct {
	Nth, Of     int // position in the pair and number of hits there; MostHits means that many or more
	Pair, Pairs int // position of the pair among those that contain the text, and their number
}

// MostHits is the maximum number of hits that are counted in a pair.
const MostHits = 10_000

// Search searches for a text; "" ends the search.
func (v *View) Search(needle string) {
	v.search = search{needle: needle, find: markdown.NewNeedle(needle)}
}

// Searching returns the current search text.
func (v *View) Searching() string { return v.search.needle }

// NextFound goes to the next hit, or the previous one, and wraps around at the ends; ok is
// false if there is none. stored lists, in ascending order, the pairs that contain the text
// but are not loaded.
func (v *View) NextFound(back markdown.Direction, stored []int64) (hit Hit, ok bool) {
	pairs := v.matchingPairs(stored)
	v.search.pairs, v.search.settled = pairs, false
	if len(pairs) == 0 {
		return Hit{}, false
	}
	v.rc.budget = frameBudget
	here := v.searchStart()
	if v.search.goingOn {
		here = v.search.at
	}
	next, found, known := v.nextHitInPair(here, back)
	switch i, at := slices.BinarySearch(pairs, here.seq); {
	case !known:
		v.search.at, v.search.goingOn, v.search.back = here, true, back
	case found:
		v.goToHit(next)
	case back:
		v.enterPair(pairs[(i-1+len(pairs))%len(pairs)], back)
	default:
		if at {
			i++
		}
		v.enterPair(pairs[i%len(pairs)], back)
	}
	return v.hit(), true
}

// LateHit returns a hit that NextFound could not return because it was not known yet. ok is
// false before the hit is found, and after LateHit has returned it.
func (v *View) LateHit() (hit Hit, ok bool) {
	if !v.search.settled {
		return Hit{}, false
	}
	v.search.settled = false
	return v.hit(), true
}

// hit returns the position of the current hit.
func (v *View) hit() (hit Hit) {
	at := v.search.at
	i, ok := slices.BinarySearch(v.search.pairs, at.seq)
	if hit.Pairs = len(v.search.pairs); ok {
		hit.Pair = i + 1
	}
	it := v.src.loaded(at.seq)
	if v.search.goingOn || it == nil || at.line == beforeFirst || at.line == afterLast {
		return hit
	}
	for k := range it.parts {
		if n, line, _ := it.partAt(at.line); n == k {
			hit.Nth = min(hit.Of+v.countInPart(it, k, line, MostHits-hit.Of)+at.nth+1, MostHits)
		}
		hit.Of += v.countInPart(it, k, it.parts[k].Len(), MostHits-hit.Of)
	}
	return hit
}

// enterPair goes to the first hit of a pair or, with back, to the last. Until the pair is
// loaded and laid out, its start is shown instead.
func (v *View) enterPair(seq int64, back markdown.Direction) {
	v.search.at, v.search.back, v.search.goingOn = hitLocation{seq: seq, line: beforeFirst}, back, true
	if back {
		v.search.at.line = afterLast
	}
	v.JumpTo(seq)
	v.goOn()
	v.search.settled = false
}

// goOn goes to the pending hit as soon as it is known.
func (v *View) goOn() {
	if i := v.list.Focused(); i >= 0 && v.src.ID(i) != v.search.at.seq { // the user has gone elsewhere
		v.search.goingOn = false
	}
	if !v.search.goingOn || v.src.loaded(v.search.at.seq) == nil {
		return
	}
	next, found, known := v.nextHitInPair(v.search.at, v.search.back)
	switch {
	case !known:
		v.rc.pending = true
	case found:
		v.goToHit(next)
		v.search.settled = true
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

// searchStart returns where the search continues: at the current hit if its pair still has
// the focus, otherwise before the focused pair. If no pair has the focus, the first visible
// pair counts as focused.
func (v *View) searchStart() hitLocation {
	i := v.list.Focused()
	if i < 0 {
		i, _ = v.list.Visible()
	}
	if i < 0 {
		return hitLocation{line: beforeFirst}
	}
	if seq := v.src.ID(i); seq != v.search.at.seq {
		return hitLocation{seq: seq, line: beforeFirst}
	}
	return v.search.at
}

// nextHitInPair returns the hit after from in the same pair or, with back, the one before;
// found is false if there is none, known is false if the pair is not laid out yet. Closed
// parts that contain the text are opened. If no drawn line of a part contains the text, for
// example because it is Markdown syntax, the first line of the part counts as a hit.
func (v *View) nextHitInPair(from hitLocation, back markdown.Direction) (next hitLocation, found, known bool) {
	it := v.src.loaded(from.seq)
	if it == nil {
		return hitLocation{}, false, true
	}
	for _, p := range it.parts {
		if !p.state().open && v.search.find.In(p.source()) {
			p.state().setOpen(true)
			it.changed()
		}
	}
	if it.layOut(v.innerWidth()); it.stale {
		return hitLocation{}, false, false
	}
	if n, line, ok := it.partAt(from.line); ok {
		switch hits := hitsFrom(it.parts[n], v.search.find, line); {
		case back && from.nth > 0 && from.nth <= hits:
			return hitLocation{from.seq, from.line, from.nth - 1}, true, true
		case !back && from.nth+1 < hits:
			return hitLocation{from.seq, from.line, from.nth + 1}, true, true
		}
	}
	for n := range it.parts {
		k := n
		if back {
			k = len(it.parts) - 1 - n
		}
		line, ok := v.hitInPart(it, k, from.line, back)
		if !ok {
			continue
		}
		next = hitLocation{seq: from.seq, line: line}
		if back {
			next.nth = max(hitsFrom(it.parts[k], v.search.find, line-it.starts[k])-1, 0)
		}
		return next, true, true
	}
	return hitLocation{}, false, true
}

// hitInPart returns the line of the pair in which a hit in part k starts: the first such line
// after from or, with back, the last one before it.
func (v *View) hitInPart(it *item, k, from int, back markdown.Direction) (line int, ok bool) {
	p, first := it.parts[k], it.starts[k]
	if back && from <= first || !back && from >= first+p.Len() || v.without(p) {
		return 0, false
	}
	if line, ok = p.Find(v.search.find, max(from-first, -1), back); ok {
		return first + line, true
	}
	if (back || from < first) && v.onlySource(p) {
		return first, true
	}
	return 0, false
}

// countInPart counts the hits that start in the first n lines of part k, up to most.
func (v *View) countInPart(it *item, k, n, most int) int {
	p := it.parts[k]
	if n <= 0 || most <= 0 || v.without(p) {
		return 0
	}
	if hits := p.Count(v.search.find, n, most); hits > 0 || !v.onlySource(p) {
		return hits
	}
	return 1
}

// without reports whether p is a textPart that does not contain the searched text, so its
// lines need not be examined. It is false for other parts, which draw more than their
// source.
func (v *View) without(p part) bool {
	_, text := p.(*textPart)
	return text && !v.search.find.In(p.source())
}

// onlySource reports whether the source of a part contains the text, but no drawn line does.
func (v *View) onlySource(p part) bool {
	_, drawn := p.Find(v.search.find, -1, markdown.Forward)
	return !drawn && v.search.find.In(p.source())
}

// goToHit makes a hit the current one, focuses its part and scrolls it to the middle of the
// screen.
func (v *View) goToHit(at hitLocation) {
	v.search.at, v.search.goingOn = at, false
	v.JumpTo(at.seq)
	i, _ := v.src.Index(at.seq)
	n, _, _ := v.src.at(i).partAt(at.line)
	v.focusOn(i, n)
	v.list.ScrollTo(i, at.line, v.height/2)
}
