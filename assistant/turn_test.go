package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

func TestAPlainTurn(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Think("hm"), at.Say("Hel"), at.Say("lo.")}))
	events := r.send("  hi  ")
	wantEqual(t, "streamed", at.EventText(events), "Hello.")
	wantEqual(t, "message", end[assistant.Complete](t, events).Payload.Message, "Hello.")
	p := r.last()
	if p.State != assistant.PairComplete || p.UserText != "hi" || p.AssistantText != "Hello." || p.Reasoning != "hm" || p.Session != "s1" {
		t.Errorf("stored pair = %+v", p)
	}
	wantEqual(t, "locks", r.window.Locks(), 1)
}

func TestThePromptIsDurableBeforeTheRequestAndTheAnswerBeforeItsEnd(t *testing.T) {
	script := at.NewScript(at.Answer{at.Say("ok")})
	r := newRig(t, script)
	var states []assistant.PairState
	r.store.onCommit(func(b *assistant.Batch) error {
		states = append(states, b.Put[0].State)
		if n := len(script.Requests()); n != len(states)-1 {
			t.Errorf("commit %d comes after %d requests", len(states), n)
		}
		return nil
	})
	r.send("hi")
	if len(states) != 2 || states[0] != assistant.PairSending || states[1] != assistant.PairComplete {
		t.Errorf("commits: %v", states)
	}
}

func TestWhatAResponseDidIsStoredBeforeTheNextIsAskedFor(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("I look."), call("list_words", "{}")}, at.Answer{at.Stop{At: gate}}))
	events := r.begin(assistant.Prompt{Text: "go"})
	gate.Wait(t)
	p := r.last()
	if len(p.ToolCalls) != 1 || p.ToolCalls[0].Result == nil || p.AssistantText != "I look.\n\n[[tool:0]]" || p.State != assistant.PairSending {
		t.Errorf("stored so far: %+v", p)
	}
	gate.Open()
	r.checked(at.Events(t, events))
}

func TestNothingIsSentThatCannotBeStored(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.store.onCommit(func(*assistant.Batch) error { return errors.New("disk full") })
	wantIn(t, end[assistant.Error](t, r.send("hi")).Message, "not sent", "disk full")
	wantEqual(t, "requests", len(r.script.Requests()), 0)
	wantEqual(t, "pairs in view", len(r.session.Visible()), 0)
}

func TestAnAnswerThatCannotBeStoredIsNoCompleteOneAndCanBeTriedAgain(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.store.onCommit(func(b *assistant.Batch) error {
		if b.Put[0].State != assistant.PairSending {
			return errors.New("disk full")
		}
		return nil
	})
	wantIn(t, end[assistant.Error](t, r.send("hi")).Message, "could not be stored")
	r.store.onCommit(nil)
	end[assistant.Complete](t, r.turn(assistant.Prompt{Retry: r.last().Seq}))
	wantEqual(t, "pairs", len(r.session.Visible()), 1)
}

func TestAWindowThatCannotBeReadLosesNoText(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.window.BreakContext = errors.New("no window")
	wantIn(t, end[assistant.Error](t, r.send("typed")).Message, "no window")
	wantEqual(t, "kept", r.last().UserText, "typed")
	wantEqual(t, "state", r.last().State, assistant.PairError)
	wantEqual(t, "requests", len(r.script.Requests()), 0)
	r.window.BreakContext = nil
	end[assistant.Complete](t, r.turn(assistant.Prompt{Retry: r.last().Seq}))
}

func TestToolsRunInOrderAndAFailureStopsNothing(t *testing.T) {
	r := newRig(t, at.NewScript(
		at.Answer{at.Say("I add."), addWord("two"), addWord("one"), call("panic", "{}"), call("fail", "{}"), addWord("three")},
		at.Answer{at.Say("Done.")},
	))
	events := r.send("add")
	wantList(t, "runs", r.window.Runs(), "add_word two", "add_word one", "panic", "fail", "add_word three")
	wantList(t, "words", r.window.Words(), "one", "two", "three")
	got := results(t, r.script.Requests()[1])
	var codes []string
	for _, res := range got {
		codes = append(codes, res.ErrorCode)
	}
	wantList(t, "error codes", codes, "", "failed", "panic", "failed", "")
	wantIn(t, got[0].Message, "two")
	wantIn(t, got[4].Message, "three")
	complete := end[assistant.Complete](t, events)
	wantEqual(t, "text", complete.Payload.Message, "I add.\n\n[[tool:0]][[tool:1]][[tool:2]][[tool:3]][[tool:4]]\n\nDone.")
	wantEqual(t, "streamed", at.EventText(events), complete.Payload.Message)
	history := complete.Payload.Custom.Data
	for i, done := range at.Only[assistant.ToolComplete](events) {
		if h := history[i]; done.Index != i || h.ToolName != done.Tool || h.Output != done.Message || h.Success != done.Success {
			t.Errorf("card %d: %+v, history %+v", i, done, h)
		}
	}
	ids := map[string]bool{}
	for i, m := range r.script.Requests()[1].Messages[2].Calls {
		ids[m.ID] = true
		if answer := r.script.Requests()[1].Messages[3+i]; answer.CallID != m.ID {
			t.Errorf("result %d answers %s, want %s", i, answer.CallID, m.ID)
		}
	}
	wantEqual(t, "distinct ids", len(ids), 5)
}

func TestCallsWithTheSameOrNoIDKeepTheirResults(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{
		at.Call{ID: "x", Name: "add_word", Arguments: `{"word":"a"}`},
		at.Call{ID: "x", Name: "add_word", Arguments: `{"word":"b"}`},
		at.Emit{Part: llm.End{Calls: []llm.Call{
			{ID: "x", Name: "add_word", Arguments: `{"word":"a"}`}, {ID: "x", Name: "add_word", Arguments: `{"word":"b"}`}, {Name: "count_words"},
		}, Finish: "tool_calls"}},
	}, at.Answer{at.Say("ok")}))
	r.send("go")
	ids := map[string]bool{}
	for _, c := range r.last().ToolCalls {
		ids[c.ID] = true
	}
	if len(ids) != len(r.last().ToolCalls) || ids[""] {
		t.Errorf("ids %v of %d calls", ids, len(r.last().ToolCalls))
	}
}

func TestTheCheckpointIsMadeOnceAndIsDurableBeforeTheFirstWrite(t *testing.T) {
	var r *rig
	seen := -1
	look := assistant.NewTool("look", "Looks at the journal's file.", func(context.Context, struct{}) (string, error) {
		data, err := os.ReadFile(r.path)
		seen = strings.Count(string(data), `add_word`)
		return "looked", err
	})
	look.Write, look.Global = true, true
	pages := &assistant.Pages{}
	if err := pages.AddTool(look); err != nil {
		t.Fatal(err)
	}
	r = newRig(t, at.NewScript(
		at.Answer{call("list_words", "{}"), call("look", "{}"), addWord("two")},
		at.Answer{addWord("three")},
		at.Answer{at.Say("Done.")},
	), func(o *assistant.Options) { o.Pages = pages })
	events := r.send("add")
	wantEqual(t, "checkpoints announced", len(at.Only[assistant.CheckpointCreated](events)), 1)
	if seen == 0 {
		t.Error("the write tool ran before its checkpoint was in the journal")
	}
	list := r.session.Checkpoints()
	if len(list) != 2 || list[0].Kind != checkpoint.KindStart || list[1].PairSeq != r.last().Seq {
		t.Fatalf("checkpoints: %+v", list)
	}
	state, err := r.journal.State(list[1].ID)
	r.must(err)
	wantEqual(t, "state before", string(state), `{"words":["one"]}`)
	wantEqual(t, "recorded state", string(r.journal.Current()), `{"words":["one","two","three"]}`)
	wantIn(t, list[1].Undoes(), "added two", "added three")
}

// A rollback takes back what a turn changed, but not what it saved, and says so.
func TestCheckpointOfATurnThatSaved(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{call("save_words", "{}")}, at.Answer{at.Say("ok")}),
		func(o *assistant.Options) { o.Settings.Confirm = assistant.ConfirmNever })
	r.send("add and save")
	list := r.session.Checkpoints()
	wantEqual(t, "checkpoints", len(list), 2)
	wantEqual(t, "a rollback undoes", list[1].Undoes(), "added two; saved changes stay in the file")
}

// A checkpoint is a change: a write tool that changed nothing, for whatever reason, leaves
// none behind, reports none and is none for undo, after a restart too.
func TestAWriteThatChangesNothingLeavesNoCheckpoint(t *testing.T) {
	for name, c := range map[string]struct {
		calls   at.Answer
		confirm assistant.ConfirmPolicy
		changes int
	}{
		"a duplicate":            {at.Answer{addWord("one")}, "", 0},
		"a failure":              {at.Answer{call("fail", "{}")}, "", 0},
		"a panic":                {at.Answer{call("panic", "{}")}, "", 0},
		"all three":              {at.Answer{addWord("one"), call("fail", "{}"), call("panic", "{}")}, "", 0},
		"a failure and a change": {at.Answer{call("fail", "{}"), addWord("two"), call("fail", "{}")}, "", 1},
		"only saved":             {at.Answer{call("save_words", "{}")}, assistant.ConfirmNever, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.NewScript(c.calls, at.Answer{at.Say("Done.")}), func(o *assistant.Options) { o.Settings.Confirm = c.confirm })
			events := r.send("do it")
			check := func() {
				t.Helper()
				wantEqual(t, "checkpoints after the start", len(r.session.Checkpoints())-1, c.changes)
				wantEqual(t, "changes", r.session.Changes(), c.changes)
				_, undoes := r.session.LastStep()
				wantEqual(t, "can be undone", undoes, c.changes > 0)
			}
			wantEqual(t, "announced", len(at.Only[assistant.CheckpointCreated](events)), c.changes)
			check()
			r.must(r.journal.Close())
			r.openJournal()
			r.options.Journal = r.journal
			r.open()
			check()
		})
	}
}

func TestAReadToolMakesNoCheckpoint(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("list_words", "{}")}, at.Answer{at.Say("ok")}))
	wantEqual(t, "announced", len(at.Only[assistant.CheckpointCreated](r.send("list"))), 0)
	wantEqual(t, "checkpoints", len(r.session.Checkpoints()), 1)
}

func TestNoCheckpointNoWrite(t *testing.T) {
	t.Run("journal closed", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{addWord("two"), call("count_words", "{}")}, at.Answer{at.Say("ok")}))
		r.must(r.journal.Close())
		events := r.send("add")
		wantList(t, "words", r.window.Words(), "one")
		wantList(t, "runs", r.window.Runs(), "count_words")
		done := at.Only[assistant.ToolComplete](events)
		wantIn(t, done[0].Message, "nothing was changed", "closed")
	})
	t.Run("state unreadable", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}))
		r.window.BreakState = errors.New("state broken")
		r.send("add")
		wantList(t, "words", r.window.Words(), "one")
	})
	t.Run("no journal", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Journal = nil })
		r.send("add")
		wantList(t, "words", r.window.Words(), "one")
		_, err := r.session.Rollback(context.Background(), "x", checkpoint.ScopeBoth, newestStep(r.session))
		wantEqual(t, "rollback", errors.Is(err, assistant.ErrNoJournal), true)
	})
	t.Run("no journal wanted", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}),
			func(o *assistant.Options) { o.Journal, o.WithoutCheckpoints = nil, true })
		r.send("add")
		wantList(t, "words", r.window.Words(), "one", "two")
	})
}

func TestAChangeThatCannotBeRecordedEndsTheTurn(t *testing.T) {
	broken := assistant.NewTool("breaks", "Breaks the window's state.", func(context.Context, struct{}) (string, error) { return "ok", nil })
	broken.Write, broken.Global = true, true
	pages := &assistant.Pages{}
	if err := pages.AddTool(broken); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, at.NewScript(at.Answer{call("breaks", "{}"), addWord("two")}), func(o *assistant.Options) { o.Pages = pages })
	r.store.onCommit(func(b *assistant.Batch) error {
		if len(b.Put[0].ToolCalls) > 0 && b.Put[0].State == assistant.PairSending {
			return errors.New("disk full")
		}
		return nil
	})
	events := r.send("go")
	wantIn(t, end[assistant.Error](t, events).Message, "disk full")
	wantList(t, "runs", r.window.Runs())
	wantEqual(t, "cards that end", len(at.Only[assistant.ToolComplete](events)), 1)
}

func TestARequestErrorKeepsItsClassAndWords(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Fail{Err: &llm.RequestError{Kind: llm.KindQuota, Status: 429, Message: "slow down"}}}))
	e := wantError(t, r.send("hi"), "quota")
	wantEqual(t, "message", e.Message, "slow down (status 429)")
	p := r.last()
	wantEqual(t, "stored", fmt.Sprint(p.State, p.ErrorCode, p.ErrorMessage), "error"+"quota"+"slow down (status 429)")
}

func TestAPanicOfTheModelEndsTheTurnInOrder(t *testing.T) {
	r := newRig(t, at.NewScript())
	registry := registryOf(t, breaking{})
	s, err := assistant.NewSession(registry, r.options)
	r.must(err)
	r.session = s
	wantIn(t, end[assistant.Error](t, r.send("hi")).Message, "failed", "boom")
	wantEqual(t, "state", r.last().State, assistant.PairError)
}

func TestAPanicOfTheStoreEndsTheTurnToo(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.store.onCommit(func(b *assistant.Batch) error {
		if b.Put[0].State != assistant.PairSending {
			panic("store")
		}
		return nil
	})
	end[assistant.Error](t, r.send("hi"))
}

func TestTheResultIsTheTurnsAndSmall(t *testing.T) {
	live := map[string]any{"n": 1}
	pages := &assistant.Pages{}
	big := strings.Repeat("x", 100_000)
	for name, data := range map[string]any{"live": live, "big": big, "odd": func() {}} {
		tool := assistant.NewTool(name, "Returns data.", func(context.Context, struct{}) (assistant.ToolResult, error) {
			return assistant.OK("here", data), nil
		})
		tool.Global = true
		if err := pages.AddTool(tool); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, at.NewScript(at.Answer{call("live", "{}"), call("big", "{}"), call("odd", "{}")}, at.Answer{at.Say("ok")}),
		func(o *assistant.Options) { o.Pages = pages })
	events := r.send("go")
	end[assistant.Complete](t, events)
	live["n"] = 2
	raw, _ := json.Marshal(at.Only[assistant.ToolComplete](events)[0].Data)
	wantEqual(t, "data after the tool changed its own", string(raw), `{"n":1}`)
	for _, m := range r.script.Requests()[1].Messages {
		if len(m.Content) > 40_000 {
			t.Errorf("a result of %d bytes is sent", len(m.Content))
		}
	}
	got := results(t, r.script.Requests()[1])
	wantIn(t, fmt.Sprint(got[1].Data), "truncated")
	wantIn(t, got[2].Hint, "could not be encoded")
}

func TestTurnStartedOpensTheEvents(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("one")}, at.Answer{at.Say("two")}))
	for _, text := range []string{"first", "second"} {
		events := r.send(text)
		started, ok := events[0].(assistant.TurnStarted)
		if !ok || started.Seq != r.last().Seq {
			t.Errorf("the first event is %#v, want TurnStarted of pair %d", events[0], r.last().Seq)
		}
		wantEqual(t, "TurnStarted events", len(at.Only[assistant.TurnStarted](events)), 1)
	}
}

func TestTurnThatIsNotStoredHasNoTurnStarted(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("one")}))
	r.store.onCommit(func(*assistant.Batch) error { return errors.New("disk full") })
	events := r.send("first")
	wantEqual(t, "events", len(events), 1)
	wantError(t, events, "unknown")
}
