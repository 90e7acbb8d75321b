package rules

import (
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// refuse returns a notice that says why something cannot be done.
func refuse(err error) pane.Action {
	return pane.Notify{Text: safetext.VisibleOnce(err.Error()), IsError: true}
}

// locked reports whether the user's own assistant is working. If another user's assistant
// has locked the window, a change is not rejected: it waits, because the pane may not know
// of the lock yet.
func (p *Pane) locked() bool { return p.data.Locked && p.working }

// refuseLocked returns a notice while the user's assistant is working; otherwise it returns
// nil. Actions that change rules call it first.
func (p *Pane) refuseLocked() pane.Action {
	if !p.locked() {
		return nil
	}
	text := p.lockedText()
	if !p.Typing() {
		text = pane.Join(text, p.keys.Hint(keymap.Escape, "cancels"))
	}
	return pane.Notify{Text: safetext.Clean(text), IsError: true}
}

// refuseFixed returns a notice if the environment decides a list, because such a list
// cannot be edited; for any other list it returns nil.
func (p *Pane) refuseFixed(list modelfilter.List) pane.Action {
	if err := p.data.Fixed[list]; err != nil {
		return refuse(err)
	}
	return nil
}

// edit returns an action that changes the rules, based on the displayed revision.
func (p *Pane) edit(a assistant.Act) pane.Action {
	return pane.Edit{Act: a, Revision: p.data.Revision}
}
