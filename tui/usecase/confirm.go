package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/workspace"
)

// ConfirmWanted is the outcome of a use case that asks before it does anything: Confirmed
// does it.
type ConfirmWanted struct {
	Reply
	Confirm workspace.Confirm
	doing   string
	do      confirmable
}

// confirmable is such a use case. A Confirm is what it asks.
type confirmable func(ctx context.Context, c call, yes bool) (Outcome, *workspace.Confirm, error)

// confirmed makes the command of a use case that asks first.
func (c *Commands) confirmed(request int64, doing string, do confirmable) tea.Cmd {
	return c.command(request, doing, func(ctx context.Context, c call) (Outcome, error) {
		outcome, ask, err := do(ctx, c, false)
		if ask != nil {
			return ConfirmWanted{c.reply(), *ask, doing, do}, nil
		}
		return outcome, err
	})
}

// Confirmed does what the user has confirmed, and ends as the use case does.
func (c *Commands) Confirmed(request int64, w ConfirmWanted) tea.Cmd {
	return c.command(request, w.doing, func(ctx context.Context, c call) (Outcome, error) {
		outcome, _, err := w.do(ctx, c, true)
		return outcome, err
	})
}
