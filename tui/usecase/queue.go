package usecase

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

type (
	// MessageQueued ends Queue.
	MessageQueued struct {
		Reply
		Prompt assistant.Prompt
		Typed  string // the message as it was typed
		Before string // the queued message that it has replaced; "": there was none
		Err    error  // assistant.ErrNotBusy: the turn has ended, it is to be sent
	}
	// QueueForgotten ends ForgetQueued.
	QueueForgotten struct{ Reply }
)

// Queue lets a message wait for the end of the running turn, in place of the one that waits:
// MessageQueued.
func (c *Commands) Queue(request int64, p assistant.Prompt, typed, before string) tea.Cmd {
	return c.command(request, "queue the message", func(ctx context.Context, c call) (Outcome, error) {
		_, _, err := c.Workspace.Queue(ctx, p)
		return MessageQueued{c.reply(), p, typed, before, err}, nil
	})
}

// ForgetQueued removes the stored message that was queued, and stores it as a sent one, to be
// recalled: QueueForgotten.
func (c *Commands) ForgetQueued(request int64, typed string) tea.Cmd {
	return c.command(request, "drop the queued message", func(ctx context.Context, c call) (Outcome, error) {
		err := errors.Join(c.Workspace.AddSent(ctx, typed), c.Session().ForgetQueued(ctx))
		return QueueForgotten{c.reply()}, err
	})
}
