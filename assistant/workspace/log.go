package workspace

import (
	"context"
	"iter"

	"winnow/assistant"
)

// Next waits for a change to the session after a version and returns it; see
// assistant.Session.Next.
func (w *Workspace) Next(ctx context.Context, after int64) (assistant.Update, error) {
	return w.session.Next(ctx, after)
}

// Follow returns the changes to the session after a version, until ctx ends; see
// assistant.Session.Follow.
func (w *Workspace) Follow(ctx context.Context, after int64) iter.Seq[assistant.Update] {
	return w.session.Follow(ctx, after)
}

// Begin starts a turn, whose events come after the returned version; see
// assistant.Session.Begin. After BeginReAsk, the message replaces the pair that is
// being edited. The caller must pass the text, as it was typed, to AddSent.
func (w *Workspace) Begin(ctx context.Context, p assistant.Prompt) (after int64, err error) {
	after, err = w.session.Begin(ctx, w.replacing(p))
	if err == nil {
		w.EndReAsk()
	}
	return after, err
}

// Events returns the events of the turn that began after a version; see
// assistant.Session.Events.
func (w *Workspace) Events(ctx context.Context, after int64) iter.Seq[assistant.Event] {
	return w.session.Events(ctx, after)
}

// replacing returns p as a prompt that replaces the pair passed to BeginReAsk, unless p
// already names a pair.
func (w *Workspace) replacing(p assistant.Prompt) assistant.Prompt {
	if p.Replaces == 0 && !p.Again() {
		p.Replaces = w.session.ReAsked()
	}
	return p
}
