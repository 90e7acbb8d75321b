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

// refuseLocked refuses what is not possible while the assistant works; nil when
// it does not.
func (p *Pane) refuseLocked() pane.Action {
	if p.data.Locked {
		return pane.Notify{Text: p.lockedText(), IsError: true}
	}
	return nil
}

// refuseFixed refuses to edit a list that the environment decides; nil for any
// other list.
func (p *Pane) refuseFixed(list modelfilter.List) pane.Action {
	if err := p.data.Fixed[list]; err != nil {
		return refuse(err)
	}
	return nil
}

// edit is a change of the rules, based on what is shown.
func (p *Pane) edit(a assistant.Act) pane.Action {
	return pane.Edit{Act: a, Revision: p.data.Revision}
}
