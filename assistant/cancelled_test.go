package assistant_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// cancelAt sends a prompt, cancels its turn at the gate and returns the end.
func (r *rig) cancelAt(gate *at.Gate, p assistant.Prompt) assistant.Cancelled {
	r.t.Helper()
	events := r.begin(p)
	gate.Wait(r.t)
	r.session.Cancel()
	return end[assistant.Cancelled](r.t, r.checked(at.Events(r.t, events)))
}

// again opens the session once more on the same store, as the next run of the program does.
func (r *rig) again() *assistant.Session {
	r.t.Helper()
	o := r.options
	o.ID, o.Journal, o.Window = r.session.ID(), nil, nil
	s, err := assistant.NewSession(r.session.Registry(), o)
	r.must(err)
	r.must(s.Start(context.Background()))
	r.must(s.LoadView(context.Background()))
	return s
}

func visible(s *assistant.Session) (seqs []int64) {
	for _, ref := range s.Visible() {
		seqs = append(seqs, ref.Seq)
	}
	return seqs
}

func TestACancelledAnswerIsOfferedUntilTheNextSend(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Think("hm"), at.Say("three whole words"), at.Stop{At: gate}}, at.Answer{at.Say("next")}))
	wantEqual(t, "kept", r.cancelAt(gate, assistant.Prompt{Text: "typed"}).Kept, false)
	p := r.session.Cancelled()
	if p == nil {
		t.Fatal("nothing is offered")
	}
	wantEqual(t, "offered", string(p.State)+" "+string(p.UserText)+" "+string(p.AssistantText)+" "+string(p.Reasoning), "partial typed three whole words hm")
	wantEqual(t, "words", assistant.PartialWords(p), 3)
	wantEqual(t, "in view", len(r.session.Visible()), 0)
	if state := r.session.State().Turn; state.Cancelled != p {
		t.Errorf("the part Turn has %v", state.Cancelled)
	}
	if found := r.again().Cancelled(); found == nil || found.AssistantText != "three whole words" {
		t.Errorf("the next run offers %+v", found)
	}
	r.send("other")
	if left := r.session.Cancelled(); left != nil {
		t.Errorf("after a send %+v is offered", left)
	}
	if found := r.again().Cancelled(); found != nil {
		t.Errorf("after a send the next run offers %+v", found)
	}
	if _, err := r.session.KeepCancelled(context.Background()); !errors.Is(err, assistant.ErrNothingCancelled) {
		t.Errorf("KeepCancelled = %v", err)
	}
	wantList(t, "sent", said(r.script.Requests()[1]), "other")
}

func TestAKeptAnswerIsShownAndNeverSent(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("half"), at.Stop{At: gate}}, at.Answer{at.Say("next")}))
	r.cancelAt(gate, assistant.Prompt{Text: "typed"})
	p, err := r.session.KeepCancelled(context.Background())
	r.must(err)
	if got := visible(r.session); !slices.Equal(got, []int64{p.Seq}) || r.session.Cancelled() != nil {
		t.Errorf("in view: %v, offered: %v", got, r.session.Cancelled())
	}
	wantEqual(t, "counter", r.session.Counter(), "0/1")
	wantEqual(t, "stored", string(r.last().State)+" "+string(r.last().AssistantText), "partial half")
	r.send("other")
	wantList(t, "sent", said(r.script.Requests()[1]), "other")
	if got := visible(r.again()); len(got) != 2 || got[0] != p.Seq {
		t.Errorf("the next run shows %v", got)
	}
}

func TestACancelledAnswerIsAskedAgain(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("half"), at.Stop{At: gate}}, at.Answer{at.Say("whole")}))
	r.cancelAt(gate, assistant.Prompt{Text: "typed"})
	p, err := r.session.AskAgain(context.Background())
	r.must(err)
	r.checked(at.Events(t, r.begin(p)))
	wantEqual(t, "answer", r.last().UserText+": "+r.last().AssistantText, "typed: whole")
	wantEqual(t, "pairs", len(r.session.Visible()), 1)
	if _, err := r.session.AskAgain(context.Background()); !errors.Is(err, assistant.ErrNothingCancelled) {
		t.Errorf("AskAgain = %v", err)
	}
}

// What a cancelled regeneration had brought becomes an answer beside the old one.
func TestACancelledRegenerationIsKeptAsAnAnswer(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("half"), at.Stop{At: gate}}, at.Answer{at.Say("next")}))
	r.send("typed")
	seq := r.last().Seq
	r.cancelAt(gate, assistant.Prompt{Regenerate: seq})
	wantEqual(t, "answers", texts(r.last()), "[first]")
	again, err := r.session.AskAgain(context.Background())
	r.must(err)
	wantEqual(t, "asks again", again.Regenerate, seq)
	kept, err := r.session.KeepCancelled(context.Background())
	r.must(err)
	wantEqual(t, "kept in", kept.Seq, seq)
	wantEqual(t, "answers", texts(r.last()), "[first] | half partial ")
	if found := r.again().Cancelled(); found != nil {
		t.Errorf("kept, but the next run offers %+v", found)
	}
	if _, err := r.session.Choose(context.Background(), seq, 1); err != nil {
		t.Fatal(err)
	}
	r.send("other")
	wantList(t, "sent", said(r.script.Requests()[2]), "other")
}

// The cancelled answer to a message before the branch belongs to the branch in which it was cancelled.
func TestACancelledRegenerationIsOfferedInItsSession(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("half"), at.Stop{At: gate}}))
	ctx := context.Background()
	r.send("typed")
	root, seq := r.session.ID(), r.last().Seq
	r.must(r.session.Branch(ctx, seq))
	branch := r.session.ID()
	r.cancelAt(gate, assistant.Prompt{Regenerate: seq})
	if found := r.again().Cancelled(); found == nil || found.AssistantText != "half" {
		t.Errorf("the next run of the branch offers %+v", found)
	}
	r.must(r.session.Resume(ctx, root))
	if found := r.session.Cancelled(); found != nil {
		t.Errorf("the session before the branch offers %+v", found)
	}
	r.must(r.session.Resume(ctx, branch))
	kept, err := r.session.KeepCancelled(ctx)
	r.must(err)
	wantEqual(t, "kept in", kept.Seq, seq)
	if found := r.again().Cancelled(); found != nil {
		t.Errorf("kept, but the next run offers %+v", found)
	}
}

// After a tool has run the whole responses stay, and what had come after them is offered.
func TestWhatCameAfterAToolIsOffered(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("I add."), addWord("two")}, at.Answer{at.Say("not whole"), at.Stop{At: gate}}))
	wantEqual(t, "kept", r.cancelAt(gate, assistant.Prompt{Text: "add"}).Kept, true)
	wantEqual(t, "text", r.last().AssistantText, "I add.\n\n[[tool:0]]")
	again, err := r.session.AskAgain(context.Background())
	r.must(err)
	wantEqual(t, "tries again", again.Retry, r.last().Seq)
	_, err = r.session.KeepCancelled(context.Background())
	r.must(err)
	wantEqual(t, "answers", texts(r.last()), "[I add.\n\n[[tool:0]] error cancelled] | I add.\n\n[[tool:0]]\n\nnot whole partial ")
}

func TestTheMessageOfAKeptAnswerMayBeGone(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("half"), at.Stop{At: gate}}))
	r.send("typed")
	seq := r.last().Seq
	r.cancelAt(gate, assistant.Prompt{Regenerate: seq})
	r.must(r.session.Delete(context.Background(), seq))
	again, err := r.session.AskAgain(context.Background())
	r.must(err)
	wantEqual(t, "asks again", again.Text, "typed")
	kept, err := r.session.KeepCancelled(context.Background())
	r.must(err)
	wantEqual(t, "kept", kept.UserText+": "+r.last().AssistantText, "typed: half")
	wantEqual(t, "answer to", r.last().AnswerTo, 0)
}

// When the store fails, the end of the turn says so, and the message stays.
func TestACancelledAnswerThatIsNotStoredIsReported(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("half"), at.Stop{At: gate}}))
	r.send("typed")
	seq := r.last().Seq
	r.store.onCommit(func(b *assistant.Batch) error {
		if b.Cancelled != nil {
			return errors.New("disk full")
		}
		return nil
	})
	events := r.begin(assistant.Prompt{Regenerate: seq})
	gate.Wait(t)
	r.session.Cancel()
	end[assistant.Error](t, at.Events(t, events))
	wantEqual(t, "answers", texts(r.last()), "[first]")
}

func TestASessionBranches(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("1")}, at.Answer{at.Say("2")}, at.Answer{at.Say("3")}, at.Answer{at.Say("4")}, at.Answer{at.Say("5")}))
	ctx := context.Background()
	r.send("one")
	one := r.last().Seq
	r.send("two")
	root := r.session.ID()
	r.must(r.session.Branch(ctx, one))
	branch := r.session.ID()
	if got := visible(r.session); branch == root || !slices.Equal(got, []int64{one}) {
		t.Fatalf("the branch %s of %s shows %v", branch, root, got)
	}
	r.send("three")
	three := r.last().Seq
	wantList(t, "sent", said(r.script.Requests()[2]), "one", "three")
	if got := visible(r.again()); !slices.Equal(got, []int64{one, three}) {
		t.Errorf("the branch, opened again, shows %v", got)
	}
	r.must(r.session.Branch(ctx, three))
	r.send("four")
	wantList(t, "sent", said(r.script.Requests()[3]), "one", "three", "four")
	r.must(r.session.Resume(ctx, root))
	wantEqual(t, "pairs of the root", len(r.session.Visible()), 2)
	r.must(r.session.Branch(ctx, three)) // of a pair that is not in this session
	if got := visible(r.session); !slices.Equal(got, []int64{one, three}) {
		t.Errorf("a branch of another session's pair shows %v", got)
	}
	if err := r.session.Branch(ctx, 999); !errors.Is(err, assistant.ErrNoPair) {
		t.Errorf("a branch of no pair: %v", err)
	}
}

func TestABranchIsRefusedDuringATurn(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("1")}, at.Answer{at.Stop{At: gate}}))
	r.send("one")
	before, seq := r.session.ID(), r.last().Seq
	events := r.begin(assistant.Prompt{Text: "two"})
	gate.Wait(t)
	if err := r.session.Branch(context.Background(), seq); !errors.Is(err, assistant.ErrBusy) || r.session.ID() != before {
		t.Errorf("Branch = %v, session %s", err, r.session.ID())
	}
	if _, err := r.session.KeepCancelled(context.Background()); !errors.Is(err, assistant.ErrBusy) {
		t.Errorf("KeepCancelled = %v", err)
	}
	r.session.Cancel()
	at.Events(t, events)
}
