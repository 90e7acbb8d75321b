package rules

import (
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/pane"
)

// refuse says why something cannot be done.
func refuse(err error) pane.Action {
	return pane.Notify{Text: pane.Visible(err.Error()), IsError: true}
}

// locked reports whether the user's own assistant is working. A change waits for the
// assistant of another user, who may not be known yet.
func (p *Pane) locked() bool { return p.data.Locked && p.working }

// refuseLocked rejects what is not possible while the user's assistant is working;
// otherwise it returns nil.
func (p *Pane) refuseLocked() pane.Action {
	if p.locked() {
		return pane.Notify{Text: p.lockedText(), IsError: true}
	}
	return nil
}

// refuseFixed rejects edits of a list that the environment decides; for any other list it
// returns nil.
func (p *Pane) refuseFixed(list modelfilter.List) pane.Action {
	if err := p.data.Fixed[list]; err != nil {
		return refuse(err)
	}
	return nil
}

// edit returns a change of the rules, based on what is shown.
func (p *Pane) edit(a assistant.Act) pane.Action {
	return pane.Edit{Act: a, Revision: p.data.Revision}
}
