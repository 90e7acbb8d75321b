package assistant_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// twoTurns has one pair without and two with a write; checkpoints: start, b, c.
func twoTurns(t testing.TB, change ...func(*assistant.Options)) *rig {
	t.Helper()
	r := newRig(t, at.NewScript(
		at.Answer{at.Say("hello")},
		at.Answer{addWord("two")}, at.Answer{at.Say("added two")},
		at.Answer{addWord("three")}, at.Answer{at.Say("added three")},
		at.Answer{at.Say("later")},
	), change...)
	r.send("a")
	r.send("b")
	r.send("c")
	return r
}

// inView are the users' texts in view.
func (r *rig) inView() []string {
	r.t.Helper()
	var out []string
	for _, ref := range r.session.Visible() {
		out = append(out, string(r.pair(ref.Seq).UserText))
	}
	return out
}

// TestRollbackGivesBackTheFirstTextThatIsCut and none of a pair that was out of
// view before, or is another session's.
func TestRollbackGivesBackTheFirstTextThatIsCut(t *testing.T) {
	r, ctx := twoTurns(t), context.Background()
	back := func(to int, scope checkpoint.Scope, want safetext.Text) {
		t.Helper()
		text, err := r.session.Rollback(ctx, r.session.Checkpoints()[to].ID, scope, newestStep(r.session))
		r.must(err)
		wantEqual(t, "text for the input", text, want)
	}
	back(2, checkpoint.ScopeConversation, "c")
	r.send("d")
	back(2, checkpoint.ScopeConversation, "d")
	r.must(r.session.Renew(ctx))
	if _, err := r.session.Rollback(ctx, r.session.Checkpoints()[0].ID, checkpoint.ScopeBoth, newestStep(r.session)); !errors.Is(err, assistant.ErrNothingToRollBack) {
		t.Errorf("a rollback of a session without messages: %v", err)
	}
	r.send("e")
	back(0, checkpoint.ScopeBoth, "e")
}

// What a proposal's acceptance stored was not typed: it is not offered for the input.
func TestRollbackOfAProposalGivesBackNoText(t *testing.T) {
	r, ctx := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"two"}`)})), context.Background()
	r.send("propose")
	p := r.last()
	after, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, true)
	r.must(err)
	end[assistant.Complete](t, at.Events(t, at.Read(r.session, after)))
	step := newestStep(r.session)
	text, err := r.session.Rollback(ctx, step, checkpoint.ScopeBoth, step)
	r.must(err)
	wantEqual(t, "text for the input", text, "")
	wantEqual(t, "in view", strings.Join(r.inView(), ","), "propose")
}

// TestRollbackToAStartLeavesWhatWasSaidBefore it, in a session that went on
// after it too.
func TestRollbackToAStartLeavesWhatWasSaidBefore(t *testing.T) {
	r, ctx := twoTurns(t), context.Background()
	r.must(r.session.Renew(ctx))
	later := r.session.ID()
	r.must(r.session.Resume(ctx, "s1"))
	r.must(r.session.Resume(ctx, later))
	r.send("d")
	for _, want := range []error{nil, assistant.ErrNothingToRollBack} {
		_, err := r.session.Rollback(ctx, r.session.Checkpoints()[0].ID, checkpoint.ScopeBoth, newestStep(r.session))
		wantEqual(t, "the second time there is nothing of its own left", errors.Is(err, want), true)
		wantList(t, "view", r.inView())
		r.must(r.session.Resume(ctx, "s1"))
		wantList(t, "view of the session before", r.inView(), "a", "b", "c")
		r.must(r.session.Resume(ctx, later))
	}
}

func TestRollback(t *testing.T) {
	for _, tt := range []struct {
		scope       checkpoint.Scope
		to          int
		words, view []string
		text        safetext.Text
	}{
		{checkpoint.ScopeBoth, 1, []string{"one"}, []string{"a"}, "b"},
		{checkpoint.ScopeBoth, 2, []string{"one", "two"}, []string{"a", "b"}, "c"},
		{checkpoint.ScopeBoth, 0, []string{"one"}, nil, "a"},
		{checkpoint.ScopeWindow, 1, []string{"one"}, []string{"a", "b", "c"}, ""},
		{checkpoint.ScopeConversation, 1, []string{"one", "two", "three"}, []string{"a"}, "b"},
	} {
		t.Run(string(tt.scope)+string(tt.text), func(t *testing.T) {
			r := twoTurns(t)
			ctx := context.Background()
			text, err := r.session.Rollback(ctx, r.session.Checkpoints()[tt.to].ID, tt.scope, newestStep(r.session))
			r.must(err)
			wantEqual(t, "text for the input", text, tt.text)
			wantList(t, "words", r.window.Words(), tt.words...)
			wantList(t, "view", r.inView(), tt.view...)
			refs, err := r.store.Refs(ctx, "s1", 3.5)
			r.must(err)
			wantEqual(t, "uncut in the store", len(refs), len(tt.view))

			r.undoRollback()
			wantList(t, "words after undo", r.window.Words(), "one", "two", "three")
			wantList(t, "view after undo", r.inView(), "a", "b", "c")
			wantEqual(t, "checkpoints after undo", len(r.session.Checkpoints()), 3)

			_, err = r.session.Rollback(ctx, r.session.Checkpoints()[tt.to].ID, tt.scope, newestStep(r.session))
			r.must(err)
			r.send("new")
			reqs := r.script.Requests()
			wantList(t, "sent", said(reqs[len(reqs)-1]), append(tt.view, "new")...)
			if err := r.session.UndoRollback(ctx, ""); !errors.Is(err, checkpoint.ErrNoRollback) {
				t.Errorf("undo after a message: %v", err)
			}
			wantEqual(t, "told anew", len(r.changesOf(len(reqs)-1)) == 0 || tt.scope == checkpoint.ScopeWindow, true)
		})
	}
}

func TestARollbackThatTheWindowRefusesChangesNothing(t *testing.T) {
	r := twoTurns(t)
	r.window.BreakApply = errors.New("no")
	if _, err := r.session.Rollback(context.Background(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session)); err == nil {
		t.Fatal("no error")
	}
	wantList(t, "words", r.window.Words(), "one", "two", "three")
	wantList(t, "view", r.inView(), "a", "b", "c")
	r.window.BreakApply = nil
	r.send("works") // nothing is pending
}

func TestARollbackThatTheStoreRefusesIsTakenBack(t *testing.T) {
	r := twoTurns(t)
	r.store.onCommit(func(*assistant.Batch) error { return errors.New("disk full") })
	if _, err := r.session.Rollback(context.Background(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session)); err == nil {
		t.Fatal("no error")
	}
	r.store.onCommit(nil)
	wantList(t, "words", r.window.Words(), "one", "two", "three")
	wantList(t, "view", r.inView(), "a", "b", "c")
	_, err := r.session.Rollback(context.Background(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session))
	r.must(err)
	wantList(t, "at the second try", r.inView(), "a")
}

func TestAnInterruptedRollbackIsRolledForward(t *testing.T) {
	for name, committed := range map[string]bool{"before the store": false, "after the store": true} {
		t.Run(name, func(t *testing.T) {
			r := twoTurns(t)
			r.store.onCommit(func(b *assistant.Batch) error {
				if committed {
					if err := r.store.MemoryStore.Commit(context.Background(), b); err != nil {
						return err
					}
				}
				panic("power cut")
			})
			func() {
				defer func() { _ = recover() }()
				_, _ = r.session.Rollback(context.Background(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session))
			}()
			r.store.onCommit(nil)
			r.must(r.journal.Close())
			r.openJournal()
			r.window = at.NewWindow("one", "two", "three") // as the program finds it at its start
			r.options.Window, r.options.Journal = r.window, r.journal
			r.open()
			wantList(t, "words", r.window.Words(), "one")
			wantList(t, "view", r.inView(), "a")
			pending, err := r.journal.Pending()
			if pending != nil || err != nil {
				t.Errorf("pending: %+v, %v", pending, err)
			}
			r.undoRollback()
			wantList(t, "after undo", r.inView(), "a", "b", "c")
			wantList(t, "words after undo", r.window.Words(), "one", "two", "three")
		})
	}
}

func TestOnlyTheCutSessionsLeaveTheView(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}))
	r.send("mine")
	put(t, r.store, assistant.Pair{Session: "other", State: assistant.PairComplete, UserText: "theirs", AssistantText: "x"})
	refs, err := r.store.Refs(context.Background(), "", 3.5)
	r.must(err)
	r.session.SetView(refs, "")
	_, err = r.session.Rollback(context.Background(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session))
	r.must(err)
	wantList(t, "view", r.inView(), "theirs")
	r.undoRollback()
	wantList(t, "after undo", r.inView(), "mine", "theirs")
}

func TestUndoBringsBackNoMoreThanWasVisible(t *testing.T) {
	r := twoTurns(t)
	refs := r.session.Visible()
	r.session.SetView(append(refs[:1:1], refs[2]), "filtered")
	_, err := r.session.Rollback(context.Background(), r.session.Checkpoints()[1].ID, checkpoint.ScopeBoth, newestStep(r.session))
	r.must(err)
	wantList(t, "view", r.inView(), "a")
	r.undoRollback()
	wantList(t, "after undo", r.inView(), "a", "c")
}

func TestEditIsAStepThatCanBeUndone(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.must(r.session.Edit("Add two", func() error { return r.window.Type("two") }))
	step, ok := r.session.LastStep()
	if !ok || step.Description != "Add two" || step.Kind != checkpoint.KindEdit {
		t.Fatalf("step = %+v, %v", step, ok)
	}
	_, err := r.session.Rollback(context.Background(), step.ID, checkpoint.ScopeWindow, newestStep(r.session))
	r.must(err)
	wantList(t, "words", r.window.Words(), "one")
	if _, ok := r.session.LastStep(); ok {
		t.Error("there is still a step")
	}
	r.must(r.session.Edit("nothing", func() error { return nil }))
	if _, ok := r.session.LastStep(); ok {
		t.Error("what changed nothing is a step")
	}
	failed := errors.New("no")
	wantEqual(t, "failure", r.session.Edit("x", func() error { return failed }), failed)
}

func TestAnEditThatCannotBeRecordedIsTakenBack(t *testing.T) {
	r := newRig(t, at.NewScript())
	r.must(r.journal.Close())
	if err := r.session.Edit("Add two", func() error { return r.window.Type("two") }); err == nil {
		t.Error("no error")
	}
	wantList(t, "words", r.window.Words(), "one")
}

func TestATurnWaitsForThoseAtTheWindow(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}))
	inside, leave := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		err := r.session.Edit("slow edit", func() error {
			close(inside)
			<-leave
			return r.window.Type("mine")
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	events := r.begin(assistant.Prompt{Text: "go"})
	wantEqual(t, "busy", r.session.Busy(), true)
	if err := r.session.Edit("late", func() error { return nil }); !errors.Is(err, assistant.ErrBusy) {
		t.Errorf("an edit after the send: %v", err)
	}
	wantEqual(t, "locked while the edit goes on", r.window.Locks(), 0)
	close(leave)
	wait.Wait()
	r.checked(at.Events(t, events))
	wantList(t, "words", r.window.Words(), "one", "mine", "two")
}

// newestStep is the basis of a rollback as the session sees it now.
func (r *rig) undoRollback() {
	r.t.Helper()
	plan, err := r.session.PlanUndoRollback()
	r.must(err)
	r.must(r.session.UndoRollback(context.Background(), plan.Digest))
}

// Undoing a rollback loses what was done since, so the plan that was shown is carried out, or
// none.
func TestAnUndoOfARollbackIsThatWhichWasShown(t *testing.T) {
	r := twoTurns(t)
	ctx := context.Background()
	_, err := r.session.Rollback(ctx, r.session.Checkpoints()[2].ID, checkpoint.ScopeWindow, newestStep(r.session))
	r.must(err)
	shown, err := r.session.PlanUndoRollback()
	r.must(err)
	wantEqual(t, "steps lost", len(shown.Drops), 0)
	r.must(r.session.Edit("by hand", func() error { return r.window.Type("four") }))

	changed, ok := errors.AsType[*assistant.PlanChanged](r.session.UndoRollback(ctx, shown.Digest))
	if !ok || len(changed.Steps) != 1 || changed.Steps[0].Description != "by hand" {
		t.Fatalf("the undo is %+v", changed)
	}
	wantList(t, "words", r.window.Words(), "one", "two", "four")
	r.undoRollback()
	wantList(t, "words after the undo", r.window.Words(), "one", "two", "three")
}

func newestStep(s *assistant.Session) string {
	step, _ := s.LastStep()
	return step.ID
}

// TestRollbackToAnEditByHand cuts the messages that were sent after it, and reports when
// nothing would change.
func TestRollbackToAnEditByHand(t *testing.T) {
	for scope, want := range map[checkpoint.Scope]struct{ words, view []string }{
		checkpoint.ScopeBoth:         {[]string{"one"}, []string{"a"}},
		checkpoint.ScopeWindow:       {[]string{"one"}, []string{"a", "b"}},
		checkpoint.ScopeConversation: {[]string{"one", "two"}, []string{"a"}},
	} {
		t.Run(string(scope), func(t *testing.T) {
			now := time.Now().Add(-time.Hour) // the journal has the clock of the machine
			r := newRig(t, at.NewScript(at.Answer{at.Say("A")}, at.Answer{at.Say("B")}), func(o *assistant.Options) {
				o.Now = func() time.Time { return now }
			})
			ctx := context.Background()
			r.send("a")
			r.must(r.session.Edit("add two", func() error { return r.window.Type("two") }))
			now = now.Add(2 * time.Hour)
			r.send("b")
			step := newestStep(r.session)
			_, err := r.session.Rollback(ctx, step, scope, step)
			r.must(err)
			wantList(t, "words", r.window.Words(), want.words...)
			wantList(t, "view", r.inView(), want.view...)
			_, err = r.session.Rollback(ctx, step, scope, newestStep(r.session))
			if !errors.Is(err, assistant.ErrNothingToRollBack) {
				t.Errorf("the second time: %v", err)
			}
			r.undoRollback()
			wantList(t, "view", r.inView(), "a", "b")
			_, err = r.session.Rollback(ctx, r.session.Checkpoints()[0].ID, checkpoint.ScopeConversation, newestStep(r.session))
			r.must(err)
			wantList(t, "view after the rollback to the start", r.inView())
		})
	}
}
