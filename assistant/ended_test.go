package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

// endingStore is a store whose calls fail when their context has ended, and that ends a context
// at a call.
type endingStore struct {
	stateStore
	at     string // the call that ends the context
	cancel context.CancelFunc
}

// meet ends the context if it is time for that, and returns the error of ctx.
func (s *endingStore) meet(ctx context.Context, call string) error {
	if call == s.at {
		s.cancel()
	}
	return ctx.Err()
}

func (s *endingStore) Refs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	if err := s.meet(ctx, "Refs"); err != nil {
		return nil, err
	}
	return s.stateStore.Refs(ctx, session, charsPerToken)
}

func (s *endingStore) SessionState(ctx context.Context, id string) (json.RawMessage, error) {
	if err := s.meet(ctx, "SessionState"); err != nil {
		return nil, err
	}
	return s.stateStore.SessionState(ctx, id)
}

func (s *endingStore) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	if err := s.meet(ctx, "Load"); err != nil {
		return nil, err
	}
	return s.stateStore.Load(ctx, seqs)
}

// Commit ends the context after the commit: its outcome is known.
func (s *endingStore) Commit(ctx context.Context, b *assistant.Batch) error {
	err := s.stateStore.Commit(ctx, b)
	_ = s.meet(ctx, "Commit")
	return err
}

func newEndingStore() *endingStore {
	return &endingStore{stateStore: stateStore{states: map[string]json.RawMessage{}}}
}

// ends returns a context that ends when a call reaches the store.
func (s *endingStore) ends(t *testing.T, call string) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s.at, s.cancel = call, cancel
	return ctx
}

// endingRig returns a session with one turn, its window with a tab, and its store.
func endingRig(t *testing.T, tab string) (*rig, *tabbed, *endingStore) {
	t.Helper()
	w, kept := &tabbed{Window: at.NewWindow("one"), tab: tab}, newEndingStore()
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Window, o.Store = w, kept })
	r.send("first")
	return r, w, kept
}

// A session whose state was not read, because the context ended, has not been resumed, and its
// stored state is not replaced by an empty one.
func TestASessionWhoseStateWasNotReadIsNotResumed(t *testing.T) {
	r, _, kept := endingRig(t, "rules")
	r.must(r.session.Renew(t.Context()))
	now, state := r.session.ID(), string(kept.states["s1"])

	if err := r.session.Resume(kept.ends(t, "SessionState"), "s1"); !errors.Is(err, context.Canceled) {
		t.Errorf("Resume = %v; want that the context has ended", err)
	}
	wantEqual(t, "session", r.session.ID(), now)
	kept.at = ""
	r.must(r.session.Close(t.Context()))
	wantEqual(t, "state", string(kept.states["s1"]), state)
}

// A program that ends while it starts leaves the state of its session as it is.
func TestAStartThatIsCancelledKeepsTheStoredState(t *testing.T) {
	r, w, kept := endingRig(t, "models")
	r.must(r.session.Close(t.Context()))
	state := string(kept.states["s1"])

	w.tab = "rules" // as the next process opens it
	session, err := assistant.NewSession(registryOf(t, r.script), r.options)
	r.must(err)
	if err := session.Start(kept.ends(t, "SessionState")); !errors.Is(err, context.Canceled) {
		t.Errorf("Start = %v; want that the context has ended", err)
	}
	kept.at = ""
	r.must(session.Close(t.Context()))
	wantEqual(t, "state", string(kept.states["s1"]), state)
}

// An undo that is done is also shown, even if nobody waits for it any more.
func TestAnUndoneRollbackIsShownThoughItsContextHasEnded(t *testing.T) {
	kept := newEndingStore()
	r := twoTurns(t, func(o *assistant.Options) { o.Store = kept })
	_, err := r.session.Rollback(t.Context(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session))
	r.must(err)
	plan, err := r.session.PlanUndoRollback()
	r.must(err)
	r.must(r.session.UndoRollback(kept.ends(t, "Commit"), plan.Digest))
	wantList(t, "view", r.inView(), "a", "b", "c")
}

// The payloads of a deleted pair take no room in the next request.
func TestADeletionIsCountedThoughItsContextHasEnded(t *testing.T) {
	kept := newEndingStore()
	r := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"find me"}`)}), func(o *assistant.Options) { o.Store = kept })
	without := r.session.Boundary().SYS
	r.send("a")
	first := r.last().Seq
	r.script.Then(at.Answer{at.Say("ok")})
	r.send("b")
	with := r.session.Boundary().SYS
	r.must(r.session.Delete(kept.ends(t, "Commit"), first))
	if got := r.session.Boundary().SYS; got == with || got != without {
		t.Errorf("the system prompt is estimated at %d tokens: %d with the payload, %d without it", got, with, without)
	}
}

// unreadableLamp is a lamp whose saved state cannot be read again.
type unreadableLamp struct{ *deskLamp }

var errUnreadable = errors.New("permission denied")

func (unreadableLamp) RefreshSaved(context.Context, bool) (assistant.Refreshed, error) {
	return assistant.Refreshed{}, errUnreadable
}

// What is unsaved is dropped only if the saved state can be read again.
func TestARefreshThatFailsDropsNothing(t *testing.T) {
	lamp := newDeskLamp(newSocket(80))
	r := newRig(t, at.NewScript(), func(o *assistant.Options) { o.Window = unreadableLamp{lamp} })
	r.must(r.session.Edit("dim", func() error {
		_, err := lamp.Act(t.Context(), dim{30}, lamp.Revision())
		return err
	}))
	plan, err := r.session.PlanDiscard("")
	r.must(err)
	if _, err := r.session.RefreshSaved(t.Context(), "load the preset", &assistant.Basis{Digest: plan.Digest}); !errors.Is(err, errUnreadable) {
		t.Errorf("RefreshSaved = %v, want %v", err, errUnreadable)
	}
	if left := lamp.PlanDiscard("").Changes; len(left) != 1 {
		t.Errorf("unsaved is %v, want the change", left)
	}
}
