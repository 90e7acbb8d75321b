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
	events, err := at.Send(context.Background(), r.session, p)
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
	wantEqual(t, "message", p.ErrorMessage, "cancelled; what the tools did is kept, and a retry continues from there")
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
	wantEqual(t, "message", r.last().ErrorMessage, "you cancelled this message before it was answered")
}

func TestTheCallersContextCancelsToo(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Stop{At: gate}}))
	ctx, cancel := context.WithCancel(context.Background())
	events, err := at.Send(ctx, r.session, assistant.Prompt{Text: "hi"})
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
		events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "go"})
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
				events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "go"})
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

// The failed pair stays in its place and, in a branch that has taken it over, in view.
func TestACancelledReAskLeavesTheFailedPairInItsPlace(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Fail{Err: errors.New("no")}}, at.Answer{at.Say("fine")}, at.Answer{at.Stop{At: gate}}))
	r.send("bad")
	bad := r.last().Seq
	r.send("good")
	r.must(r.session.Branch(context.Background(), r.last().Seq))
	r.cancelAt(gate, assistant.Prompt{Text: "better", Replaces: bad})
	r.wantView("after the cancel", "bad", "good")
	wantEqual(t, "failed pair", r.pair(bad).State, assistant.PairError)
}
