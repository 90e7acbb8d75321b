package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

func (r *rig) typeWord(word string) {
	r.t.Helper()
	r.must(r.Edit("add "+word, func() error { return r.window.Type(word) }))
}

// undo undoes the newest step.
func (r *rig) undo(scope checkpoint.Scope) (workspace.RolledBack, error) {
	return r.Rollback(r.ctx, r.Newest(), scope, r.Newest())
}

func TestSave(t *testing.T) {
	r := newRig(t)
	r.typeWord("two")
	want(t, "unsaved", r.Unsaved(), true)
	plan, err := r.PlanSave(r.ctx, "")
	r.must(err)
	if plan.Empty() || len(plan.Changes) != 1 || plan.Changes[0].After != "two" {
		t.Errorf("PlanSave = %+v", plan)
	}
	saved, err := r.Save(r.ctx, assistant.Basis{})
	r.must(err)
	want(t, "written", saved.Written, true)
	want(t, "unsaved", r.Unsaved(), false)
}

func TestSaveOfAFileThatSomebodyElseChanged(t *testing.T) {
	r := newRig(t)
	r.typeWord("two")
	r.window.conflict = &assistant.Conflict{Path: "words"}
	_, err := r.Save(r.ctx, assistant.Basis{})
	r.wantErr(err, r.window.conflict)
	want(t, "unsaved", r.Unsaved(), true)
	out, err := r.RefreshSaved(r.ctx, "Merge", nil)
	r.must(err)
	want(t, "changed", out.Changed, true)
	_, err = r.Save(r.ctx, assistant.Basis{})
	r.must(err)
}

func TestDiscard(t *testing.T) {
	r := newRig(t)
	before := len(r.session.Checkpoints())
	_, err := r.Discard("Discard", assistant.Basis{})
	r.wantErr(err, workspace.ErrNothingUnsaved)
	want(t, "checkpoints after nothing was discarded", len(r.session.Checkpoints()), before)
	r.typeWord("two")
	lost, err := r.Discard("Discard", assistant.Basis{})
	r.must(err)
	if len(lost) != 1 || lost[0].After != "two" || r.Unsaved() {
		t.Errorf("Discard = %+v; unsaved: %v", lost, r.Unsaved())
	}
	_, err = r.undo(checkpoint.ScopeWindow)
	r.must(err)
	want(t, "unsaved after the undo", r.Unsaved(), true)
}

func TestUndoOfAUsersChange(t *testing.T) {
	r := newRig(t)
	if step, ok, err := r.LastStep(r.ctx); ok || err != nil {
		t.Errorf("LastStep = %+v, %v before the first", step, err)
	}
	r.typeWord("two")
	step, ok, err := r.LastStep(r.ctx)
	r.must(err)
	if !ok || step.ByAssistant || step.Description != "add two" {
		t.Fatalf("LastStep = %+v, %v", step, ok)
	}
	_, err = r.undo(checkpoint.ScopeWindow)
	r.must(err)
	if words := r.window.Words(); !slices.Equal(words, []string{"one"}) {
		t.Errorf("words = %q", words)
	}
}

func TestUndoOfAnAssistantsChange(t *testing.T) {
	r := newRig(t, add("two"), say("done"))
	seq, _ := r.send(assistant.Prompt{Text: "add two"})
	step, ok, err := r.LastStep(r.ctx)
	r.must(err)
	if !ok || !step.ByAssistant || step.Pairs != 1 || step.OtherSession {
		t.Fatalf("LastStep = %+v, %v", step, ok)
	}
	back, err := r.undo(checkpoint.ScopeBoth)
	r.must(err)
	want(t, "text", back.Text, "add two")
	want(t, "visible pairs", len(r.session.Visible()), 0)
	_, _, err = r.UndoRollback(r.ctx, nil)
	r.must(err)
	want(t, "visible pair", r.session.Visible()[0].Seq, seq)
	_, _, err = r.UndoRollback(r.ctx, nil)
	r.wantErr(err, workspace.ErrNothingToUndo)
}

// An undo is asked about with the number of messages that it removes, whatever the line shows.
func TestTheNumberOfMessagesThatAnUndoRemoves(t *testing.T) {
	r := newRig(t, add("two"), say("done"), say("old"), say("new"))
	r.send(assistant.Prompt{Text: "add two"})
	resumed := r.session.ID()
	step, _ := r.session.LastStep()
	_, err := r.NewSession(r.ctx, true)
	r.must(err)
	r.send(assistant.Prompt{Text: "elsewhere"})
	imported := &assistant.Pair{ID: "i", Session: "imported", UserText: "a third session", State: assistant.PairComplete}
	r.must(r.store.Commit(r.ctx, &assistant.Batch{Put: []*assistant.Pair{imported}})) // not of a session of this run
	r.must(r.ResumeSession(r.ctx, resumed))
	for _, line := range []string{"", "x", "c'nothing'"} {
		_, err := r.SetFilter(r.ctx, line)
		r.must(err)
		planned, _, err := r.LastStep(r.ctx)
		r.must(err)
		want(t, "messages under "+line, planned.Pairs, 2)
	}
	_, err = r.Rollback(r.ctx, step.ID, checkpoint.ScopeBoth, step.ID)
	r.must(err)
	left, err := r.store.Refs(r.ctx, "", 3.5)
	r.must(err)
	want(t, "messages left", len(left), 1)
}

// The line that is active when a rollback is undone decides what is in view.
func TestUndoOfARollbackUnderAnotherLine(t *testing.T) {
	for line, visible := range map[string]int{"": 2, "c'first'": 1, "c'add'": 1} {
		r := newRig(t, say("hello"), add("two"), say("done"))
		r.send(assistant.Prompt{Text: "first"})
		r.send(assistant.Prompt{Text: "add two"})
		_, err := r.undo(checkpoint.ScopeBoth)
		r.must(err)
		_, err = r.SetFilter(r.ctx, line)
		r.must(err)
		warning, _, err := r.UndoRollback(r.ctx, nil)
		r.must(err)
		want(t, "warning", warning, "")
		want(t, "pairs in view with "+line, len(r.session.Visible()), visible)
	}
}

// Undoing a rollback loses the steps made since. It is done unasked only where there are none.
func TestUndoOfARollbackAsksAboutWhatItLoses(t *testing.T) {
	r := newRig(t)
	r.typeWord("two")
	_, err := r.undo(checkpoint.ScopeWindow)
	r.must(err)
	r.typeWord("three")
	_, ask, err := r.UndoRollback(r.ctx, nil)
	r.must(err)
	if ask == nil || ask.Kind != workspace.ConfirmUndoRollback || len(ask.Drops) != 1 || ask.By != "" || ask.Changed {
		t.Fatalf("UndoRollback asks %+v", ask)
	}
	r.typeWord("four")
	_, ask, err = r.UndoRollback(r.ctx, ask)
	r.must(err)
	if words := r.window.Words(); ask == nil || !ask.Changed || len(ask.Drops) != 2 || !slices.Equal(words, []string{"one", "three", "four"}) {
		t.Fatalf("after another step UndoRollback asks %+v, the words are %q", ask, words)
	}
	_, ask, err = r.UndoRollback(r.ctx, ask)
	r.must(err)
	if words := r.window.Words(); ask != nil || !slices.Equal(words, []string{"one", "two"}) {
		t.Errorf("UndoRollback asks %+v, the words are %q", ask, words)
	}
}

func TestNewSessionAsksWhenSomethingIsUnsaved(t *testing.T) {
	r := newRig(t, say("ok"), say("ok"))
	r.send(assistant.Prompt{Text: "a"})
	old := r.session.ID()
	r.typeWord("two")
	confirm, err := r.NewSession(r.ctx, false)
	r.must(err)
	if confirm == nil || confirm.Kind != workspace.ConfirmNewSession || r.session.ID() != old {
		t.Fatalf("NewSession = %+v in session %s", confirm, r.session.ID())
	}
	_, err = r.NewSession(r.ctx, true)
	r.must(err)
	if r.session.ID() == old || len(r.session.Visible()) != 0 || !r.Unsaved() {
		t.Errorf("after NewSession: session %s, %d pairs, unsaved %v", r.session.ID(), len(r.session.Visible()), r.Unsaved())
	}
	all, err := r.Sessions(r.ctx)
	r.must(err)
	if len(all) != 1 || all[0].ID != old {
		t.Errorf("Sessions = %+v, want the one with a pair", all)
	}
	r.must(r.ResumeSession(r.ctx, old)) // loses nothing, so it does not ask
	want(t, "session", r.session.ID(), old)
	want(t, "visible pairs", len(r.session.Visible()), 1)
	want(t, "unsaved", r.Unsaved(), true)
}

func TestFilters(t *testing.T) {
	r := newRig(t, say("ok"), say("ok"))
	first, _ := r.send(assistant.Prompt{Text: "alpha"})
	second, _ := r.send(assistant.Prompt{Text: "beta"})
	n, err := r.CountFilter(r.ctx, "c'alpha'")
	r.must(err)
	want(t, "count", n, 1)
	got, err := r.SetFilter(r.ctx, "c'alpha'")
	r.must(err)
	if len(got.Refs) != 1 || got.Refs[0].Seq != first || len(r.session.Visible()) != 1 {
		t.Errorf("SetFilter = %+v, visible %+v", got, r.session.Visible())
	}
	in, err := r.Matches(r.ctx, second)
	r.must(err)
	want(t, "the line selects the second pair", in, false)
	found, err := r.FindText(r.ctx, "beta")
	r.must(err)
	if !slices.Equal(found, []int64{second}) {
		t.Errorf("FindText = %v", found)
	}
	if _, err := r.SetFilter(r.ctx, "c'alpha"); err == nil {
		t.Error("a line that cannot be read has no error")
	}
	want(t, "filter", r.session.Filter(), "c'alpha'")
	if lines := r.Recall(r.ctx).Lines; !slices.Equal(lines, []string{"c'alpha'"}) {
		t.Errorf("lines = %q", lines)
	}
}

// racing is a store in which something happens while a line is evaluated.
type racing struct {
	history.Store
	meanwhile func()
}

func (s *racing) Filter(ctx context.Context, q *filter.Query, env history.Env) (history.Result, error) {
	r, err := s.Store.Filter(ctx, q, env)
	do := s.meanwhile
	s.meanwhile = func() {}
	do()
	return r, err
}

// A pair that is deleted while a line is evaluated does not come back with its result.
func TestADeletedPairStaysOutOfTheView(t *testing.T) {
	for name, filtered := range map[string]func(*workspace.Workspace, *rig) error{
		"SetFilter": func(w *workspace.Workspace, r *rig) error { _, err := w.SetFilter(r.ctx, "x"); return err },
		"Refilter":  func(w *workspace.Workspace, r *rig) error { return w.Refilter(r.ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, say("ok"), say("ok"))
			first, _ := r.send(assistant.Prompt{Text: "alpha"})
			second, _ := r.send(assistant.Prompt{Text: "beta"})
			store := &racing{r.store, func() { r.must(r.session.Delete(r.ctx, second)) }}
			r.must(filtered(workspace.New(workspace.Options{Session: r.session, History: store, Folder: "/f", Now: time.Now}), r))
			if refs := r.session.Visible(); len(refs) != 1 || refs[0].Seq != first {
				t.Errorf("visible are %+v, want pair %d alone", refs, first)
			}
		})
	}
}

func TestCommandsCanBeUndone(t *testing.T) {
	r := newRig(t, say("ok"))
	seq, _ := r.send(assistant.Prompt{Text: "alpha"})
	_, err := r.UndoCommand(r.ctx)
	r.wantErr(err, workspace.ErrNothingToUndo)
	const line = "c'alpha' :star 2"
	o, err := r.PlanCommand(r.ctx, line)
	r.must(err)
	_, err = r.Execute(r.ctx, o, line)
	r.must(err)
	stars := func() int {
		pairs, err := r.session.Pairs(r.ctx, []int64{seq})
		r.must(err)
		return pairs[0].Star
	}
	want(t, "stars", stars(), 2)
	_, err = r.UndoCommand(r.ctx)
	r.must(err)
	want(t, "stars after the undo", stars(), 0)
}

func TestModels(t *testing.T) {
	r := newRig(t)
	r.must(r.PickModel(r.ctx, "test/small"))
	r.must(r.PickModel(r.ctx, "test/script"))
	r.must(r.PickModel(r.ctx, "test/small"))
	if recent := r.RecentModels(r.ctx); !slices.Equal(recent, []string{"test/small", "test/script"}) {
		t.Errorf("recent = %q", recent)
	}
	if err := r.PickModel(r.ctx, "nobody/x"); err == nil {
		t.Error("a model without a provider was picked")
	}
	want(t, "model", r.session.Model(), "test/small")
	for _, wanted := range [][]string{{"test/small"}, nil} {
		all, err := r.ToggleFavourite(r.ctx, "test/small")
		r.must(err)
		if !slices.Equal(all, wanted) || !slices.Equal(r.FavouriteModels(r.ctx), wanted) {
			t.Errorf("favourites = %q, want %q", all, wanted)
		}
	}
	want(t, "failed lists", len(r.RefreshModels(r.ctx)), 0)
}

func TestSettings(t *testing.T) {
	r := newRig(t)
	for key, value := range map[string]string{"confirm": "always", "max_iterations": "7", "theme": "dark"} {
		r.must(r.Set(key, value))
		want(t, key, r.kept[key], value)
	}
	set := r.session.Settings()
	want(t, "confirm", set.Confirm, assistant.ConfirmAlways)
	want(t, "iterations", set.Iterations, 7)
	for key, value := range map[string]string{"confirm": "maybe", "max_iterations": "many"} {
		if err := r.Set(key, value); !errors.Is(err, workspace.ErrSettingValue) || !strings.Contains(err.Error(), key) {
			t.Errorf("Set(%s, %s): %v, want ErrSettingValue", key, value, err)
		}
	}
	want(t, "confirm", r.session.Settings().Confirm, assistant.ConfirmAlways)
}

func TestDrafts(t *testing.T) {
	r := newRig(t)
	r.must(r.store.SaveDraft(r.ctx, "input", history.Draft{Text: "of an old version"}))
	d, err := r.Draft(r.ctx)
	r.must(err)
	want(t, "draft", d.Text, "of an old version")
	old, err := r.store.Draft(r.ctx, "input")
	r.must(err)
	want(t, "the draft without a folder", old.Text, "")
	r.must(r.SaveDraft(r.ctx, history.Draft{Text: "new"}))
	d, err = r.Draft(r.ctx)
	r.must(err)
	want(t, "draft", d.Text, "new")
}

func TestAWorkspaceWithoutHistory(t *testing.T) {
	registry := &llm.Registry{}
	if err := registry.Add(llm.Provider{Name: "test", Model: at.NewScript(say("ok"))}); err != nil {
		t.Fatal(err)
	}
	s, err := assistant.NewSession(registry, assistant.Options{Model: "test/m"})
	if err != nil {
		t.Fatal(err)
	}
	w := workspace.New(workspace.Options{Session: s})
	r := &rig{t: t, ctx: t.Context(), Workspace: w, session: s}
	seq, _ := r.send(assistant.Prompt{Text: "hello"})
	want(t, "text", r.text(seq), "hello")
	_, err = w.Sessions(r.ctx)
	r.wantErr(err, workspace.ErrNoHistory)
	_, err = w.SetFilter(r.ctx, "x")
	r.wantErr(err, workspace.ErrNoHistory)
	_, err = w.PlanSave(r.ctx, "")
	r.wantErr(err, workspace.ErrNotSaver)
	r.must(w.AddSent(r.ctx, "hello"))
	r.must(w.SaveDraft(r.ctx, history.Draft{Text: "x"}))
	_, err = w.NewSession(r.ctx, false)
	r.must(err)
	want(t, "visible pairs", len(s.Visible()), 0)
}

// Whatever another program stored besides pairs is safe to show, too.
func TestTextsOfTheHistoryAreSafe(t *testing.T) {
	const foreign = "q\x1b]2;owned\x07\ra\u202ed\u200bz"
	r := newRig(t)
	r.must(r.store.AddSent(r.ctx, foreign))
	r.must(r.store.AddFilterLine(r.ctx, foreign))
	r.must(r.store.SaveFilter(r.ctx, "saved", "c'"+foreign+"'"))
	r.must(r.store.CreateTopic(r.ctx, foreign))
	r.must(r.store.Touch(r.ctx, history.Session{ID: "other", Model: foreign, Window: foreign, Folder: foreign}))
	r.must(r.store.Commit(r.ctx, &assistant.Batch{Put: []*assistant.Pair{{ID: "p", Session: "other", UserText: foreign, Author: foreign, Flag: true, State: assistant.PairComplete}}}))
	r.must(r.SaveDraft(r.ctx, history.Draft{Text: foreign, Stash: []string{foreign}}))
	draft, err := r.Draft(r.ctx)
	r.must(err)
	sessions, err := r.Sessions(r.ctx)
	r.must(err)
	if len(sessions) != 1 || draft.Text == "" {
		t.Fatalf("%d sessions, draft %q", len(sessions), draft.Text)
	}
	shown := fmt.Sprintf("%s %s %v %v %s %s", draft.Text, draft.Stash, r.Recall(r.ctx), sessions, sessions[0].Title, sessions[0].Folder)
	if strings.ContainsAny(shown, "\x1b\x07\r\u202e\u200b") {
		t.Errorf("%q", shown)
	}
}
