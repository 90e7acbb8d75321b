package usecase

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
)

type (
	// MessageQueued ends Queue.
	MessageQueued struct {
		Reply
		Prompt assistant.Prompt
		Before string // the message that waited before, as it was typed; "" for none
		Err    error  // assistant.ErrNotBusy: no turn runs any more, so it can be sent
	}
	// QueueForgotten ends ForgetQueued.
	QueueForgotten struct{ Reply }
	// Decided ends Decide.
	Decided struct {
		Reply
		Pair     int64
		Accepted bool // the log brings the turn that carries it out
	}
)

// The methods below take effect at once, in the order of the keys. They answer from memory,
// and wait for nothing.

// Begin starts a turn, whose events the log brings.
func (c *Commands) Begin(p assistant.Prompt) (*assistant.Turn, error) {
	if _, err := c.work.Begin(context.Background(), p); err != nil {
		return nil, err
	}
	return c.work.Session().Turn(), nil
}

// Cancel ends the running turn, if there is one.
func (c *Commands) Cancel() {
	if c.work != nil {
		c.work.Cancel()
	}
}

// Answer answers a question of the running turn.
func (c *Commands) Answer(id string, yes bool) error { return c.work.Answer(id, yes) }

// Dequeue removes the message that waits and returns it. It stays stored until it is sent,
// dropped or in a stored draft.
func (c *Commands) Dequeue() (assistant.Prompt, bool) { return c.work.Dequeue() }

// EndReAsk makes the next message a new one.
func (c *Commands) EndReAsk() {
	if c.work != nil {
		c.work.EndReAsk()
	}
}

// ReAsked is the failed pair that the next message replaces; 0 for none.
func (c *Commands) ReAsked() int64 {
	if c.work == nil {
		return 0
	}
	return c.work.Session().ReAsked()
}

// Author names the user as the author of changes; "" is not known, or not yet.
func (c *Commands) Author() string {
	if c.work == nil {
		return ""
	}
	return c.work.Author()
}

// Models are the models that can be selected; nil before the start is over.
func (c *Commands) Models() *llm.Registry {
	if c.work == nil {
		return &llm.Registry{}
	}
	return c.work.Session().Registry()
}

// Queue lets a message wait for the end of the running turn, in place of the one that waits:
// MessageQueued.
func (c *Commands) Queue(request int64, p assistant.Prompt, before string) tea.Cmd {
	return c.command(request, "queue the message", func(ctx context.Context, c call) (Outcome, error) {
		_, _, err := c.Workspace.Queue(ctx, p)
		return MessageQueued{c.reply(), p, before, err}, nil
	})
}

// ForgetQueued forgets a message that Dequeue has returned, but for the list of sent ones:
// QueueForgotten.
func (c *Commands) ForgetQueued(request int64, typed string) tea.Cmd {
	return c.command(request, "drop the queued message", func(ctx context.Context, c call) (Outcome, error) {
		err := errors.Join(c.Workspace.AddSent(ctx, typed), c.Session().ForgetQueued(ctx))
		return QueueForgotten{c.reply()}, err
	})
}

// Decide accepts or rejects proposals of a pair, whose effects are shown: Decided.
func (c *Commands) Decide(request, pair int64, payloads []string, accept bool, shown map[string][]assistant.Effect) tea.Cmd {
	return c.command(request, "answer the proposal", func(ctx context.Context, c call) (Outcome, error) {
		_, err := c.Workspace.Decide(ctx, pair, payloads, accept, shown)
		return Decided{c.reply(), pair, accept}, err
	})
}

// After the program has ended:

// SaveDraft stores a draft.
func (c *Commands) SaveDraft(ctx context.Context, d history.Draft) error {
	return c.work.SaveDraft(ctx, d)
}

// GoodStart stores that this start has not failed.
func (c *Commands) GoodStart(ctx context.Context) error { return c.work.SetFailedStarts(ctx, 0) }
