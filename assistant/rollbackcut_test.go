package assistant_test

import (
	"context"
	"errors"
	"fmt"
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

// cancelledTool is a conversation with a turn that was cancelled after its tool and rolled
// back, while its unfinished answer is offered.
func cancelledTool(t *testing.T) (r *rig, cut int64) {
	t.Helper()
	gate := at.NewGate()
	r = newRig(t, at.NewScript(say("hello"), at.Answer{addWord("two")}, at.Answer{at.Say("half"), at.Stop{At: gate}}, say("whole"), say("later")))
	r.send("a")
	r.cancelAt(gate, assistant.Prompt{Text: "add"})
	cut = r.last().Seq
	r.session.ReAsk(cut)
	wantEqual(t, "text for the input", r.rollBack(1), "add")
	r.wantView("rolled back", "a")
	return r, cut
}

func TestACancelledAnswerToAPairThatWasRolledBack(t *testing.T) {
	ctx := context.Background()
	r, cut := cancelledTool(t)
	kept, err := r.session.KeepCancelled(ctx)
	r.must(err)
	wantEqual(t, "kept in the pair that was cut", kept.Seq == cut, false)
	r.wantView("kept", "a", "add")
	r.send("next")
	wantList(t, "sent", said(r.script.Requests()[3]), "a", "next")

	r, _ = cancelledTool(t)
	again, err := r.session.AskAgain(ctx)
	r.must(err)
	r.turn(again)
	r.wantView("asked again", "a", "add")
	wantEqual(t, "answer", r.last().AssistantText, "whole")
}

// Nothing is stored in a pair that was rolled back, where it would not be seen again.
func TestAPairThatWasRolledBackIsNotAnsweredAgain(t *testing.T) {
	for name, prompt := range map[string]func(seq int64) assistant.Prompt{
		"retry":      func(seq int64) assistant.Prompt { return assistant.Prompt{Retry: seq} },
		"regenerate": func(seq int64) assistant.Prompt { return assistant.Prompt{Regenerate: seq} },
		"replace":    func(seq int64) assistant.Prompt { return assistant.Prompt{Text: "x", Replaces: seq} },
	} {
		r, cut := cancelledTool(t)
		e := wantError(t, r.turn(prompt(cut)), "unknown")
		wantEqual(t, name, e.Message, "the message no longer exists")
		r.wantView(name, "a")
	}
	r, _ := cancelledTool(t)
	wantEqual(t, "the pair to replace", r.session.ReAsked(), 0)
	r = noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"two"}`)}))
	r.send("propose")
	p := r.last()
	r.rollBack(0)
	if _, err := r.session.Decide(context.Background(), p.Seq, []string{p.Payloads[0].ID}, true); !errors.Is(err, assistant.ErrNoPair) {
		t.Errorf("Decide = %v", err)
	}
}

// Another program with the same session has sent a message, which removes the cancelled answer.
func TestACancelledAnswerThatAnotherProgramRemovedIsKept(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("half"), at.Stop{At: gate}}, say("other")))
	r.cancelAt(gate, assistant.Prompt{Text: "typed"})
	events, err := at.Send(context.Background(), r.again(), assistant.Prompt{Text: "sent"})
	r.must(err)
	at.Events(t, events)
	_, err = r.session.KeepCancelled(context.Background())
	r.must(err)
	wantList(t, "kept", r.inView(), "typed")
	wantEqual(t, "pairs in the next run", len(r.again().Visible()), 2)
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

// loadCounter is a store that counts its loads.
type loadCounter struct {
	assistant.MemoryStore
	loads int
}

func (s *loadCounter) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	s.loads++
	return s.MemoryStore.Load(ctx, seqs)
}

// A rollback reads neither each pair of the parent nor each pair that it cuts.
func TestARollbackOfManyTurnsReadsFewPairs(t *testing.T) {
	const n = 40
	counted := &loadCounter{}
	var answers []at.Answer
	for i := range 2 * n {
		answers = append(answers, at.Answer{addWord(fmt.Sprint("word", i))}, say("added"))
	}
	r := newRig(t, at.NewScript(answers...), func(o *assistant.Options) { o.Store = counted })
	for range n {
		r.send("in the parent")
	}
	r.must(r.session.Branch(t.Context(), r.session.Visible()[n-1].Seq))
	for range n {
		r.send("in the branch")
	}
	all := r.session.Checkpoints()
	for name, to := range map[string]int{
		"to the first turn": len(all) - n,
		"to the branch":     slices.IndexFunc(all, func(c checkpoint.Checkpoint) bool { return c.Session == r.session.ID() }),
	} {
		t.Run(name, func(t *testing.T) {
			counted.loads = 0
			wantEqual(t, "text for the input", r.rollBack(to), "in the branch")
			loads := counted.loads
			wantEqual(t, "pairs in view", len(r.session.Visible()), n)
			if loads > n/2 {
				t.Errorf("%d loads", loads)
			}
			r.undoRollback()
		})
	}
}
