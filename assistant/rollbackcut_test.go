package assistant_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

func say(text string) at.Answer { return at.Answer{at.Say(text)} }

// rollBack rolls both window and conversation back to a checkpoint, by its index, and
// returns the text for the input.
func (r *rig) rollBack(to int) safetext.Text {
	r.t.Helper()
	text, err := r.session.Rollback(context.Background(), r.session.Checkpoints()[to].ID, checkpoint.ScopeBoth, newestStep(r.session))
	r.must(err)
	return text
}

// wantView holds the texts in view, here and in the next run.
func (r *rig) wantView(what string, want ...string) {
	r.t.Helper()
	wantList(r.t, what, r.inView(), want...)
	if here, next := visible(r.session), visible(r.again()); !slices.Equal(here, next) {
		r.t.Errorf("%s: in view are %v, in the next run %v", what, here, next)
	}
}

func TestARollbackInABranchLeavesWhatItTookOver(t *testing.T) {
	r, ctx := newRig(t, at.NewScript(say("1"), say("2"), say("3"), say("4"))), context.Background()
	r.send("a")
	r.send("b")
	r.must(r.session.Branch(ctx, r.last().Seq))
	branch := r.session.ID()
	r.send("c")
	r.must(r.session.Resume(ctx, "s1"))
	r.send("d") // so that the rollback cuts this session too
	r.must(r.session.Resume(ctx, branch))
	wantEqual(t, "text for the input", r.rollBack(0), "c")
	r.wantView("branch", "a", "b")
	r.must(r.session.Resume(ctx, "s1"))
	r.wantView("parent", "a", "b")
	r.undoRollback()
	r.wantView("parent after the undo", "a", "b", "d")
	r.must(r.session.Resume(ctx, branch))
	r.wantView("branch after the undo", "a", "b", "c")
}

// A pair of another session was answered again: it is not cut, nor what came before that answer.
func TestARollbackOfAnAnswerInAnotherSession(t *testing.T) {
	for name, prompt := range map[string]func(seq int64) assistant.Prompt{
		"retry":      func(seq int64) assistant.Prompt { return assistant.Prompt{Retry: seq} },
		"regenerate": func(seq int64) assistant.Prompt { return assistant.Prompt{Regenerate: seq} },
	} {
		t.Run(name, func(t *testing.T) {
			first := say("1")
			if name == "retry" {
				first = at.Answer{at.Fail{Err: errors.New("no")}}
			}
			r, ctx := newRig(t, at.NewScript(
				first, say("2"), at.Answer{addWord("two")}, say("added two"), at.Answer{addWord("three")}, say("added three"), say("later"),
			)), context.Background()
			r.send("a")
			a := r.last().Seq
			r.must(r.session.Branch(ctx, a))
			r.options.Now, r.options.ID = nil, r.session.ID() // the times of pairs and checkpoints differ
			r.open()
			r.send("b")
			r.send("c")
			r.turn(prompt(a))
			r.send("d")
			wantList(t, "words", r.window.Words(), "one", "two", "three")
			wantEqual(t, "text for the input", r.rollBack(2), "d")
			wantList(t, "words", r.window.Words(), "one", "two")
			r.wantView("what came later is cut", "a", "b", "c")
			r.undoRollback()
			wantEqual(t, "text for the input", r.rollBack(1), "c")
			r.wantView("back to an earlier turn", "a", "b")
		})
	}
}

// What the filter line hides stays hidden when a rollback is undone.
func TestAnUndoShowsNothingThatTheFilterHides(t *testing.T) {
	for name, between := range map[string]bool{"before": false, "between": true} {
		r := twoTurns(t)
		filter := func() { r.session.SetView(r.session.Visible()[:1], "s3") }
		if !between {
			filter()
		}
		r.rollBack(1)
		if between {
			filter()
		}
		r.undoRollback()
		wantList(t, "filtered "+name, r.inView(), "a")
		r.send("next")
		wantList(t, "sent", said(r.script.Requests()[5]), "a", "next")
	}
}
