package chat

import (
	"slices"

	"winnow/assistant"
)

// focused is the item with the focus; nil when there is none.
func (v *View) focused() *item {
	if i := v.list.Focused(); i >= 0 {
		return v.src.at(i)
	}
	return nil
}

// focusOn gives the focus to a part of pair i.
func (v *View) focusOn(i, part int) {
	v.list.Focus(i)
	v.focus = part
}

// Focused is the pair with the focus, when it is loaded.
func (v *View) Focused() (assistant.Pair, bool) {
	if it := v.focused(); it != nil && it.loaded {
		return it.pair, true
	}
	return assistant.Pair{}, false
}

// FocusLast gives the focus to the newest pair: to its beginning where that is
// on the screen, else to the last part with text.
func (v *View) FocusLast() {
	v.focusOn(v.Len()-1, 0)
	it := v.focused()
	if it == nil || v.height == 0 || v.src.Height(v.Len()-1, v.innerWidth()) < v.height {
		return
	}
	v.focus = len(it.parts) - 1
	if it.choicesPart() != nil {
		v.focus--
	}
	v.list.Bottom()
}

// NextPart moves the focus by one part, over the end of a pair.
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
	at := v.focus + n
	if at < 0 || at >= len(it.parts) {
		if at = v.focus; v.list.Step(n) {
			if at = 0; n < 0 {
				at = max(0, len(v.focused().parts)-1)
			}
		}
	}
	v.focus = at
	v.reveal(n < 0)
}

// scrollWithin scrolls by a line in a part that goes on beyond the screen: the
// focus leaves it only at its end. It reports whether it has scrolled.
func (v *View) scrollWithin(it *item, n int) bool {
	i := v.list.Focused()
	first, last := it.lineRange(v.focus)
	_, top := v.list.RowOf(i, first)
	_, bottom := v.list.RowOf(i, last)
	if v.height == 0 || last-first < v.height || n > 0 && bottom || n < 0 && top {
		return false
	}
	v.list.ScrollBy(n)
	return true
}

// reveal scrolls just as far as it takes to show the beginning of the focused
// part; fromBelow, the end of one that is longer than the screen.
func (v *View) reveal(fromBelow bool) {
	i, it := v.list.Focused(), v.focused()
	if it == nil || v.height == 0 {
		return
	}
	v.layout()
	it.layOut(v.innerWidth())
	first, last := it.lineRange(v.focus)
	if fromBelow && last-first >= v.height {
		if _, ok := v.list.RowOf(i, last); !ok {
			v.list.ScrollTo(i, last, v.height-1)
		}
		return
	}
	if y, ok := v.list.RowOf(i, first); v.focus < len(it.starts) && (!ok || y == v.height-1) {
		v.list.ScrollTo(i, first, v.height/4)
	}
}

// ensureFocus gives the focus to what is on the screen when nothing has it. It
// reports whether it has.
func (v *View) ensureFocus() bool {
	if v.list.Focused() >= 0 || v.Len() == 0 {
		return false
	}
	_, last := v.list.Visible()
	if last < 0 {
		last = v.Len() - 1
	}
	v.focusOn(last, 0)
	return true
}

// NextPair moves the focus by a whole pair.
func (v *View) NextPair() { v.stepPair(1) }

// PrevPair moves the focus back by a pair.
func (v *View) PrevPair() { v.stepPair(-1) }

func (v *View) stepPair(n int) {
	if !v.ensureFocus() {
		v.list.Step(n)
		v.focus = 0
		v.reveal(false)
	}
}

// ScrollBy moves n lines down, or up.
func (v *View) ScrollBy(n int) { v.list.ScrollBy(n) }

// HalfPage moves n half screens.
func (v *View) HalfPage(n int) { v.list.HalfPage(n) }

// Page moves n screens.
func (v *View) Page(n int) { v.list.Page(n) }

// Top shows the first pair and focuses it.
func (v *View) Top() {
	v.focusOn(0, 0)
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
	i, ok := v.src.Index(seq)
	if !ok {
		return false
	}
	v.focusOn(i, 0)
	row := 0
	if centred {
		row = max(0, (v.height-v.src.Height(i, v.innerWidth()))/2)
	}
	v.list.ScrollTo(i, 0, row)
	return true
}

// JumpTo shows a pair in the middle, and keeps it there while pairs around it are
// loaded, until EndJump.
func (v *View) JumpTo(seq int64) bool {
	v.jumpTarget = seq
	return v.Show(seq, true)
}

// EndJump ends JumpTo: the user has done something since.
func (v *View) EndJump() { v.jumpTarget = 0 }

// ShowReply brings the first line of a pair's reply to the top of the screen and
// gives the pair the focus, when the reply, without the user's own lines, is
// longer than the screen; it reports whether it is.
func (v *View) ShowReply(seq int64) bool {
	i, ok := v.src.Index(seq)
	if !ok {
		return false
	}
	it := v.src.at(i)
	lines := v.src.Height(i, v.innerWidth())
	if len(it.starts) < 2 || lines-it.starts[1] <= v.height {
		return false
	}
	v.focusOn(i, 1)
	v.list.ShowLine(i, it.starts[1], 0)
	return true
}

// ToggleFold opens or closes the focused part, or the first of its pair that can.
// Its head stays in its row of the screen.
func (v *View) ToggleFold() {
	it := v.focused()
	if it == nil || v.focus >= len(it.parts) {
		return
	}
	order := append([]part{it.parts[v.focus]}, it.parts[1:]...) // a long message folds when nothing of its answer does
	order = append(order, it.parts[0])
	for i := 0; i < len(order); i++ {
		if p := order[i].state(); p.foldable {
			v.focus = slices.Index(it.parts, order[i])
			v.holdFocusedLine(func() {
				p.setOpen(!p.open)
				it.changed()
			})
			return
		}
	}
}

// ToggleAll opens every part that folds, or closes them all when one is open. The
// head of the focused part stays in its row.
func (v *View) ToggleAll() {
	open := true
	for _, it := range v.src.items {
		for _, p := range it.parts {
			open = open && !(p.state().foldable && p.state().open)
		}
	}
	v.holdFocusedLine(func() {
		for _, it := range v.src.items {
			for _, p := range it.parts {
				p.state().setOpen(open)
			}
			it.changed()
		}
	})
}

// holdFocusedLine opens or closes parts so that the first line of the focused part
// stays in its row; one above the screen comes to its top. The lines below move,
// so the selection ends.
func (v *View) holdFocusedLine(fold func()) {
	i, it := v.list.Focused(), v.focused()
	y := 0
	if it != nil {
		first, _ := it.lineRange(v.focus)
		y, _ = v.list.RowOf(i, first)
	}
	fold()
	v.sel = selection{}
	if it != nil {
		it.layOut(v.innerWidth())
		first, _ := it.lineRange(v.focus)
		v.list.ShowLine(i, first, y)
	}
}

// ToggleRaw shows the source of the focused pair's text, or its rendering.
func (v *View) ToggleRaw() {
	if it := v.focused(); it != nil {
		it.setRaw(!it.raw)
	}
}

// SetRaw shows all answers as their source, each until ToggleRaw.
func (v *View) SetRaw() {
	v.rc.raw = true
	for _, it := range v.src.items {
		it.setRaw(true)
	}
}

// Click gives the focus to what is on a row, and opens or closes it when it had
// the focus already.
func (v *View) Click(y int) {
	i, line, ok := v.list.ItemAt(y)
	if !ok {
		return
	}
	n, _, _ := v.src.at(i).partAt(line)
	if v.list.Focused() == i && v.focus == n {
		v.ToggleFold()
		return
	}
	v.focusOn(i, n)
}
