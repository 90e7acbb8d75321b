package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/workspace"
)

// ConfirmWanted is the outcome of a use case that must be confirmed before it does
// anything; Commands.Confirmed then runs it.
type ConfirmWanted struct {
	Reply
	Confirm workspace.Confirm
	doing   string
	do      confirmable
}

// confirmable is a use case that may need a confirmation. confirmed is what the user has
// confirmed, or nil at the first call. A confirmable returns the Confirm that the user must
// answer, or nil if it needs no confirmation.
type confirmable func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error)

// confirmed returns the command of a use case that may need a confirmation.
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

// Confirmed runs the use case that the user has confirmed. It has the same outcomes as that
// use case; the outcome is another ConfirmWanted if the use case would now do something
// else.
func (c *Commands) Confirmed(request int64, w ConfirmWanted) tea.Cmd {
	return c.command(request, w.doing, func(ctx context.Context, c call) (Outcome, error) {
		return c.confirm(ctx, &w.Confirm, w.doing, w.do)
	})
}
