package rules

import (
	"encoding/json"

	"winnow/adapters/modelfilter"
	"winnow/tui/pane"
)

// Effect implements pane.Forecaster.
func (p *Pane) Effect(proposal json.RawMessage) (pane.Effect, error) {
	read, err := modelfilter.ReadProposal(proposal)
	if err != nil {
		return pane.Effect{}, err
	}
	e, refused, err := p.window.Effect(read)
	if err != nil {
		return pane.Effect{}, err
	}
	out := pane.Effect{Hidden: e.Hidden, Shown: e.Shown, Known: e.Known}
	for _, why := range refused {
		out.Refused = append(out.Refused, why.Error())
	}
	return out, nil
}
