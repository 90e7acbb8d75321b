package assistant

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"winnow/checkpoint"
)

// findCut sets the options that decide where a rollback to a checkpoint cuts the conversation.
func (s *Session) findCut(ctx context.Context, id string, o *checkpoint.RollbackOptions) error {
	all := s.opts.Journal.List("")
	i := slices.IndexFunc(all, func(c checkpoint.Checkpoint) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	target := all[i]
	var seqs []int64
	for _, c := range all[i:] {
		seqs = append(seqs, c.PairSeq) // 0 if it has no pair
	}
	pairs, err := s.load(ctx, seqs)
	if err != nil {
		return err
	}
	sessions := map[int64]string{} // session ids of the pairs, by Seq
	for _, p := range pairs {
		sessions[p.Seq] = p.Session
	}
	for _, c := range all[i:] {
		if session, found := sessions[c.PairSeq]; found && session != c.Session {
			o.Foreign = append(o.Foreign, c.PairSeq)
		}
	}
	if target.Kind == checkpoint.KindStart {
		own, _, err := s.ownFrom(ctx, target.Session, 0)
		if len(own) > 0 {
			o.FirstPair = own[0].Seq
		}
		return err
	}
	if target.Kind == checkpoint.KindTurn && !slices.Contains(o.Foreign, target.PairSeq) {
		return nil
	}
	refs, err := s.refs(ctx, target.Session)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(refs) { // newest first, so that nothing older is cut if the clock was set back
		p, err := s.pair(ctx, r.Seq)
		if err != nil || !p.CreatedAt.After(target.Time) {
			return err
		}
		o.NextPair = r.Seq
	}
	return nil
}

// ownFrom returns the uncut pairs of a session from a Seq on, and the first of them, or nil. Pairs of the sessions from
// which it branches are not its own; they are older than its own pairs.
func (s *Session) ownFrom(ctx context.Context, session string, from int64) (own []Ref, first *Pair, err error) {
	refs, err := s.refs(ctx, session)
	if err != nil {
		return nil, nil, err
	}
	refs = slices.DeleteFunc(refs, func(r Ref) bool { return r.Seq < from })
	i := sort.Search(len(refs), func(i int) bool {
		p, loadErr := s.pair(ctx, refs[i].Seq)
		if err = cmp.Or(err, loadErr); err != nil || p.Session != session {
			return false
		}
		first = p
		return true
	})
	return refs[i:], first, err
}

// CutPairs returns how many pairs, of all sessions, a rollback of the conversation to a checkpoint would cut.
func (s *Session) CutPairs(ctx context.Context, id string) (n int, err error) {
	options := checkpoint.RollbackOptions{Scope: checkpoint.ScopeConversation, OnlySession: s.opts.Member.Only(s.ID())}
	if err := s.findCut(ctx, id, &options); err != nil {
		return 0, err
	}
	intent, err := s.opts.Journal.PlanRollback(id, options)
	if err != nil || !cutsPairs(intent) {
		return 0, err
	}
	for _, session := range intent.Sessions {
		own, _, err := s.ownFrom(ctx, session, intent.Cut)
		if err != nil {
			return 0, err
		}
		n += len(own)
	}
	return n, nil
}

// cutsPairs reports whether an intent rolls back the conversation.
func cutsPairs(intent checkpoint.Intent) bool {
	return intent.Scope != checkpoint.ScopeWindow && intent.Undoes == "" && intent.Cut != 0
}

// firstCut returns the oldest pair that an intent cuts, or nil.
func (s *Session) firstCut(ctx context.Context, intent checkpoint.Intent) (first *Pair, err error) {
	if !cutsPairs(intent) {
		return nil, nil
	}
	for _, session := range intent.Sessions {
		_, p, err := s.ownFrom(ctx, session, intent.Cut)
		if err != nil {
			return nil, err
		}
		if p != nil && (first == nil || p.Seq < first.Seq) {
			first = p
		}
	}
	return first, nil
}

// pairsFrom returns the uncut pairs from the place on where an intent cuts, in all sessions that it cuts, in order.
func (s *Session) pairsFrom(ctx context.Context, intent checkpoint.Intent) (seqs []int64, err error) {
	if !cutsPairs(intent) {
		return nil, nil
	}
	for _, session := range intent.Sessions {
		refs, err := s.refs(ctx, session)
		if err != nil {
			return nil, err
		}
		refs = slices.DeleteFunc(refs, func(r Ref) bool { return r.Seq < intent.Cut })
		seqs = append(seqs, seqsOf(refs)...)
	}
	slices.Sort(seqs)
	return seqs, nil
}

// showRolledBack updates the view with what was cut or restored; uncut are the pairs that
// were there before. The next turn sends the window to the model as if for the first time,
// without changes.
func (s *Session) showRolledBack(ctx context.Context, intent checkpoint.Intent, uncut []int64) error {
	left, err := s.pairsFrom(ctx, intent)
	if err != nil {
		return err
	}
	var back []Ref
	if intent.Undoes != "" {
		refs, err := s.refs(ctx, s.ID())
		if err != nil {
			return err
		}
		back = slices.DeleteFunc(refs, func(r Ref) bool { return r.Seq < intent.Cut })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.context = contextMemory{mark: s.current.context.mark, resumed: s.current.context.resumed}
	if intent.Undoes == "" {
		cut := slices.DeleteFunc(uncut, func(seq int64) bool {
			_, stays := slices.BinarySearch(left, seq)
			return stays
		})
		if slices.Contains(cut, s.current.reask) {
			s.current.reask = 0
		}
		s.view.cut = append([]Ref{}, s.view.drop(cut)...) // not nil, even if the filter hid all of them
		return nil
	}
	switch {
	case s.view.cut != nil:
		back, s.view.cut = s.view.cut, nil // exactly what was visible, including pairs of other sessions
	case s.view.line != currentSession:
		back = nil // only the caller can evaluate the line
	}
	s.view.restore(back)
	return nil
}
