package workspace

import (
	"context"
	"iter"

	"winnow/assistant"
)

// Next returns what has changed in the session after a version, and waits for it; see
// assistant.Session.Next.
func (w *Workspace) Next(ctx context.Context, after int64) (assistant.Update, error) {
	return w.session.Next(ctx, after)
}

// Follow returns what changes in the session after a version, until ctx ends; see
// assistant.Session.Follow.
func (w *Workspace) Follow(ctx context.Context, after int64) iter.Seq[assistant.Update] {
	return w.session.Follow(ctx, after)
}

// Begin starts a turn as Send does. Its events are those of Follow after the version, up
// to one of Complete, Error and Cancelled.
func (w *Workspace) Begin(ctx context.Context, p assistant.Prompt) (after int64, err error) {
	after, err = w.session.Begin(ctx, w.replacing(p))
	if err == nil {
		w.EndReAsk()
	}
	return after, err
}

// replacing is a prompt that replaces the pair of BeginReAsk, unless it says otherwise.
func (w *Workspace) replacing(p assistant.Prompt) assistant.Prompt {
	if p.Replaces == 0 && !p.Again() {
		p.Replaces = w.session.ReAsked()
	}
	return p
}
