package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/llm"
)

// ErrNothingCancelled is returned when there is no cancelled answer to keep or
// repeat.
var ErrNothingCancelled = errors.New("there is no cancelled answer to keep or repeat; one is available only until the next message")

// Cancelled returns the received part of the most recently cancelled answer, as a pair in
// state partial. It returns nil if there is none. The answer is available until the next
// message is sent. The caller must not change it.
func (q MessageQueue) Cancelled() *Pair {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.cancelled
}

// PartialWords returns the number of words in a cancelled answer; 0 if only
// reasoning arrived.
func PartialWords(p *Pair) int { return len(strings.Fields(string(p.AssistantText))) }

// AskAgain returns the prompt that repeats the cancelled request. It returns
// ErrNothingCancelled if there is none.
func (s *Session) AskAgain(ctx context.Context) (Prompt, error) {
	p := s.Cancelled()
	if p == nil {
		return Prompt{}, ErrNothingCancelled
	}
	if p.AnswerTo != 0 {
		of, err := s.uncutPair(ctx, p.AnswerTo)
		switch {
		case err == nil && of.State == PairError:
			return Prompt{Retry: of.Seq}, nil
		case err == nil:
			return Prompt{Regenerate: of.Seq}, nil
		case !errors.Is(err, ErrNoPair):
			return Prompt{}, err
		}
	}
	again := Prompt{Text: string(p.UserText), Attachments: slices.Clone(p.Attachments)}
	store, stored := s.opts.Store.(PictureStore)
	for i := range again.Attachments {
		f := &again.Attachments[i]
		if f.Hash == "" || f.Data != nil || !stored {
			continue
		}
		var err error
		if f.Data, err = store.Picture(ctx, f.Hash); err != nil {
			return Prompt{}, fmt.Errorf("the picture %s could not be read: %w", f.Name, err)
		}
	}
	return again, nil
}

// KeepCancelled stores the cancelled answer. An answer to a new message becomes
// a visible pair that is never sent. An answer to an older message becomes one
// of that message's answers, but not the chosen one. KeepCancelled returns the
// pair that now holds the answer. It returns ErrBusy while a turn runs, and
// ErrNothingCancelled if there is no cancelled answer.
func (s *Session) KeepCancelled(ctx context.Context) (*Pair, error) {
	release, err := s.acquireWork(false)
	if err != nil {
		return nil, err
	}
	defer release()
	partial := s.Cancelled()
	if partial == nil {
		return nil, ErrNothingCancelled
	}
	kept, err := s.keepCancelled(ctx, partial)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.cancelled = nil
	s.updates.addStale(kept.Seq)
	ref := PairRef(kept, s.opts.Settings.Budget.CPT())
	if _, visible := s.view.find(kept.Seq); visible {
		s.view.put(ref)
	} else {
		s.view.restore([]Ref{ref})
	}
	return kept, nil
}

func (s *Session) keepCancelled(ctx context.Context, partial *Pair) (*Pair, error) {
	if partial.AnswerTo != 0 {
		of, err := s.uncutPair(ctx, partial.AnswerTo)
		if err == nil {
			return of, s.keepAsAnswer(ctx, partial, of)
		} else if !errors.Is(err, ErrNoPair) {
			return nil, err
		}
	}
	kept := new(clonePair(partial)) // stored again in case another program has removed it
	kept.AnswerTo = 0               // the older message, if any, was deleted or rolled back
	return kept, s.opts.Store.Commit(ctx, &Batch{Keep: partial.Session, Put: []*Pair{kept}, KeepMarks: true})
}

// keepAsAnswer adds a cancelled answer to the answers of an older pair.
func (s *Session) keepAsAnswer(ctx context.Context, partial, of *Pair) error {
	v := partial.Answer()
	add := PairAnswer{Seq: of.Seq, ID: v.ID, Add: &v}
	if err := s.opts.Store.Commit(ctx, &Batch{Answers: []PairAnswer{add}, Forget: partial.Session}); err != nil {
		return err
	}
	return add.Apply(of)
}

// partial returns the received part of a cancelled answer as a separate pair. It returns
// nil if there is no more text than the turn's pair keeps, or if the turn executed a
// proposal. If a tool has run, the complete responses stay in the turn's pair, and the
// returned pair contains the whole answer so far. Suggestions and proposals are dropped.
func (t *turn) partial(ran bool) *Pair {
	p := t.pair
	if p.AssistantText == "" && p.Reasoning == "" || t.decided != nil || ran && p.AssistantText == wholeResponses(p) {
		return nil
	}
	part := clonePair(p)
	part.State, part.ErrorCode, part.ErrorMessage = PairPartial, "", ""
	part.Payloads, part.Suggested, part.Variants, part.Chosen = nil, nil, nil, 0
	part.Took = t.took()
	if !ran {
		part.ToolCalls = nil // all of them were invalid: no tool has run
	}
	if !ran && t.fresh {
		return &part
	}
	now := t.now()
	part.AnswerTo, part.Seq, part.ID = p.Seq, 0, NewID(now)
	part.Session = t.s.ID() // the pair may belong to another session, such as the parent of this one
	part.AnswerID, part.AnsweredAt = NewID(now), now
	return &part
}

// offerPartial stores a cancelled answer next to the pair, which keeps its own
// answer. If partial is nil, it stores nothing. It returns end, or an Error if
// storing fails.
func (t *turn) offerPartial(partial *Pair, end Event) Event {
	if partial == nil {
		return end
	}
	ctx, cancel := t.storing()
	defer cancel()
	if err := t.s.opts.Store.Commit(ctx, &Batch{Cancelled: partial}); err != nil {
		t.log.Error("cancelled answer not stored", "error", err)
		return Error{Code: string(llm.KindUnknown), Message: fmt.Sprintf("cancelled, but the partial answer could not be stored: %v", err)}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.current.cancelled = partial
	return end
}

// restoreCancelled makes a cancelled answer from an earlier run, or from
// another program, available again.
func (s *Session) restoreCancelled(ctx context.Context, session string) error {
	store, ok := s.opts.Store.(CancelledStore)
	if !ok {
		return nil
	}
	seq, err := store.Cancelled(ctx, session)
	if err != nil || seq == 0 {
		return err
	}
	pairs, err := s.load(ctx, []int64{seq})
	if err != nil || len(pairs) == 0 {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.cancelled = &pairs[0]
	return nil
}

// Branch turns the Session into a new session, with a new ID, that branches off at a
// pair of this session or of another session. Its view is the parent's up to that pair,
// followed by its own pairs; nothing is copied. Model, window state and unsaved changes
// stay: the window is not rolled back. On error, the current session continues.
func (s *Session) Branch(ctx context.Context, seq int64) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	id := NewID(s.now())
	if err := s.BranchInto(ctx, id, seq); err != nil {
		return err
	}
	refs, err := s.refs(ctx, id)
	if err != nil {
		return err
	}
	return s.switchTo(ctx, id, refs)
}

// BranchInto creates a session with this id that branches off at a pair. Its parent is
// this session, or the pair's own session if the pair is not in this one. The Session
// itself does not change.
func (s *Session) BranchInto(ctx context.Context, id string, seq int64) error {
	store, ok := s.opts.Store.(BranchStore)
	if !ok {
		return ErrNoBranches
	}
	p, err := s.pair(ctx, seq)
	if err != nil {
		return err
	}
	refs, err := s.refs(ctx, s.ID())
	if err != nil {
		return err
	}
	from := Branch{Parent: s.ID(), UpTo: seq}
	if !slices.ContainsFunc(refs, func(r Ref) bool { return r.Seq == seq }) {
		from.Parent = p.Session
	}
	if err := store.Branch(ctx, id, from); err != nil {
		return fmt.Errorf("the branch could not be created: %w", err)
	}
	return nil
}
