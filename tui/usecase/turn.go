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
	// MessageQueued is the outcome of Queue.
	MessageQueued struct {
		Reply
		Prompt assistant.Prompt
		Joined bool  // the message will be sent together with a message that was already queued
		Err    error // assistant.ErrNotBusy means that no turn is running any longer, so the message can be sent
	}
	// QueueForgotten is the outcome of ForgetQueued.
	QueueForgotten struct{ Reply }
	// Decided is the outcome of Decide.
	Decided struct {
		Reply
		Pair     int64
		Accepted bool // the turn that carries out the proposals arrives in the log
	}
)

// The methods up to Models return no command: they take effect at once, without I/O and
// without waiting, and therefore in the order of the key presses.

// Begin starts a turn. The events of the turn arrive in the log.
func (c *Commands) Begin(p assistant.Prompt) (*assistant.Turn, error) {
	if _, err := c.work.Begin(context.Background(), p); err != nil {
		return nil, err
	}
	return c.work.Session().Turn(), nil
}

// Cancel cancels the running turn, if there is one.
func (c *Commands) Cancel() {
	if c.work != nil {
		c.work.Cancel()
	}
}

// Answer answers a question of the running turn.
func (c *Commands) Answer(id string, yes bool) error { return c.work.Answer(id, yes) }

// Dequeue removes the queued message from the queue and returns it. The history keeps the
// message until it is sent, dropped or stored in a draft.
func (c *Commands) Dequeue() (assistant.Prompt, bool) { return c.work.Dequeue() }

// EndReAsk makes the next message a new message that replaces no failed pair.
func (c *Commands) EndReAsk() {
	if c.work != nil {
		c.work.EndReAsk()
	}
}

// ReAsked returns the failed pair that the next message replaces; 0 if there is none.
func (c *Commands) ReAsked() int64 {
	if c.work == nil {
		return 0
	}
	return c.work.Session().ReAsked()
}

// Author returns the name under which the user's changes are recorded; "" if unknown.
func (c *Commands) Author() string {
	if c.work == nil {
		return ""
	}
	return c.work.Author()
}

// Models returns the registry of selectable models; the registry is empty until Bind is
// called.
func (c *Commands) Models() *llm.Registry {
	if c.work == nil {
		return &llm.Registry{}
	}
	return c.work.Session().Registry()
}

// Queue queues a message until the running turn ends, together with any message that is
// already queued. The outcome is MessageQueued.
func (c *Commands) Queue(request int64, p assistant.Prompt) tea.Cmd {
	return c.command(request, "queue the message", func(ctx context.Context, c call) (Outcome, error) {
		waiting, err := c.Workspace.Queue(ctx, p)
		return MessageQueued{c.reply(), p, err == nil && waiting.Text != p.Text, err}, nil
	})
}

// ForgetQueued drops a message that Dequeue returned, but keeps the message in the list of
// sent messages. The outcome is QueueForgotten.
func (c *Commands) ForgetQueued(request int64, typed string) tea.Cmd {
	return c.command(request, "drop the queued message", func(ctx context.Context, c call) (Outcome, error) {
		err := errors.Join(c.Workspace.AddSent(ctx, typed), c.Session().ForgetQueued(ctx))
		return QueueForgotten{c.reply()}, err
	})
}

// Decide accepts or rejects proposals of a pair. shown contains the effects that the user
// has seen. The outcome is Decided.
func (c *Commands) Decide(request, pair int64, payloads []string, accept bool, shown map[string][]assistant.Effect) tea.Cmd {
	return c.command(request, "answer the proposal", func(ctx context.Context, c call) (Outcome, error) {
		_, err := c.Workspace.Decide(ctx, pair, payloads, accept, shown)
		return Decided{c.reply(), pair, accept}, err
	})
}

// The methods below are called after the program has ended.

// SaveDraft stores a draft.
func (c *Commands) SaveDraft(ctx context.Context, d history.Draft) error {
	return c.work.SaveDraft(ctx, d)
}

// ResetFailedStarts records that this start succeeded, and sets the number of failed starts to 0.
func (c *Commands) ResetFailedStarts(ctx context.Context) error {
	return c.work.SetFailedStarts(ctx, 0)
}
