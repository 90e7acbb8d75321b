package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/llm"
)

// ErrNothingCancelled is returned when no cancelled answer is offered.
var ErrNothingCancelled = errors.New("no cancelled answer is offered; the next message removes it")

// Cancelled returns what came of the answer that was cancelled last: a pair in state
// partial, which is offered until the next send. nil: nothing is offered. The caller must
// not change it.
func (q MessageQueue) Cancelled() *Pair {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.cancelled
}

// PartialWords counts the words of a cancelled answer; 0 when only reasoning came.
func PartialWords(p *Pair) int { return len(strings.Fields(p.AssistantText)) }

// AskAgain returns the prompt that repeats what was cancelled. The error is
// ErrNothingCancelled when nothing is offered.
func (s *Session) AskAgain(ctx context.Context) (Prompt, error) {
	p := s.Cancelled()
	if p == nil {
		return Prompt{}, ErrNothingCancelled
	}
	if p.AnswerTo != 0 {
		of, err := s.pair(ctx, p.AnswerTo)
		switch {
		case err == nil && of.State == PairError:
			return Prompt{Retry: of.Seq}, nil
		case err == nil:
			return Prompt{Regenerate: of.Seq}, nil
		case !errors.Is(err, ErrNoPair):
			return Prompt{}, err
		}
	}
	again := Prompt{Text: p.UserText, Attachments: slices.Clone(p.Attachments)}
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

// KeepCancelled keeps the cancelled answer that is offered. One to a new message becomes a
// visible pair, which is never sent; one to an older message becomes an answer of that,
// which is not chosen. It returns the pair that has it. The error is ErrBusy while a turn
// runs, and ErrNothingCancelled when nothing is offered.
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
		of, err := s.pair(ctx, partial.AnswerTo)
		if err == nil {
			return of, s.keepAsAnswer(ctx, partial, of)
		} else if !errors.Is(err, ErrNoPair) {
			return nil, err
		}
	}
	b := &Batch{Keep: partial.Session}
	kept := new(clonePair(partial))
	if kept.AnswerTo != 0 { // the older message was deleted
		kept.AnswerTo = 0
		b.Put, b.KeepMarks = []*Pair{kept}, true
	}
	return kept, s.opts.Store.Commit(ctx, b)
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

// partial returns what came of an answer that is cancelled, as a pair of its own; nil when
// nothing did. After a tool has run, the whole responses stay in the pair of the turn, and
// what had come is the whole answer. What the model suggested or proposed in it is left out.
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
		part.ToolCalls = nil // invalid ones
	}
	if !ran && t.fresh {
		return &part
	}
	now := t.now()
	part.AnswerTo, part.Seq, part.ID = p.Seq, 0, NewID(now)
	part.AnswerID, part.AnsweredAt = NewID(now), now
	return &part
}

// offerBeside stores a cancelled answer together with the pair, which keeps its own; nil stores none. It
// returns how the turn ends.
func (t *turn) offerBeside(partial *Pair, end Event) Event {
	if partial == nil {
		return end
	}
	ctx, cancel := t.storing()
	defer cancel()
	if err := t.s.opts.Store.Commit(ctx, &Batch{Cancelled: partial}); err != nil {
		t.log.Error("cancelled answer not stored", "error", err)
		return Error{Code: string(llm.KindUnknown), Message: fmt.Sprintf("cancelled, but what had come of the answer could not be stored: %v", err)}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.current.cancelled = partial
	return end
}

// restoreCancelled offers again what an earlier run, or another program, left to offer.
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

// Branch makes the Session a new session, with a new ID, that continues this one, or the
// session of the pair when it is not in this one: its view is that one's up to the pair,
// and its own pairs. Nothing is copied. Model, window state and unsaved changes stay: the
// window is not rolled back. On error the old session continues.
func (s *Session) Branch(ctx context.Context, seq int64) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
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
	id := NewID(s.now())
	if err := store.Branch(ctx, id, from); err != nil {
		return fmt.Errorf("branch: %w", err)
	}
	if refs, err = s.refs(ctx, id); err != nil {
		return err
	}
	return s.switchTo(ctx, id, refs)
}
