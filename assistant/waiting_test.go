package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

func TestTimeInADialogIsNeitherTheToolsNorTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		window := at.NewWindow("one")
		if err := window.Type("two"); err != nil {
			t.Fatal(err)
		}
		s, err := assistant.NewSession(registryOf(t, at.NewScript(at.Answer{call("save_words", "{}")}, at.Answer{at.Say("ok")})),
			assistant.Options{Model: "test/script", Window: window, WithoutCheckpoints: true})
		if err != nil {
			t.Fatal(err)
		}
		events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "save"})
		if err != nil {
			t.Fatal(err)
		}
		_, ask := at.Until[assistant.ConfirmRequest](t, events)
		time.Sleep(time.Hour) // of the bubble's clock
		if err := s.Answer(ask.ID, true); err != nil {
			t.Fatal(err)
		}
		end[assistant.Complete](t, at.Events(t, events))
		wantList(t, "saved", window.Saved(), "one", "two")
		pairs, err := s.Pairs(t.Context(), []int64{s.Visible()[0].Seq})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "time of the answer", pairs[0].Took < time.Minute, true)
		wantEqual(t, "time of the call", pairs[0].ToolCalls[0].Took < time.Minute, true)
	})
}

func TestQueue(t *testing.T) {
	r := newRig(t, at.NewScript(
		at.Answer{at.Say("I look."), call("slow", "{}"), addWord("two")},
		at.Answer{at.Say("second")},
	))
	r.window.Slow = at.NewGate()
	wantEqual(t, "idle", errors.Is(r.session.Queue(assistant.Prompt{Text: "x"}), assistant.ErrNotBusy), true)
	events := r.begin(assistant.Prompt{Text: "first"})
	r.window.Slow.Wait(t)
	if _, err := at.Send(context.Background(), r.session, assistant.Prompt{Text: "no"}); !errors.Is(err, assistant.ErrBusy) {
		t.Errorf("a second send: %v", err)
	}
	r.must(r.session.Queue(assistant.Prompt{Text: "older"}))
	r.must(r.session.Queue(assistant.Prompt{Text: "newer"}))
	r.window.Slow.Open()
	all := r.checked(at.Events(t, events))
	end[assistant.Complete](t, all)
	wantEqual(t, "queued events", len(at.Only[assistant.Queued](all)), 2)
	wantEqual(t, "requests", len(r.script.Requests()), 1)
	wantEqual(t, "state", r.last().State, assistant.PairComplete)
	wantList(t, "tools of the response", r.window.Runs(), "slow", "add_word two")
	p, ok := r.session.Dequeue()
	wantEqual(t, "queued", p.Text, "older\n\nnewer")
	wantEqual(t, "waiting", ok, true)
	r.turn(p)
	wantList(t, "sent", said(r.script.Requests()[1]), "first", "older\n\nnewer")
}

// TestAMessageThatComesTooLateLeavesTheQueueAsItWas ends the turn while the store saves
// the second message.
func TestAMessageThatComesTooLateLeavesTheQueueAsItWas(t *testing.T) {
	gate := at.NewGate()
	kept := &stateStore{states: map[string]json.RawMessage{}}
	r := newRig(t, at.NewScript(at.Answer{at.Say("half"), at.Stop{At: gate}}), func(o *assistant.Options) { o.Store = kept })
	events := r.begin(assistant.Prompt{Text: "first"})
	gate.Wait(t)
	r.must(r.session.Queue(assistant.Prompt{Text: "waits"}))
	var stored []string
	kept.saving = func(p assistant.Prompt) {
		if stored = append(stored, p.Text); len(stored) == 1 {
			r.session.Cancel()
			at.Events(t, events)
		}
	}
	if err := r.session.Queue(assistant.Prompt{Text: "late"}); !errors.Is(err, assistant.ErrNotBusy) {
		t.Errorf("the late message: %v", err)
	}
	wantList(t, "stored", stored, "waits\n\nlate", "waits")
	p, _ := r.session.Queued()
	wantEqual(t, "queued", p.Text, "waits")
}

func TestTheQueuedMessageStaysAfterCancelAndError(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Stop{At: gate}, at.Cut{}}))
	events := r.begin(assistant.Prompt{Text: "first"})
	gate.Wait(t)
	r.must(r.session.Queue(assistant.Prompt{Text: "later"}))
	gate.Open()
	end[assistant.Error](t, r.checked(at.Events(t, events)))
	p, ok := r.session.Queued()
	if !ok || p.Text != "later" || len(r.script.Requests()) != 1 {
		t.Errorf("queued = %+v, %v; %d requests", p, ok, len(r.script.Requests()))
	}
}

func TestWhileLockedNothingElseTouchesTheWindow(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Stop{At: gate}, at.Say("ok")}))
	events := r.begin(assistant.Prompt{Text: "hi"})
	gate.Wait(t)
	ctx := context.Background()
	for name, refused := range map[string]func() error{
		"edit": func() error { return r.session.Edit("x", func() error { t.Error("edited"); return nil }) },
		"rollback": func() error {
			_, err := r.session.Rollback(ctx, r.session.Checkpoints()[0].ID, "both", newestStep(r.session))
			return err
		},
		"undo":    func() error { return r.session.UndoRollback(ctx, "") },
		"renew":   func() error { return r.session.Renew(ctx) },
		"delete":  func() error { return r.session.Delete(ctx, 1) },
		"request": func() error { _, _, err := r.session.Request(ctx, "x"); return err },
		"begin":   func() error { return r.session.Start(ctx) },
		"save":    func() error { _, err := r.session.Save(ctx, assistant.Basis{}); return err },
	} {
		if err := refused(); !errors.Is(err, assistant.ErrBusy) {
			t.Errorf("%s: %v, want ErrBusy", name, err)
		}
	}
	wantEqual(t, "locked", r.window.Locked(), true)
	r.must(r.session.SetModel("test/small")) // counts from the next send
	gate.Open()
	r.checked(at.Events(t, events))
	wantEqual(t, "model of the pair", r.last().Model, "test/script")
}

func TestConfirm(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy assistant.ConfirmPolicy
		tool   at.Call
		dirty  bool
		asks   bool
	}{
		{"save by default", "", call("save_words", "{}"), true, true},
		{"save with nothing to lose", assistant.ConfirmSave, call("save_words", "{}"), false, false},
		{"write by default", "", addWord("x"), false, false},
		{"write, always", assistant.ConfirmAlways, addWord("x"), false, true},
		{"read, always", assistant.ConfirmAlways, call("list_words", "{}"), false, false},
		{"save, never", assistant.ConfirmNever, call("save_words", "{}"), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, yes := range []bool{true, false} {
				r := newRig(t, at.NewScript(at.Answer{tt.tool}, at.Answer{at.Say("ok")}),
					func(o *assistant.Options) { o.Settings.Confirm = tt.policy })
				if tt.dirty {
					r.must(r.window.Type("two"))
				}
				events := r.begin(assistant.Prompt{Text: "go"})
				var before []assistant.Event
				if tt.asks {
					var ask assistant.ConfirmRequest
					before, ask = at.Until[assistant.ConfirmRequest](t, events)
					wantEqual(t, "an id nobody gave", errors.Is(r.session.Answer("other", true), assistant.ErrNotAsked), true)
					wantEqual(t, "runs before the answer", len(r.window.Runs()), 0)
					r.must(r.session.Answer(ask.ID, yes))
				}
				all := r.checked(append(before, at.Events(t, events)...))
				done := at.Only[assistant.ToolComplete](all)[0]
				if ran := len(r.window.Runs()) == 1; ran != (yes || !tt.asks) || (!ran && done.ErrorCode != "declined") {
					t.Errorf("answer %v: ran %v, %+v", yes, ran, done)
				}
				wantEqual(t, "asked", len(at.Only[assistant.ConfirmRequest](all)) == 1, tt.asks)
			}
		})
	}
}

// The writer lock is held from a turn's first write tool to its end, but not while a
// question waits for its answer, nor while the model only reads and answers.
func TestTheWriterLockIsHeldForWritingOnly(t *testing.T) {
	reads, writes := at.NewGate(), at.NewGate()
	r := newRig(t, at.NewScript(
		at.Answer{at.Stop{At: reads}, addWord("two")},
		at.Answer{at.Stop{At: writes}, call("save_words", "{}")}, at.Answer{at.Say("ok")}))
	other, err := checkpoint.Open(r.path, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	free := func(when string, want bool) {
		t.Helper()
		unlock, err := other.TryLock()
		if err == nil {
			unlock()
		}
		var held *checkpoint.LockedError
		if (err == nil) != want || err != nil && !errors.As(err, &held) {
			t.Errorf("%s: the lock of another program: %v, want it free: %v", when, err, want)
		}
	}
	events := r.begin(assistant.Prompt{Text: "go"})
	reads.Wait(t)
	free("before the first write", true)
	reads.Open()
	go writes.Open()
	before, ask := at.Until[assistant.ConfirmRequest](t, events)
	free("while a question waits", true)
	r.must(r.session.Answer(ask.ID, true))
	r.checked(append(before, at.Events(t, events)...))
	free("after the turn", true)
	if len(r.window.Runs()) != 2 {
		t.Errorf("ran %v", r.window.Runs())
	}

	gate := at.NewGate()
	r.script = at.NewScript(at.Answer{addWord("three")}, at.Answer{at.Stop{At: gate}, at.Say("ok")})
	r.open()
	events = r.begin(assistant.Prompt{Text: "again"})
	done := make(chan []assistant.Event, 1)
	go func() { done <- at.Events(t, events) }()
	gate.Wait(t)
	free("between a write and the end of the turn", false)
	gate.Open()
	r.checked(<-done)
	free("after the end", true)
}
