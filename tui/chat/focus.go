package chat

import (
	"maps"
	"slices"

	"winnow/assistant"
)

// focused returns the focused item, or nil.
func (v *View) focused() *item {
	if i := v.list.Focused(); i >= 0 {
		return v.src.at(i)
	}
	return nil
}

// focusOn moves the focus to a part of pair i.
func (v *View) focusOn(i, part int) {
	v.list.Focus(i)
	v.focus = part
}

// Focused returns the focused pair; false if it is not loaded.
func (v *View) Focused() (assistant.Pair, bool) {
	if it := v.focused(); it != nil && it.loaded {
		return it.pair, true
	}
	return assistant.Pair{}, false
}

// FocusLast moves the focus to the newest pair: to its start if the pair is shorter than the
// screen, otherwise to its last part before the choices.
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

// NextPart moves the focus to the next part, which may belong to the next pair. If the
// focused part is longer than the screen and its end is not visible, NextPart scrolls instead.
func (v *View) NextPart() { v.step(1) }

// PrevPart does the same as NextPart in the other direction.
func (v *View) PrevPart() { v.step(-1) }

func (v *View) step(n int) {
	if v.focused() == nil {
		v.ensureFocus()
		return
	}
	moved := v.focusVisible(n)
	it := v.focused()
	if v.scrollWithin(it, n) || moved {
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

// focusVisible moves the focus to a part on the screen if the focused one has been scrolled
// off: to the first if n is positive, which is a step down, else to the last. It reports
// whether it moved the focus.
func (v *View) focusVisible(n int) bool {
	at, part := -1, 0
	for y := range v.height {
		i, line, ok := v.list.ItemAt(y)
		if !ok {
			continue
		}
		p, _, ok := v.src.at(i).partAt(line)
		switch {
		case !ok:
		case i == v.list.Focused() && p == v.focus:
			return false
		case n < 0 || at < 0:
			at, part = i, p
		}
	}
	if at < 0 {
		return false
	}
	v.list.SetFocus(at)
	v.focus = part
	return true
}

// scrollWithin scrolls by n lines within the focused part if that is longer than the screen,
// until its end is visible. scrollWithin reports whether it scrolled.
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

// reveal makes the start of the focused part visible or, with fromBelow, the end of a part
// that is longer than the screen. A start in the last row does not count as visible.
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

// ensureFocus focuses the last visible pair if nothing has the focus. It reports whether it
// moved the focus.
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

// NextPair moves the focus to the next pair.
func (v *View) NextPair() { v.stepPair(1) }

// PrevPair moves the focus to the start of the focused pair if that is above the screen, else
// to the previous pair.
func (v *View) PrevPair() {
	if i, line, ok := v.list.ItemAt(0); ok && line > 0 && i == v.list.Focused() {
		v.focus = 0
		v.reveal(false)
		return
	}
	v.stepPair(-1)
}

func (v *View) stepPair(n int) {
	if !v.ensureFocus() {
		v.list.Step(n)
		v.focus = 0
		v.reveal(false)
	}
}

// ScrollBy scrolls n lines down, or up if n is negative.
func (v *View) ScrollBy(n int) { v.list.ScrollBy(n) }

// HalfPage scrolls n half screens down, or up if n is negative.
func (v *View) HalfPage(n int) { v.list.HalfPage(n) }

// Page scrolls n screens down, or up if n is negative.
func (v *View) Page(n int) { v.list.Page(n) }

// Top shows the first pair and focuses it.
func (v *View) Top() {
	v.focusOn(0, 0)
	v.list.Top()
}

// Bottom shows the end, follows new content and focuses the last pair.
func (v *View) Bottom() {
	v.FocusLast()
	v.list.Bottom()
}

// AtEnd reports whether the view follows the end.
func (v *View) AtEnd() bool { return v.list.AtEnd() }

// Show focuses a pair and scrolls it to the top of the screen or, if centred, to the middle.
// It reports whether the view contains the pair.
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

// JumpTo shows a pair in the middle, and keeps it there while pairs around it are loaded,
// until EndJump. It reports whether the view contains the pair.
func (v *View) JumpTo(seq int64) bool {
	v.jumpTarget = seq
	return v.Show(seq, true)
}

// EndJump ends the effect of JumpTo. Call it when the user does anything else.
func (v *View) EndJump() { v.jumpTarget = 0 }

// ShowReply scrolls the first line of a pair's reply to the top of the screen and focuses
// it, but only if the reply is longer than the screen. ShowReply reports whether it is.
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

// Folds reports whether any part of the focused pair can be folded.
func (v *View) Folds() bool {
	it := v.focused()
	return it != nil && it.folds()
}

// folds reports whether any part of the pair can be folded.
func (it *item) folds() bool {
	return slices.ContainsFunc(it.parts, func(p part) bool { return p.state().foldable })
}

// ToggleFold opens or closes the focused part or, if that cannot be folded, the first part of
// its pair that can, and focuses it. The head of the part stays in its row on the screen.
// ToggleFold reports whether there is such a part.
func (v *View) ToggleFold() bool {
	it := v.focused()
	if it == nil || v.focus >= len(it.parts) {
		return false
	}
	order := append([]part{it.parts[v.focus]}, it.parts[1:]...) // the message comes last: it is folded only if nothing in its answer can be
	order = append(order, it.parts[0])
	for i := 0; i < len(order); i++ {
		if p := order[i].state(); p.foldable {
			v.focus = slices.Index(it.parts, order[i])
			v.holdFocusedLine(func() {
				p.setOpen(!p.open)
				it.changed()
			})
			return true
		}
	}
	return false
}

// ToggleAll opens all parts that can be folded or, if any of them is open, closes them all.
// The head of the focused part stays in its row; if it is not on the screen, the text in the
// first row stays there instead. ToggleAll reports whether there are such parts.
func (v *View) ToggleAll() bool {
	if !slices.ContainsFunc(slices.Collect(maps.Values(v.src.items)), (*item).folds) {
		return false
	}
	open := true
	for _, it := range v.src.items {
		for _, p := range it.parts {
			open = open && !(p.state().foldable && p.state().open)
		}
	}
	v.holdTopLine(func() {
		for _, it := range v.src.items {
			for _, p := range it.parts {
				p.state().setOpen(open)
			}
			it.changed()
		}
	})
	return true
}

// holdTopLine does the same as holdFocusedLine if the first line of the focused part is on the
// screen. Otherwise the text in the first row stays there or, if it belongs to a part that
// can be folded, the head of that part moves there.
func (v *View) holdTopLine(fold func()) {
	i, line, ok := v.list.ItemAt(0)
	focused := v.focused()
	if focused != nil {
		first, _ := focused.lineRange(v.focus)
		_, visible := v.list.RowOf(v.list.Focused(), first)
		ok = ok && !visible
	}
	if focused == nil || !ok {
		v.holdFocusedLine(fold)
		return
	}
	it := v.src.at(i)
	n, at, inPart := it.partAt(line)
	if !inPart || it.parts[n].state().foldable {
		at = 0
	}
	fold()
	v.sel = selection{}
	it.layOut(v.innerWidth())
	first, _ := it.lineRange(n)
	v.list.ShowLine(i, first+at, 0)
}

// holdFocusedLine calls fold, which opens or closes parts, and keeps the first line of the
// focused part in its row; if that line is not on the screen, it moves to the top. Other
// lines move, so the selection ends.
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

// ToggleRaw switches the focused pair between source and rendered text.
func (v *View) ToggleRaw() {
	if it := v.focused(); it != nil {
		it.setRaw(!it.raw)
	}
}

// SetRaw shows all answers as source text. ToggleRaw switches single answers back.
func (v *View) SetRaw() {
	v.rc.raw = true
	for _, it := range v.src.items {
		it.setRaw(true)
	}
}

// Click focuses the part on a row of the screen. If the part already has the focus, Click
// does the same as ToggleFold.
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
