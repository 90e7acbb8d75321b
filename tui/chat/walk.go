package chat

import (
	"winnow/assistant"
)

// focused is the item with the focus; nil when there is none.
func (v *View) focused() *item {
	i := v.list.Focused()
	if i < 0 || i >= len(v.src.refs) {
		return nil
	}
	return v.src.item(v.src.refs[i].Seq)
}

// Focused is the pair with the focus.
func (v *View) Focused() (assistant.Pair, bool) {
	it := v.focused()
	if it == nil || !it.loaded {
		return assistant.Pair{}, false
	}
	return it.pair, true
}

// FocusLast gives the focus to the newest pair: to its beginning where that is
// on the screen, else to the last part that one reads.
func (v *View) FocusLast() {
	v.focus = 0
	v.list.Focus(len(v.src.refs) - 1)
	it := v.focused()
	if it == nil || v.height == 0 || it.height(v.width) < v.height {
		return
	}
	for i, p := range it.parts {
		if _, choices := p.(*choicesPart); !choices {
			v.focus = i
		}
	}
	v.list.Bottom()
}

// height is how many lines a pair takes in a view of this width.
func (it *item) height(width int) int { return len(it.Lines(max(1, width-gutterWidth))) }

// NextPart and PrevPart move the focus by one part, over the ends of pairs.
func (v *View) NextPart() { v.step(1) }

// PrevPart moves the focus back by one part.
func (v *View) PrevPart() { v.step(-1) }

func (v *View) step(n int) {
	it := v.focused()
	if it == nil {
		v.ensureFocus()
		return
	}
	if v.scrollWithin(it, n) {
		return
	}
	switch at := v.focus + n; {
	case at < 0:
		if v.list.Prev() {
			it = v.focused()
			v.focus = max(0, len(it.parts)-1)
		}
	case at >= len(it.parts):
		if v.list.Next() {
			v.focus = 0
		}
	default:
		v.focus = at
	}
	if n < 0 && v.revealEnd(it) {
		return
	}
	v.reveal()
}

// revealEnd shows the last line of a part that is longer than the screen, as
// one comes to it from below; it reports whether it is.
func (v *View) revealEnd(it *item) bool {
	it.Lines(v.inner())
	first, last := v.span(it)
	if last-first < v.height {
		return false
	}
	i := v.list.Focused()
	if _, seen := v.rowOf(i, last); !seen {
		v.list.ShowLine(i, last, v.height-1)
	}
	return true
}

// span is the first and the last line of the focused part of a pair.
func (v *View) span(it *item) (first, last int) {
	last = len(it.lines) - 2 // the last line of a part is empty
	if v.focus+1 < len(it.starts) {
		last = it.starts[v.focus+1] - 2
	}
	first = startOf(it, v.focus)
	return first, max(first, last)
}

// scrollWithin moves by a line in a part that goes on beyond the screen: the
// focus leaves it only at its end. It reports whether it has.
func (v *View) scrollWithin(it *item, n int) bool {
	if v.focus >= len(it.starts) || v.height == 0 {
		return false
	}
	i := v.list.Focused()
	first, last := v.span(it)
	_, top := v.rowOf(i, first)
	_, bottom := v.rowOf(i, last)
	if last-first < v.height || (n > 0 && bottom) || (n < 0 && top) {
		return false
	}
	v.list.ScrollBy(n)
	return true
}

// ensureFocus gives the focus to what is on the screen.
func (v *View) ensureFocus() {
	if v.list.Focused() >= 0 || v.Len() == 0 {
		return
	}
	_, last := v.list.Visible()
	if last < 0 {
		last = v.Len() - 1
	}
	v.focus = 0
	v.list.Focus(last)
}

// NextPair and PrevPair move the focus by a whole pair.
func (v *View) NextPair() { v.pair(v.list.Next) }

// PrevPair moves the focus back by a pair.
func (v *View) PrevPair() { v.pair(v.list.Prev) }

func (v *View) pair(move func() bool) {
	if v.list.Focused() < 0 {
		v.ensureFocus()
		return
	}
	move()
	v.focus = 0
	v.reveal()
}

// reveal scrolls just as far as it takes to show the focused part's beginning.
func (v *View) reveal() {
	i := v.list.Focused()
	it := v.focused()
	if it == nil || v.height == 0 {
		return
	}
	v.list.View(v.inner(), v.height)
	if v.focus >= len(it.starts) {
		return
	}
	want := it.starts[v.focus]
	if y, ok := v.rowOf(i, want); ok && y < v.height-1 {
		return
	}
	v.list.ScrollTo(i, false)
	v.list.ScrollBy(want - v.height/4)
}

// rowOf is the row on the screen of a line of a pair.
func (v *View) rowOf(i, line int) (int, bool) {
	for y := range v.height {
		if at, l, ok := v.list.ItemAt(y); ok && at == i && l == line {
			return y, true
		}
	}
	return 0, false
}

// Scrolling, as the list does it.

// ScrollBy moves n lines down, or up.
func (v *View) ScrollBy(n int) { v.list.ScrollBy(n) }

// HalfPage moves n half screens.
func (v *View) HalfPage(n int) { v.list.HalfPage(n) }

// Page moves n screens.
func (v *View) Page(n int) { v.list.Page(n) }

// Top shows the first pair and focuses it.
func (v *View) Top() {
	v.list.Top()
	v.focus = 0
	v.list.Focus(0)
	v.list.Top()
}

// Bottom shows the end, follows it and focuses the last pair.
func (v *View) Bottom() {
	v.FocusLast()
	v.list.Bottom()
}

// AtEnd says whether the view follows its end.
func (v *View) AtEnd() bool { return v.list.AtEnd() }

// Show brings a pair onto the screen and gives it the focus.
func (v *View) Show(seq int64, centred bool) bool {
	i, ok := v.src.find(seq)
	if !ok {
		return false
	}
	v.focus = 0
	v.list.Focus(i)
	v.list.ScrollTo(i, centred)
	return true
}

// Aim shows a pair in the middle, and keeps it there while pairs around it are
// loaded, until Release.
func (v *View) Aim(seq int64) bool {
	v.aim = seq
	return v.Show(seq, true)
}

// Release ends Aim: the user has done something since.
func (v *View) Release() { v.aim = 0 }

// ToggleFold opens or closes the focused part, or the first of its pair that can.
// Its head stays in its row of the screen.
func (v *View) ToggleFold() bool {
	it := v.focused()
	if it == nil {
		return false
	}
	order := []int{v.focus}
	for i := range it.parts {
		order = append(order, i)
	}
	for _, i := range order {
		if i >= len(it.parts) {
			continue
		}
		open, _ := it.parts[i].folded()
		y, seen := v.rowOf(v.list.Focused(), startOf(it, i))
		if !it.parts[i].fold(open) {
			continue
		}
		v.focus = i
		it.bump()
		it.Lines(v.inner())
		if !seen { // its head is above the screen
			y = 0
		}
		v.list.ShowLine(v.list.Focused(), startOf(it, i), y)
		return true
	}
	return false
}

// startOf is the first line of a part, as drawn last.
func startOf(it *item, part int) int {
	if part >= len(it.starts) {
		return 0
	}
	return it.starts[part]
}

// ToggleAll opens every part that folds, or closes them all when one is open. The
// head of the focused part stays in its row.
func (v *View) ToggleAll() {
	anyOpen := false
	for _, it := range v.src.items {
		for _, p := range it.parts {
			open, _ := p.folded()
			anyOpen = anyOpen || (open && canFold(p))
		}
	}
	at := v.focused()
	y, seen := 0, false
	if at != nil {
		y, seen = v.rowOf(v.list.Focused(), startOf(at, v.focus))
	}
	for _, it := range v.src.items {
		for _, p := range it.parts {
			if canFold(p) {
				p.fold(anyOpen)
			}
		}
		it.bump()
	}
	if seen {
		at.Lines(v.inner())
		v.list.ShowLine(v.list.Focused(), startOf(at, v.focus), y)
	}
}

func canFold(p part) bool {
	switch p.(type) {
	case *card, *reasoningPart, *payloadPart:
		return true
	}
	return false
}

// ToggleRaw shows the source of the focused pair's text, or its rendering.
func (v *View) ToggleRaw() {
	if it := v.focused(); it != nil {
		it.setRaw(!it.raw)
	}
}

// SetRaw shows the answer of a pair as its source until ToggleRaw.
func (v *View) SetRaw(seq int64) { v.src.item(seq).setRaw(true) }

// WatchDrawing calls begin before a stored answer of some kilobytes is rendered,
// with its Seq, and what begin returns when that is done: a program that notes it
// on disk knows after a crash which pair to open with SetRaw.
func (v *View) WatchDrawing(begin func(seq int64) (done func())) { v.look.watch = begin }

// Click gives the focus to what is on a row, and folds or opens it when it
// had the focus already.
func (v *View) Click(y int) {
	i, line, ok := v.list.ItemAt(y)
	if !ok {
		return
	}
	at := v.src.item(v.src.refs[i].Seq).partAt(line)
	if v.list.Focused() == i && v.focus == at {
		v.ToggleFold()
		return
	}
	v.list.Focus(i)
	v.focus = at
}

// Choices are those of the newest pair.
func (v *View) Choices() []Choice {
	if v.Len() == 0 {
		return nil
	}
	it := v.src.item(v.src.refs[v.Len()-1].Seq)
	if p := it.choices(); p != nil && !it.running {
		return p.choices
	}
	return nil
}

// OnChoices says whether the focus is on the choices of the newest pair.
func (v *View) OnChoices() bool { return v.focusedChoices() != nil }

// ShowReply brings the first line of a pair's reply to the top of the screen and
// gives the pair the focus, when the reply, without the user's own lines, is
// longer than the screen; it reports whether it is.
func (v *View) ShowReply(seq int64) bool {
	i, ok := v.src.find(seq)
	if !ok {
		return false
	}
	it := v.src.item(seq)
	lines := len(it.Lines(v.inner()))
	if len(it.starts) < 2 || lines-it.starts[1] <= v.height {
		return false
	}
	v.focus = 1
	v.list.Focus(i)
	v.list.ShowLine(i, it.starts[1], 0)
	return true
}
