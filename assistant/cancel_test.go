package assistant_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// begin starts a turn and leaves it running.
func (r *rig) begin(p assistant.Prompt) <-chan assistant.Event {
	r.t.Helper()
	events, err := r.session.Send(context.Background(), p)
	r.must(err)
	return events
}

func TestCancelBeforeAToolHasRunLeavesNothing(t *testing.T) {
	for name, steps := range map[string]at.Answer{
		"before the first byte": {},
		"while reasoning":       {at.Think("hm")},
		"in the text":           {at.Say("some text")},
		"with a call announced": {at.Say("I add."), addWord("two")},
	} {
		t.Run(name, func(t *testing.T) {
			gate := at.NewGate()
			r := newRig(t, at.NewScript(append(steps, at.Stop{At: gate})))
			events := r.begin(assistant.Prompt{Text: "typed"})
			gate.Wait(t)
			r.session.Cancel()
			wantEqual(t, "kept", end[assistant.Cancelled](t, r.checked(at.Events(t, events))).Kept, false)
			wantEqual(t, "pairs in view", len(r.session.Visible()), 0)
			refs, err := r.store.Refs(context.Background(), "", 3.5)
			if err != nil || len(refs) != 0 {
				t.Errorf("stored: %v, %v", refs, err)
			}
			wantList(t, "words", r.window.Words(), "one")
			wantEqual(t, "streams broken off", r.script.Cancelled(), 1)
			wantEqual(t, "requests", len(r.script.Requests()), 1)
		})
	}
}

func TestCancelAfterAToolKeepsTheWholeResponses(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(
		at.Answer{at.Say("I add."), addWord("two")},
		at.Answer{at.Say("not whole"), addWord("three"), at.Stop{At: gate}},
		at.Answer{at.Say("next")},
	))
	events := r.begin(assistant.Prompt{Text: "add"})
	gate.Wait(t)
	r.session.Cancel()
	wantEqual(t, "kept", end[assistant.Cancelled](t, r.checked(at.Events(t, events))).Kept, true)
	p := r.last()
	wantEqual(t, "state", string(p.State)+" "+p.ErrorCode, "error cancelled")
	wantEqual(t, "text", p.AssistantText, "I add.\n\n[[tool:0]]")
	wantEqual(t, "calls", len(p.ToolCalls), 1)
	wantList(t, "words", r.window.Words(), "one", "two")
	r.send("and?")
	req := r.script.Requests()[2]
	wantList(t, "sent", said(req), "add", "and?")
	wantEqual(t, "text of the whole response", req.Messages[2].Content, "I add.")
	wantEqual(t, "results sent", len(results(t, req)), 1)
}

func TestCancelWhileAToolRuns(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("slow", "{}"), addWord("two")}))
	r.window.Slow = at.NewGate()
	events := r.begin(assistant.Prompt{Text: "go"})
	r.window.Slow.Wait(t)
	r.session.Cancel()
	wantEqual(t, "kept", end[assistant.Cancelled](t, r.checked(at.Events(t, events))).Kept, true)
	p := r.last()
	wantEqual(t, "calls", len(p.ToolCalls), 1)
	wantEqual(t, "result", p.ToolCalls[0].Result.ErrorCode, "cancelled")
	wantList(t, "runs", r.window.Runs(), "slow")
}

func TestCancelInADialogRunsNothing(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("save_words", "{}")}))
	r.must(r.window.Type("two"))
	events := r.begin(assistant.Prompt{Text: "save"})
	at.Until[assistant.ConfirmRequest](t, events)
	r.session.Cancel()
	wantEqual(t, "kept", end[assistant.Cancelled](t, r.checked(at.Events(t, events))).Kept, false)
	wantList(t, "saved", r.window.Saved(), "one")
	wantList(t, "runs", r.window.Runs())
}

func TestCancelOfARetryKeepsThePair(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Cut{}}, at.Answer{at.Stop{At: gate}}))
	r.send("typed")
	events := r.begin(assistant.Prompt{Retry: r.last().Seq})
	gate.Wait(t)
	r.session.Cancel()
	wantEqual(t, "kept", end[assistant.Cancelled](t, r.checked(at.Events(t, events))).Kept, true)
	wantEqual(t, "text", r.last().UserText, "typed")
	wantEqual(t, "code", r.last().ErrorCode, assistant.CodeCancelled)
}

func TestTheCallersContextCancelsToo(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Stop{At: gate}}))
	ctx, cancel := context.WithCancel(context.Background())
	events, err := r.session.Send(ctx, assistant.Prompt{Text: "hi"})
	r.must(err)
	gate.Wait(t)
	cancel()
	end[assistant.Cancelled](t, r.checked(at.Events(t, events)))
}

func TestCancelReturnsAtOnceWhateverTheToolDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn, begun := make(chan struct{}), at.NewGate()
		defer close(stubborn)
		begun.Open()
		tool := assistant.NewTool("stubborn", "Heeds nothing.", func(ctx context.Context, _ struct{}) (string, error) {
			_ = begun.Pass(ctx)
			<-stubborn
			return "late", nil
		})
		tool.Global = true
		pages := &assistant.Pages{}
		if err := pages.AddTool(tool); err != nil {
			t.Fatal(err)
		}
		s, err := assistant.NewSession(registryOf(t, at.NewScript(at.Answer{call("stubborn", "{}")})), assistant.Options{Model: "test/script", Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		events, err := s.Send(context.Background(), assistant.Prompt{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		<-begun.Reached()
		began := time.Now()
		s.Cancel()
		all := at.Events(t, events)
		if took := time.Since(began); took >= 100*time.Millisecond {
			t.Errorf("cancelling took %s", took)
		}
		end[assistant.Cancelled](t, all)
	})
}

func TestAToolThatTakesTooLong(t *testing.T) {
	for name, heeds := range map[string]bool{"heeds": true, "heeds not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				defer close(free)
				tool := assistant.NewTool("long", "Takes long.", func(ctx context.Context, _ struct{}) (string, error) {
					if heeds {
						<-ctx.Done()
						return "", ctx.Err()
					}
					<-free
					return "late", nil
				})
				tool.Global = true
				pages := &assistant.Pages{}
				if err := pages.AddTool(tool); err != nil {
					t.Fatal(err)
				}
				script := at.NewScript(at.Answer{call("long", "{}")}, at.Answer{at.Say("ok")})
				s, err := assistant.NewSession(registryOf(t, script), assistant.Options{Model: "test/script", Pages: pages})
				if err != nil {
					t.Fatal(err)
				}
				events, err := s.Send(context.Background(), assistant.Prompt{Text: "go"})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				var all []assistant.Event // patience is shorter than the timeout
				for e := range events {
					all = append(all, e)
				}
				end[assistant.Complete](t, all)
				if took := time.Since(began).Round(time.Second); took != assistant.DefaultToolTimeout {
					t.Errorf("given up after %s", took)
				}
				wantEqual(t, "code", results(t, script.Requests()[1])[0].ErrorCode, "timeout")
			})
		})
	}
}

func TestTimeInADialogIsNotTheTools(t *testing.T) {
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
		events, err := s.Send(context.Background(), assistant.Prompt{Text: "save"})
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
	if _, err := r.session.Send(context.Background(), assistant.Prompt{Text: "no"}); !errors.Is(err, assistant.ErrBusy) {
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
	p, ok := r.session.TakeQueued()
	wantEqual(t, "queued", p.Text, "newer")
	wantEqual(t, "waiting", ok, true)
	r.turn(p)
	wantList(t, "sent", said(r.script.Requests()[1]), "first", "newer")
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
		"edit":     func() error { return r.session.Edit("x", func() error { t.Error("edited"); return nil }) },
		"rollback": func() error { _, err := r.session.Rollback(ctx, r.session.Checkpoints()[0].ID, "both"); return err },
		"undo":     func() error { return r.session.UndoRollback(ctx) },
		"renew":    func() error { return r.session.Renew(ctx) },
		"delete":   func() error { return r.session.Delete(ctx, 1) },
		"request":  func() error { _, _, err := r.session.Request(ctx, "x"); return err },
		"begin":    func() error { return r.session.Begin(ctx) },
		"saved":    r.session.Saved,
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
