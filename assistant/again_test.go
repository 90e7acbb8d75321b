package assistant_test

import (
	"context"
	"errors"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

func TestRetryGoesOnFromTheWholeResponses(t *testing.T) {
	r := newRig(t, at.NewScript(
		at.Answer{at.Say("I add."), addWord("two")},
		at.Answer{at.Say("half an ans"), at.Cut{}},
		at.Answer{at.Say("Done.")},
	))
	wantError(t, r.send("add"), assistant.CodeInterrupted)
	failed := r.last()
	wantEqual(t, "what was seen stays", failed.AssistantText, "I add.\n\n[[tool:0]]\n\nhalf an ans")
	end[assistant.Complete](t, r.turn(assistant.Prompt{Retry: failed.Seq}))
	p := r.last()
	wantEqual(t, "place", p.Seq, failed.Seq)
	wantEqual(t, "id", p.ID, failed.ID)
	wantEqual(t, "text", p.AssistantText, "I add.\n\n[[tool:0]]\n\nDone.")
	wantEqual(t, "state", string(p.State)+p.ErrorCode, "complete")
	req := r.script.Requests()[2]
	wantList(t, "said", said(req), "add")
	wantEqual(t, "results", len(results(t, req)), 1)
	wantEqual(t, "pairs", len(r.session.Visible()), 1)
	wantList(t, "runs", r.window.Runs(), "add_word two")
}

func TestRetryNeedsAnErrorPair(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.send("hi")
	end[assistant.Error](t, r.turn(assistant.Prompt{Retry: r.last().Seq}))
	end[assistant.Error](t, r.turn(assistant.Prompt{Retry: 99}))
	wantEqual(t, "pair", r.last().AssistantText, "ok")
}

// unreadableStore is a store whose pairs cannot be read.
type unreadableStore struct{ assistant.Store }

func (unreadableStore) Load(context.Context, []int64) ([]assistant.Pair, error) {
	return nil, errors.New("disk broken")
}

func TestATurnSaysWhyItsMessageIsMissing(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.send("hi")
	seq := r.last().Seq
	says := func(p assistant.Prompt, want string) {
		t.Helper()
		if e := end[assistant.Error](t, r.turn(p)); e.Message != want {
			t.Errorf("%+v: %q, want %q", p, e.Message, want)
		}
	}
	says(assistant.Prompt{Retry: seq}, "the message has not failed, so it cannot be retried")
	for _, p := range []assistant.Prompt{{Retry: 99}, {Regenerate: 99}, {Text: "x", Replaces: 99}} {
		says(p, "the message no longer exists")
	}
	r = newRig(t, at.NewScript(), func(o *assistant.Options) { o.Store = unreadableStore{o.Store} })
	for _, p := range []assistant.Prompt{{Retry: 1}, {Regenerate: 1}, {Text: "x", Replaces: 1}} {
		says(p, "the message could not be read: disk broken")
	}
}

func TestReplacesIsOneTransaction(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("bad")}, at.Answer{at.Say("good")}, at.Answer{at.Stop{At: gate}}))
	r.send("a")
	r.send("b")
	old := r.last()
	r.must(r.session.Mark(context.Background(), someMarks(old.Seq)))
	commits := 0
	r.store.onCommit(func(b *assistant.Batch) error {
		if commits++; commits == 1 && (len(b.Put) != 1 || len(b.Delete) != 1 || b.Delete[0] != old.Seq) {
			t.Errorf("first commit: %+v", b)
		}
		return nil
	})
	r.turn(assistant.Prompt{Text: "b", Replaces: old.Seq})
	p := r.last()
	if p.AssistantText != "good" || p.Star != 3 || p.Topic != "Mine" || p.UserText != "b" || p.Seq == old.Seq {
		t.Errorf("new pair: %+v", p)
	}
	wantList(t, "history of the replacement", said(r.script.Requests()[2]), "a", "b")
	wantEqual(t, "pairs", len(r.session.Visible()), 2)

	events := r.begin(assistant.Prompt{Text: "c", Replaces: p.Seq})
	gate.Wait(t)
	wantEqual(t, "pairs while it runs", len(r.session.Visible()), 2)
	r.session.Cancel()
	end[assistant.Cancelled](t, r.checked(at.Events(t, events)))
	wantEqual(t, "what was replaced came back", r.last().AssistantText, "good")
	wantEqual(t, "pairs after", len(r.session.Visible()), 2)
}

// Another program may delete the pair that runs: what it replaces is not lost with it.
func TestWhatWasReplacedComesBackAfterADeletion(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("good")}, at.Answer{at.Stop{At: gate}}))
	r.send("a")
	events := r.begin(assistant.Prompt{Text: "b", Replaces: r.last().Seq})
	gate.Wait(t)
	running := r.session.Visible()
	r.must(r.store.MemoryStore.Commit(context.Background(), &assistant.Batch{Delete: []int64{running[len(running)-1].Seq}}))
	r.session.Cancel()
	end[assistant.Cancelled](t, at.Events(t, events))
	wantEqual(t, "what was replaced came back", r.last().AssistantText, "good")
}

// A change of a pair that the store lacks is not reported as done.
func TestAMissingPairIsRefused(t *testing.T) {
	s := &assistant.MemoryStore{}
	p := &assistant.Pair{Session: "s"}
	three := 3
	if err := s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []assistant.Batch{{Delete: []int64{p.Seq, 9}}, {Marks: []assistant.PairMark{{Seq: p.Seq, Star: &three}, {Seq: 9}}}} {
		if err := s.Commit(t.Context(), &b); !errors.Is(err, assistant.ErrNoPair) {
			t.Errorf("%+v: %v, want ErrNoPair", b, err)
		}
	}
	if got, err := s.Load(t.Context(), []int64{p.Seq}); err != nil || len(got) != 1 || got[0].Star != 0 {
		t.Errorf("refused batches left %+v, %v", got, err)
	}
}

func TestAReplacementThatCannotBeStoredReplacesNothing(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.send("a")
	r.store.onCommit(func(*assistant.Batch) error { return errors.New("disk full") })
	end[assistant.Error](t, r.turn(assistant.Prompt{Text: "b", Replaces: r.last().Seq}))
	wantEqual(t, "pair", r.last().UserText, "a")
	wantEqual(t, "in view", len(r.session.Visible()), 1)
}

func TestAskAgainAfterAnError(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Cut{}}, at.Answer{at.Say("ok")}))
	r.send("a")
	r.turn(assistant.Prompt{Text: "a, please", Replaces: r.last().Seq})
	wantList(t, "sent", said(r.script.Requests()[1]), "a, please")
	wantEqual(t, "pairs", len(r.session.Visible()), 1)
}

func TestDeleteAndRenew(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	ctx := context.Background()
	r.send("a")
	r.send("b")
	r.must(r.session.Delete(ctx, r.session.Visible()[0].Seq))
	r.send("c")
	wantList(t, "sent", said(r.script.Requests()[2]), "b", "c")
	r.must(r.window.Type("two"))
	old := r.session.ID()
	r.must(r.session.Renew(ctx))
	if r.session.ID() == old || len(r.session.Visible()) != 0 || r.session.Model() != "test/script" || r.session.Filter() != "x" {
		t.Errorf("after Renew: id %s, %d pairs, model %s, filter %q", r.session.ID(), len(r.session.Visible()), r.session.Model(), r.session.Filter())
	}
	wantList(t, "words", r.window.Words(), "one", "two")
	r.send("d")
	wantList(t, "sent in the new session", said(r.script.Requests()[3]), "d")
	wantIn(t, r.script.Requests()[3].Messages[0].Content, `"changes_since_last_message":[]`)
	wantEqual(t, "checkpoints", r.session.Checkpoints()[0].Description, "Session start")
	refs, err := r.store.Refs(ctx, old, 3.5)
	if err != nil || len(refs) != 2 {
		t.Errorf("old pairs: %d, %v", len(refs), err)
	}
}

func TestResumeGoesOnWithAnotherSession(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	ctx := context.Background()
	r.send("a")
	first := r.session.ID()
	r.must(r.session.Renew(ctx))
	r.send("b")
	second := r.session.ID()
	r.must(r.window.Type("two"))
	r.must(r.session.Resume(ctx, first))
	if r.session.ID() != first || len(r.session.Visible()) != 1 || r.session.Model() != "test/script" || r.session.Filter() != "x" {
		t.Errorf("after Resume: id %s, %d pairs, model %s, filter %q", r.session.ID(), len(r.session.Visible()), r.session.Model(), r.session.Filter())
	}
	wantList(t, "words", r.window.Words(), "one", "two")
	r.send("c")
	wantList(t, "sent in the first session", said(r.script.Requests()[2]), "a", "c")
	for id, want := range map[string]int{first: 2, second: 1} {
		if refs, err := r.store.Refs(ctx, id, 3.5); err != nil || len(refs) != want {
			t.Errorf("session %s has %d pairs, %v; want %d", id, len(refs), err, want)
		}
	}
}

func TestWhatIsReplacedMakesRoomForOlderPairs(t *testing.T) {
	r := trimRig(t, 3, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	big := put(t, r.store, assistant.Pair{Session: "s1", State: assistant.PairComplete, UserText: safetext.Text(words(200)), AssistantText: "x"})
	r.must(r.session.LoadView(context.Background()))
	b := r.session.Boundary()
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Context: b.SYS + b.URA + b.HistoryTokens - 1, Known: true})
	wantEqual(t, "off context", r.session.Boundary().First, 1)
	r.turn(assistant.Prompt{Text: "shorter", Replaces: big})
	wantList(t, "sent", said(r.script.Requests()[0]), "user-0", "user-1", "user-2", "shorter")
}
