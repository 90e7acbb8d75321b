package assistant

import (
	"context"
	"errors"
	"slices"

	"winnow/checkpoint"
)

// Rollback goes back to a checkpoint: the window's state, the conversation, or
// both. What it cut comes back with UndoRollback until the next message. It
// returns the text of the first pair that was cut, for the input.
func (s *Session) Rollback(ctx context.Context, id string, scope checkpoint.Scope) (text string, err error) {
	release, err := s.mayRollBack()
	if err != nil {
		return "", err
	}
	defer release()
	first, err := s.firstPair(ctx, id)
	if err != nil {
		return "", err
	}
	intent, err := s.opts.Journal.BeginRollback(id, scope, first)
	if err != nil {
		return "", err
	}
	text = s.firstText(ctx, intent)
	if err := s.executeRollback(ctx, intent); err != nil {
		s.log.Error("rollback failed", "checkpoint", id, "scope", string(scope), "error", err)
		return "", err
	}
	return text, nil
}

// firstPair is the oldest pair of the session that a checkpoint is the start
// of; 0 when it is none, or has no pair.
func (s *Session) firstPair(ctx context.Context, id string) (int64, error) {
	all := s.opts.Journal.List("")
	at := slices.IndexFunc(all, func(c checkpoint.Checkpoint) bool { return c.ID == id })
	if at < 0 || all[at].Kind != checkpoint.KindStart {
		return 0, nil
	}
	refs, err := s.opts.Store.Refs(ctx, all[at].Session, s.Settings().Budget.CPT())
	if err != nil || len(refs) == 0 {
		return 0, err
	}
	return refs[0].Seq, nil
}

// UndoRollback takes the last rollback back, if no message was sent since.
func (s *Session) UndoRollback(ctx context.Context) error {
	release, err := s.mayRollBack()
	if err != nil {
		return err
	}
	defer release()
	intent, err := s.opts.Journal.BeginUndoRollback()
	if err != nil {
		return err
	}
	if err := s.executeRollback(ctx, intent); err != nil {
		s.log.Error("undo of a rollback failed", "error", err)
		return err
	}
	return nil
}

func (s *Session) mayRollBack() (release func(), err error) {
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil, ErrNoJournal
	}
	return s.acquireWork()
}

// executeRollback does what an intent says, in this order: the window, which can be
// put back; the store, all of it or nothing; the journal's note that it is done.
func (s *Session) executeRollback(ctx context.Context, in checkpoint.Intent) error {
	w := s.opts.Window
	if in.Scope != checkpoint.Conversation {
		if err := w.ApplyState(in.State); err != nil {
			return errors.Join(err, s.opts.Journal.Abandon(in))
		}
	}
	cut, err := s.toCut(ctx, in)
	if err == nil {
		err = s.opts.Store.Commit(ctx, batchOf(in))
	}
	if err != nil {
		var back error
		if in.Scope != checkpoint.Conversation {
			back = w.ApplyState(in.Previous)
		}
		return errors.Join(err, back, s.opts.Journal.Abandon(in))
	}
	if err := s.opts.Journal.Finish(in); err != nil {
		return err
	}
	state, err := windowState(w)
	if err == nil {
		err = s.markSaved(state)
	}
	return errors.Join(err, s.reloadView(ctx, in, cut))
}

// batchOf is the store's part of an intent.
func batchOf(in checkpoint.Intent) *Batch {
	b := &Batch{Intent: in.ID}
	switch {
	case in.Scope == checkpoint.Rules:
	case in.Undoes != "":
		b.Uncut = in.Undoes
	case in.Cut != 0:
		b.Cut = &Cut{Name: in.ID, Sessions: in.Sessions, From: in.Cut}
	}
	return b
}

// toCut finds the visible pairs that an intent cuts.
func (s *Session) toCut(ctx context.Context, in checkpoint.Intent) ([]Ref, error) {
	b := batchOf(in)
	if b.Cut == nil {
		return nil, nil
	}
	var later []Ref
	var seqs []int64
	for _, r := range s.Visible() {
		if r.Seq >= b.Cut.From {
			later, seqs = append(later, r), append(seqs, r.Seq)
		}
	}
	pairs, err := s.opts.Store.Load(ctx, seqs)
	if err != nil {
		return nil, err
	}
	cut := map[int64]bool{}
	for i := range pairs {
		cut[pairs[i].Seq] = slices.Contains(b.Cut.Sessions, pairs[i].Session)
	}
	return slices.DeleteFunc(later, func(r Ref) bool { return !cut[r.Seq] }), nil
}

// reloadView brings the view in line with what was cut or came back, and makes
// the next turn tell the model everything anew.
func (s *Session) reloadView(ctx context.Context, in checkpoint.Intent, cut []Ref) error {
	if in.Scope == checkpoint.Rules {
		return nil
	}
	var back []Ref
	if in.Undoes != "" {
		refs, err := s.opts.Store.Refs(ctx, s.ID(), s.Settings().Budget.CPT())
		if err != nil {
			return err
		}
		back = slices.DeleteFunc(refs, func(r Ref) bool { return r.Seq < in.Cut })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.context = contextMemory{mark: s.context.mark, resumed: s.context.resumed}
	if in.Undoes == "" {
		s.view.cut = cut
		s.view.drop(func(seq int64) bool {
			return slices.ContainsFunc(cut, func(r Ref) bool { return r.Seq == seq })
		})
		return nil
	}
	if s.view.cut != nil {
		back = s.view.cut // exactly what was visible, of whichever session
		s.view.cut = nil
	}
	s.view.bringBack(back)
	return nil
}

// firstText is what the user said in the first pair that a rollback cuts. A
// pair that an earlier one has cut, or that is deleted, is not cut again.
func (s *Session) firstText(ctx context.Context, in checkpoint.Intent) string {
	if in.Cut == 0 || in.Scope == checkpoint.Rules {
		return ""
	}
	first := int64(0)
	for _, session := range in.Sessions {
		refs, err := s.opts.Store.Refs(ctx, session, s.Settings().Budget.CPT())
		if err != nil {
			return ""
		}
		at := slices.IndexFunc(refs, func(r Ref) bool { return r.Seq >= in.Cut })
		if at >= 0 && (first == 0 || refs[at].Seq < first) {
			first = refs[at].Seq
		}
	}
	pairs, err := s.opts.Store.Load(ctx, []int64{first})
	if err != nil || len(pairs) == 0 {
		return ""
	}
	return pairs[0].UserText
}
