package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/workspace"
)

// ConfirmWanted is the outcome of a use case that asks before doing anything; Confirmed
// then does it.
type ConfirmWanted struct {
	Reply
	Confirm workspace.Confirm
	doing   string
	do      confirmable
}

// confirmable is such a use case. confirmed is what the user has confirmed, or nil at
// first. It returns the Confirm to ask for, or nil if it needs none.
type confirmable func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error)

// confirmed returns the command of a use case that asks first.
func (c *Commands) confirmed(request int64, doing string, do confirmable) tea.Cmd {
	return c.command(request, doing, func(ctx context.Context, c call) (Outcome, error) {
		return c.confirm(ctx, nil, doing, do)
	})
}

func (c call) confirm(ctx context.Context, confirmed *workspace.Confirm, doing string, do confirmable) (Outcome, error) {
	outcome, ask, err := do(ctx, c, confirmed)
	if ask != nil {
		return ConfirmWanted{c.reply(), *ask, doing, do}, nil
	}
	return outcome, err
}

// Confirmed does what the user has confirmed, and has the same outcomes as the use case:
// another ConfirmWanted if something else would now be done.
func (c *Commands) Confirmed(request int64, w ConfirmWanted) tea.Cmd {
	return c.command(request, w.doing, func(ctx context.Context, c call) (Outcome, error) {
		return c.confirm(ctx, &w.Confirm, w.doing, w.do)
	})
}
