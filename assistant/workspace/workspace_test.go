package workspace_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// window is the test window with a file to save to.
type window struct {
	*at.Window
	saved        []string
	conflict     *assistant.Conflict // of the next save
	applied, ran func()              // called once, when a state was applied and when a tool ran; nil is nothing
}

func (w *window) Dirty() bool { return !slices.Equal(w.saved, w.Words()) }

func (w *window) PlanSave(context.Context, string) (assistant.SavePlan, error) {
	return w.PlanDiscard(""), nil
}

func (w *window) PlanDiscard(string) assistant.SavePlan {
	p := assistant.SavePlan{Conflict: w.conflict}
	for _, word := range w.Words() {
		if !slices.Contains(w.saved, word) {
			p.Changes = append(p.Changes, assistant.Change{Title: "word", After: word})
		}
	}
	p.Digest = assistant.Digest("words", p.Changes)
	return p
}

func (w *window) Save(_ context.Context, basis assistant.Basis) (assistant.Saved, error) {
	plan := w.PlanDiscard("")
	switch {
	case w.conflict != nil:
		return assistant.Saved{}, w.conflict
	case basis.Digest != "" && basis.Digest != plan.Digest:
		return assistant.Saved{}, &assistant.PlanChanged{Plan: plan}
	}
	w.saved = w.Words()
	once(&w.ran)
	return assistant.Saved{Path: "words", Written: true, Changes: plan.Changes}, nil
}

func (w *window) Discard(basis assistant.Basis) (lost []assistant.Change, err error) {
	plan := w.PlanDiscard("")
	if basis.Digest != "" && basis.Digest != plan.Digest {
		return nil, &assistant.PlanChanged{Plan: plan}
	}
	raw, err := assistant.PlainJSON(map[string]any{"words": w.saved, "saved": w.saved})
	if err != nil {
		return nil, err
	}
	return plan.Changes, w.Apply(raw)
}

func (w *window) RefreshSaved(_ context.Context, drop bool) (assistant.Refreshed, error) {
	w.conflict = nil
	out := assistant.Refreshed{Path: "words", Changed: true}
	if drop {
		lost, err := w.Discard(assistant.Basis{})
		out.Dropped = lost
		return out, err
	}
	return out, nil
}

// rig is a workspace on a scripted model, with a real journal and history.
type rig struct {
	*workspace.Workspace
	t       *testing.T
	ctx     context.Context
	window  *window
	store   history.Store
	session *assistant.Session
	script  *at.Script
	kept    map[string]string // settings
}

func newRig(t *testing.T, answers ...at.Answer) *rig {
	t.Helper()
	r := &rig{t: t, ctx: t.Context(), window: &window{Window: at.NewWindow("one"), saved: []string{"one"}}, script: at.NewScript(answers...), kept: map[string]string{}}
	dir := t.TempDir()
	journal, err := checkpoint.Open(filepath.Join(dir, "journal"), checkpoint.Options{})
	r.must(err)
	t.Cleanup(func() { journal.Close() })
	r.store, err = sqlite.Open(r.ctx, filepath.Join(dir, "history.db"), sqlite.Options{})
	r.must(err)
	t.Cleanup(func() { r.store.Close() })
	registry := &llm.Registry{}
	r.must(registry.Add(llm.Provider{Name: "test", Model: r.script, Known: []llm.ModelInfo{
		{ID: "test/script", Context: 100_000, Known: true, Tools: true}, {ID: "test/small", Context: 200, Known: true},
	}}))
	r.session, err = assistant.NewSession(registry, assistant.Options{
		ID: "s1", Window: r.window, Store: r.store, Journal: journal, Model: "test/script",
	})
	r.must(err)
	r.must(r.store.Touch(r.ctx, history.Session{ID: "s1", Folder: "/f"}))
	r.must(r.session.Start(r.ctx))
	r.must(r.session.LoadView(r.ctx))
	r.Workspace = workspace.New(workspace.Options{
		Session: r.session, History: r.store, Folder: "/f", Now: time.Now,
		StoreSetting: func(key, value string) error { r.kept[key] = value; return nil },
	})
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// send runs a turn to its end and returns its pair.
func (r *rig) send(p assistant.Prompt) (seq int64, end assistant.Event) {
	r.t.Helper()
	events, err := at.Send(r.ctx, r, p)
	r.must(err)
	all := at.Events(r.t, events)
	started := at.Only[assistant.TurnStarted](all)
	if len(started) != 1 {
		r.t.Fatalf("the turn has %d TurnStarted events: %#v", len(started), all)
	}
	return started[0].Seq, all[len(all)-1]
}

func (r *rig) text(seq int64) string {
	r.t.Helper()
	pairs, err := r.session.Pairs(r.ctx, []int64{seq})
	r.must(err)
	if len(pairs) == 0 {
		return ""
	}
	return string(pairs[0].UserText)
}

func (r *rig) wantErr(err, want error) {
	r.t.Helper()
	if !errors.Is(err, want) {
		r.t.Errorf("the error is %v, want %v", err, want)
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func say(text string) at.Answer { return at.Answer{at.Say(text)} }

func fail() at.Answer {
	return at.Answer{at.Fail{Err: &llm.RequestError{Kind: llm.KindNet, Message: "no route"}}}
}

func add(word string) at.Answer {
	return at.Answer{at.Call{Name: "add_word", Arguments: `{"word":"` + word + `"}`}}
}

func TestRetryTriesAFailedPairInItsPlace(t *testing.T) {
	r := newRig(t, fail(), say("better"))
	seq, _ := r.send(assistant.Prompt{Text: "hello"})
	retry, confirm, err := r.PrepareRetry(r.ctx, seq, false)
	r.must(err)
	if confirm != nil || retry.Regenerates || retry.Prompt.Retry != seq {
		t.Fatalf("Retry = %+v, %+v", retry, confirm)
	}
	again, end := r.send(retry.Prompt)
	want(t, "pair", again, seq)
	if _, ok := end.(assistant.Complete); !ok {
		t.Errorf("the retry ended with %#v", end)
	}
}

func TestRetryRegeneratesTheLastAnswerOnly(t *testing.T) {
	r := newRig(t, say("one"), say("two"), say("three"))
	first, _ := r.send(assistant.Prompt{Text: "a"})
	last, _ := r.send(assistant.Prompt{Text: "b"})
	_, _, err := r.PrepareRetry(r.ctx, first, false)
	r.wantErr(err, workspace.ErrNotLast)
	retry, confirm, err := r.PrepareRetry(r.ctx, last, false)
	r.must(err)
	if confirm != nil || !retry.Regenerates || retry.Prompt.Regenerate != last {
		t.Fatalf("Retry = %+v, %+v", retry, confirm)
	}
	_, _, err = r.PrepareRetry(r.ctx, 999, false)
	r.wantErr(err, assistant.ErrNoPair)
}

func TestRegenerateAsksWhenTheAnswerChangedTheWindow(t *testing.T) {
	r := newRig(t, add("two"), say("done"))
	seq, _ := r.send(assistant.Prompt{Text: "add two"})
	retry, confirm, err := r.PrepareRetry(r.ctx, seq, false)
	r.must(err)
	if confirm == nil || confirm.Kind != workspace.ConfirmRegenerate || retry.Prompt.Regenerate != 0 {
		t.Fatalf("Retry = %+v, %+v; want to be confirmed", retry, confirm)
	}
	retry, confirm, err = r.PrepareRetry(r.ctx, seq, true)
	r.must(err)
	if confirm != nil || retry.Prompt.Regenerate != seq {
		t.Fatalf("confirmed, Retry = %+v, %+v", retry, confirm)
	}
}

func TestReAskReplacesTheFailedPairOnce(t *testing.T) {
	r := newRig(t, fail(), say("ok"), say("ok"))
	failed, _ := r.send(assistant.Prompt{Text: "wrong words"})
	text, replaces, err := r.BeginReAsk(r.ctx, failed)
	r.must(err)
	want(t, "text", text, "wrong words")
	want(t, "replaces", replaces, true)
	next, _ := r.send(assistant.Prompt{Text: "right words"})
	want(t, "the failed pair", r.text(failed), "")
	want(t, "re-ask after the send", r.ReAsked(), int64(0))
	r.send(assistant.Prompt{Text: "another"})
	want(t, "the pair asked before", r.text(next), "right words")
}

func TestAnEndedReAskKeepsTheFailedPair(t *testing.T) {
	r := newRig(t, fail(), say("ok"))
	failed, _ := r.send(assistant.Prompt{Text: "wrong words"})
	_, _, err := r.BeginReAsk(r.ctx, failed)
	r.must(err)
	r.EndReAsk()
	r.send(assistant.Prompt{Text: "something else"})
	want(t, "the failed pair", r.text(failed), "wrong words")
}

func TestReAskOfAGoodPairReplacesNothing(t *testing.T) {
	r := newRig(t, say("ok"), say("ok"))
	seq, _ := r.send(assistant.Prompt{Text: "hello"})
	_, replaces, err := r.BeginReAsk(r.ctx, seq)
	r.must(err)
	want(t, "replaces", replaces, false)
	r.send(assistant.Prompt{Text: "hello again"})
	want(t, "the first pair", r.text(seq), "hello")
}

func TestWhatIsRefusedWhileATurnRuns(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.Answer{at.Say("half"), at.Stop{At: gate}}, say("then"))
	events, err := at.Send(r.ctx, r, assistant.Prompt{Text: "a"})
	r.must(err)
	gate.Wait(t)
	_, err = r.NewSession(r.ctx, true)
	r.wantErr(err, assistant.ErrBusy)
	err = r.ResumeSession(r.ctx, "s2")
	r.wantErr(err, assistant.ErrBusy)
	_, err = r.Delete(r.ctx, []int64{1}, nil)
	r.wantErr(err, assistant.ErrBusy)
	_, err = r.PlanCommand(r.ctx, ":delete")
	r.wantErr(err, assistant.ErrBusy)
	_, err = r.Queue(r.ctx, assistant.Prompt{Text: "b"})
	r.must(err)
	waiting, err := r.Queue(r.ctx, assistant.Prompt{Text: "c"})
	r.must(err)
	want(t, "waiting", waiting.Text, "b\n\nc")
	check := r.QuitCheck()
	if !check.Running || check.Queued != "b\n\nc" || check.Unsaved {
		t.Errorf("QuitCheck = %+v", check)
	}
	gate.Open()
	at.Events(t, events)
	p, ok, err := r.DropQueued(r.ctx)
	r.must(err)
	want(t, "dropped", p.Text, "b\n\nc")
	want(t, "had", ok, true)
	if sent := r.Recall(r.ctx).Sent; !slices.Contains(sent, "b\n\nc") {
		t.Errorf("sent messages = %q, want the one that waited", sent)
	}
}

func TestCheckSend(t *testing.T) {
	r := newRig(t, say("ok"))
	if c := r.CheckSend(assistant.Prompt{Text: "short"}); c.TooLong || c.OverQuota {
		t.Errorf("a short message: %+v", c)
	}
	r.must(r.PickModel(r.ctx, "test/small"))
	if c := r.CheckSend(assistant.Prompt{Text: "short"}); !c.TooLong {
		t.Errorf("in a small model: %+v", c)
	}
	_, end := r.send(assistant.Prompt{Text: "sent anyway", Force: true})
	if _, ok := end.(assistant.Complete); !ok {
		t.Errorf("sent anyway it ended with %#v", end)
	}
}

// reopened is a session of the same id on the same store, as after a crash.
func (r *rig) reopened(answers ...at.Answer) *rig {
	r.t.Helper()
	next := *r
	registry := &llm.Registry{}
	r.must(registry.Add(llm.Provider{Name: "test", Model: at.NewScript(answers...)}))
	var err error
	next.session, err = assistant.NewSession(registry, assistant.Options{
		ID: "s1", Window: &window{Window: at.NewWindow("one"), saved: []string{"one"}}, Store: r.store, WithoutCheckpoints: true, Model: "test/script",
	})
	r.must(err)
	r.must(next.session.Start(r.ctx))
	next.Workspace = workspace.New(workspace.Options{Session: next.session, History: r.store, Folder: "/f"})
	return &next
}

func TestAQueuedMessageOutlivesItsProcess(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.Answer{at.Say("half"), at.Stop{At: gate}})
	events, err := at.Send(r.ctx, r, assistant.Prompt{Text: "a"})
	r.must(err)
	gate.Wait(t)
	_, err = r.Queue(r.ctx, assistant.Prompt{Text: "waiting"})
	r.must(err)
	next := r.reopened(say("ok")) // nothing of the first process is closed
	p, ok := next.Queued()
	want(t, "queued", p.Text, "waiting")
	want(t, "found", ok, true)
	want(t, "held", next.QueuePaused(), true)
	if _, due := next.NextQueued(); due {
		t.Error("a message of an earlier run is sent by itself")
	}
	p, _ = next.Dequeue()
	next.send(p)
	if _, ok := r.reopened().Queued(); ok {
		t.Error("a message that was sent still waits")
	}
	gate.Open()
	at.Events(t, events)
}

// A message that was taken back to be edited is queued in no session, whichever is open when it
// is stored as a draft or sent.
func TestATakenMessageIsNotQueuedInTheSessionLeft(t *testing.T) {
	for name, do := range map[string]func(r *rig){
		"draft": func(r *rig) { r.must(r.SaveDraft(r.ctx, history.Draft{Text: "waiting, edited"})) },
		"sent":  func(r *rig) { r.send(assistant.Prompt{Text: "waiting, edited"}) },
		"back": func(r *rig) {
			r.must(r.ResumeSession(r.ctx, "s1"))
			if p, waits := r.Queued(); waits {
				t.Errorf("%q waits again", p.Text)
			}
			r.must(r.SaveDraft(r.ctx, history.Draft{Text: "waiting, edited"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.Answer{at.Say("half"), at.Cut{}}, say("ok"))
			r.must(r.store.SaveQueued(r.ctx, "s1", assistant.Prompt{Text: "waiting"}))
			r.must(r.ResumeSession(r.ctx, "other"))
			r.must(r.ResumeSession(r.ctx, "s1"))
			p, _ := r.Dequeue()
			want(t, "taken", p.Text, "waiting")
			_, err := r.NewSession(r.ctx, true)
			r.must(err)
			do(r)
			if p, waits := r.reopened().Queued(); waits {
				t.Errorf("%q is still queued", p.Text)
			}
		})
	}
}

func TestAHeldMessageDoesNotEndTheNextTurn(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.Answer{at.Stop{At: gate}, at.Cut{}}, add("two"), say("done"))
	events, err := at.Send(r.ctx, r, assistant.Prompt{Text: "a"})
	r.must(err)
	gate.Wait(t)
	_, err = r.Queue(r.ctx, assistant.Prompt{Text: "waiting"})
	r.must(err)
	gate.Open()
	at.Events(t, events)
	want(t, "held", r.QueuePaused(), true)
	r.send(assistant.Prompt{Text: "add two"})
	want(t, "requests", len(r.script.Requests()), 3)
	_, _, err = r.DropQueued(r.ctx)
	r.must(err)
	if _, ok := r.reopened().Queued(); ok {
		t.Error("a dropped message still waits")
	}
}

func TestASessionContinuesWithTheModelChosenInIt(t *testing.T) {
	r := newRig(t, say("ok"), say("ok"))
	r.send(assistant.Prompt{Text: "a"})
	r.must(r.PickModel(r.ctx, "test/small"))
	_, err := r.NewSession(r.ctx, true)
	r.must(err)
	r.must(r.PickModel(r.ctx, "test/script"))
	err = r.ResumeSession(r.ctx, "s1")
	r.must(err)
	want(t, "model", r.session.Model(), "test/small")
}

func TestAModelThatVanishedIsNotOffered(t *testing.T) {
	r := newRig(t, say("ok"))
	list := []llm.ModelInfo{{ID: "far/a", Source: "live"}, {ID: "far/b", Source: "live"}}
	r.must(r.session.Registry().Add(llm.Provider{
		Name: "far", Model: r.script, List: func(context.Context) ([]llm.ModelInfo, error) { return list, nil },
	}))
	want(t, "failed lists", len(r.RefreshModels(r.ctx)), 0)
	r.must(r.PickModel(r.ctx, "far/b"))
	_, err := r.ToggleFavourite(r.ctx, "far/b")
	r.must(err)
	want(t, "gone", r.CheckSend(assistant.Prompt{Text: "hi"}).ModelGone, false)
	list = list[:1]
	want(t, "failed lists", len(r.RefreshModels(r.ctx)), 0)
	want(t, "gone", r.CheckSend(assistant.Prompt{Text: "hi"}).ModelGone, true)
	want(t, "recent models", len(r.RecentModels(r.ctx)), 1) // marked where they are shown
	want(t, "favourite models", len(r.FavouriteModels(r.ctx)), 1)
	_, err = at.Send(r.ctx, r, assistant.Prompt{Text: "hi"})
	r.wantErr(err, llm.ErrModelGone)
}
