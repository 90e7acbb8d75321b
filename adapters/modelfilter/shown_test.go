package modelfilter

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
	"winnow/checkpoint"
)

// office is a model filter that several users share.
type office struct {
	*fixture
	hub   *serve.Hub
	users map[string]*serve.Session
}

func newOffice(t *testing.T, users ...string) *office {
	t.Helper()
	o := &office{fixture: fresh(t, plainEnv), users: map[string]*serve.Session{}}
	options := o.options()
	options.Author = func(locked bool) assistant.Author {
		if o.hub == nil {
			return assistant.Author{}
		}
		user, _ := o.hub.Author()
		return assistant.Author{User: user, Assistant: locked}
	}
	w, err := Open(t.Context(), options)
	o.must(err)
	o.Window = w
	o.hub = servetest.Start(t, servetest.Options{Model: servetest.Obedient{}, Change: func(s *serve.Options) { s.Session.Window = w }}).Hub
	for _, user := range users {
		o.users[user], err = o.hub.Open(t.Context(), serve.Join{User: user})
		o.must(err)
	}
	return o
}

// stage adds an ignore rule as a user, or removes it when it is there.
func (o *office) stage(user, provider, pattern string) {
	o.t.Helper()
	s, err := o.On(provider)
	o.must(err)
	o.must(o.users[user].Edit("change "+pattern, func() error {
		if s.Remove(Ignore, pattern) == nil {
			return nil
		}
		_, err := s.Add(Ignore, pattern)
		return err
	}))
}

// variables are the variables of the file with their values.
func (o *office) variables() map[string]string {
	f, all := dotenv.Parse([]byte(o.file())), map[string]string{}
	for _, c := range dotenv.Changes(dotenv.Parse(nil), f) {
		all[c.Key], _ = f.Raw(c.Key)
	}
	return all
}

// TestASaveWritesThePlanThatWasShown stages rules as several users, writes the file as
// another program, plans and saves at random: a save writes the values that its plan
// showed and leaves all others as they are, or it writes nothing and shows another plan.
func TestASaveWritesThePlanThatWasShown(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // every check opens files
		if err := f.Value.Set("20"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	saved, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		o := newOffice(t, "anna", "bert")
		shown := map[string]assistant.SavePlan{}
		for i := range rapid.IntRange(12, 40).Draw(rt, "steps") {
			user := rapid.SampledFrom([]string{"anna", "bert"}).Draw(rt, "user")
			switch rapid.SampledFrom([]string{"stage", "stage", "outside", "plan", "plan", "save", "save", "discard"}).Draw(rt, "step") {
			case "stage":
				o.stage(user, rapid.SampledFrom([]string{"openai", "gemini"}).Draw(rt, "provider"), rapid.SampledFrom([]string{"x1*", "y2*", "z3*"}).Draw(rt, "pattern"))
			case "outside":
				lines := rapid.SampledFrom([]string{fmt.Sprintf("OTHER=%d\n", i), "IGNORE_MODELS_GEMINI=theirs\n", "# a note\n"}).Draw(rt, "lines")
				o.write(o.file() + lines)
			case "plan":
				plan, err := o.users[user].PlanSave(t.Context(), "")
				o.must(err)
				if plan.Conflict == nil {
					shown[user] = plan
				}
			case "discard":
				plan, err := o.users[user].PlanDiscard("")
				o.must(err)
				lost, err := o.users[user].Discard("discard", assistant.Basis{Digest: plan.Digest})
				if err == nil && !slices.Equal(lost, plan.Changes) {
					rt.Fatalf("the discard of %+v lost %+v", plan.Changes, lost)
				}
			case "save":
				plan, asked := shown[user]
				if !asked {
					continue
				}
				before := o.variables()
				_, err := o.users[user].Save(t.Context(), assistant.Basis{Digest: plan.Digest})
				after := o.variables()
				if err == nil {
					saved++
					values := map[string]string{} // of the last line of each variable: it counts
					for _, l := range plan.Files[0].Lines {
						key, value, _ := strings.Cut(string(l.Text), "=")
						delete(before, key)
						if l.Kind == "+" {
							values[key] = strings.Trim(value, "'\"")
						}
					}
					for key, value := range values {
						if after[key] != value {
							rt.Fatalf("%s is %q, shown was %q", key, after[key], value)
						}
						delete(after, key)
					}
					delete(shown, user)
				} else if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
					refused++
					if changed.Plan.Digest == plan.Digest || len(changed.By) == 0 {
						rt.Fatalf("the new plan is %+v by %q, shown was %+v", changed.Plan, changed.By, plan)
					}
					shown[user] = changed.Plan
				} else if _, ok := errors.AsType[*assistant.Conflict](err); !ok {
					rt.Fatal(err)
				}
				if fmt.Sprint(before) != fmt.Sprint(after) {
					rt.Fatalf("beside what was shown the file was %v, it is %v", before, after)
				}
			}
		}
	})
	if saved == 0 || refused == 0 {
		t.Errorf("%d saves, %d refused: the steps are not mixed enough", saved, refused)
	}
}

// A plan is pure: the window, the file and the journal stay as they are.
func TestAPlanChangesNothing(t *testing.T) {
	o := newOffice(t, "anna")
	o.stage("anna", "openai", "o1*")
	o.write(o.file() + "IGNORE_MODELS_GEMINI=theirs\n")
	file, state, records := o.file(), stateOf(t, o.Window), o.hub.Journal().Seq()
	plan, err := o.users["anna"].PlanSave(t.Context(), "")
	o.must(err)
	if len(plan.Changes) != 1 || plan.Conflict != nil {
		t.Errorf("the plan is %+v", plan)
	}
	if o.file() != file || stateOf(t, o.Window) != state || o.hub.Journal().Seq() != records {
		t.Error("the plan has changed something")
	}
}

// What another user stages after the plan is not saved unseen, and is named.
func TestASaveOfWhatAnotherUserChanged(t *testing.T) {
	o := newOffice(t, "anna", "bert")
	anna := o.users["anna"]
	o.stage("anna", "openai", "o1*")
	plan, err := anna.PlanSave(t.Context(), "")
	o.must(err)
	o.stage("bert", "openai", "gpt-4*")
	_, err = anna.Save(t.Context(), assistant.Basis{Digest: plan.Digest})
	changed, ok := errors.AsType[*assistant.PlanChanged](err)
	if !ok || !slices.Equal(changed.By, []string{"bert"}) || o.file() != plainEnv {
		t.Fatalf("the save ends with %v", err)
	}
	if text := string(safetext.Join(changed.Plan.Lines("anna"), "\n")); !strings.Contains(text, "changed by bert:\nhid gpt-4* on openai") || strings.Contains(text, "changed by anna") {
		t.Errorf("anna is shown\n%s", text)
	}
	_, err = anna.Save(t.Context(), assistant.Basis{Digest: changed.Plan.Digest})
	o.must(err)
	log, err := o.Versions(t.Context())
	o.must(err)
	if by := log[0].Author; by.User != "anna" || by.Staged != "bert" {
		t.Errorf("the version is by %+v", by)
	}
}

// The changes of one user are saved and discarded without those of others.
func TestOneUsersChanges(t *testing.T) {
	o := newOffice(t, "anna", "bert")
	o.stage("anna", "openai", "o1*")
	o.stage("bert", "openai", "gpt-4*")
	o.stage("bert", "openai", "gpt-3.5*") // removes it
	_, err := o.users["anna"].Save(t.Context(), assistant.Basis{Only: "anna"})
	o.must(err)
	if !strings.Contains(o.file(), "IGNORE_MODELS_OPENAI=*-preview,gpt-3.5*,o1*\n") {
		t.Errorf("the file is\n%s", o.file())
	}
	o.stage("anna", "openai", "o3*")
	lost, err := o.users["anna"].Discard("discard", assistant.Basis{Only: "anna"})
	o.must(err)
	if len(lost) != 1 || lost[0].After != "o3*" || !slices.Equal(assistant.Authors(inWords(o.Diff()), ""), []string{"bert"}) || len(o.Diff()) != 2 {
		t.Errorf("lost %+v, staged are %+v", lost, o.Diff())
	}
}

// Authors are read back from the journal.
func TestAuthorsOfAnEarlierRun(t *testing.T) {
	o := newOffice(t, "anna", "bert")
	o.stage("anna", "openai", "o1*")
	o.stage("bert", "openai", "gpt-4*")
	var records []checkpoint.Record
	o.hub.Journal().Replay(func(r checkpoint.Record) { records = append(records, r) })
	again, err := Open(t.Context(), o.options())
	o.must(err)
	o.must(again.Recover(o.hub.Journal().Current(), records[0].After.Raw()))
	for _, r := range records {
		again.Attribute(r.Before.Raw(), r.After.Raw(), assistant.Author{User: r.User})
	}
	if got := assistant.Authors(inWords(again.Diff()), ""); !slices.Equal(got, []string{"anna", "bert"}) {
		t.Errorf("the authors are %q of %+v", got, again.Diff())
	}
}

// The drop of a conflict loses only what was shown.
func TestADiscardOfWhatAnotherUserChanged(t *testing.T) {
	o := newOffice(t, "anna", "bert")
	o.stage("anna", "openai", "o1*")
	plan, err := o.users["anna"].PlanDiscard("")
	o.must(err)
	o.must(os.WriteFile(o.path, []byte(strings.ReplaceAll(plainEnv, "gpt-3.5*", "gpt-5*")), 0o600))
	o.stage("bert", "openai", "gpt-4*")
	for name, drop := range map[string]func() error{
		"discard": func() error {
			_, err := o.users["anna"].Discard("discard", assistant.Basis{Digest: plan.Digest})
			return err
		},
		"drop": func() error {
			_, err := o.users["anna"].RefreshSaved(t.Context(), "drop", &assistant.Basis{Digest: plan.Digest})
			return err
		},
	} {
		if _, ok := errors.AsType[*assistant.PlanChanged](drop()); !ok || len(o.Diff()) == 0 {
			t.Errorf("%s: staged are %+v", name, o.Diff())
		}
	}
}

// A discard that had nothing to show discards nothing that was staged since.
func TestADiscardOfNothingLosesNothing(t *testing.T) {
	f := fresh(t, plainEnv)
	shown := f.PlanDiscard("")
	if !shown.Empty() || shown.Digest == "" {
		t.Fatalf("the plan is %+v", shown)
	}
	_, err := f.Add(Ignore, "o1")
	f.must(err)
	_, err = f.Window.Discard(assistant.Basis{Digest: shown.Digest})
	if _, ok := errors.AsType[*assistant.PlanChanged](err); !ok || !f.Dirty() {
		t.Errorf("discarded: %v, unsaved %v", err, f.Dirty())
	}
}

// A rule that was removed and added again stands at the end of its list: only the order is
// unsaved, which is shown, discarded and saved like any other change.
func TestOnlyTheOrderIsUnsaved(t *testing.T) {
	const want = "reordered the openai ignore rules"
	reordered := func(t *testing.T) *fixture {
		t.Helper()
		f := fresh(t, plainEnv)
		f.must(f.Remove(Ignore, "*-preview"))
		f.must(second(f.Add(Ignore, "*-preview")))
		if !f.Dirty() {
			t.Fatal("nothing is unsaved")
		}
		return f
	}
	check := func(t *testing.T, changes []assistant.Change) {
		t.Helper()
		if len(changes) != 1 || changes[0].Line() != want {
			t.Errorf("the changes are %+v, want %q", changes, want)
		}
	}
	t.Run("discard", func(t *testing.T) {
		f := reordered(t)
		plan := f.PlanDiscard("")
		check(t, plan.Changes)
		lost, err := f.Window.Discard(assistant.Basis{Digest: plan.Digest})
		f.must(err)
		check(t, lost)
		if rules := f.Rules(Ignore); f.Dirty() || rules[0].Pattern != "*-preview" {
			t.Errorf("unsaved: %v, the rules are %+v", f.Dirty(), rules)
		}
	})
	t.Run("tool", func(t *testing.T) {
		f := reordered(t)
		if r := f.call("discard_changes", `{}`); r.Message != "The rules are in the order of the file again." || f.Dirty() {
			t.Errorf("%+v; unsaved: %v", r, f.Dirty())
		}
	})
	t.Run("save", func(t *testing.T) {
		f := reordered(t)
		plan, err := f.Window.PlanSave(t.Context(), "")
		f.must(err)
		check(t, plan.Changes)
		saved, err := f.Window.Save(t.Context(), assistant.Basis{Digest: plan.Digest})
		f.must(err)
		check(t, saved.Changes)
		if !strings.HasPrefix(string(saved.Message), "Saved the order of the rules to ") || f.Dirty() {
			t.Errorf("%q; unsaved: %v", saved.Message, f.Dirty())
		}
	})
}

// applier is a command of after_save that does nothing.
type applier struct{}

func (applier) Saved() assistant.Applied                      { return assistant.Applied{} }
func (applier) Applied() assistant.Applied                    { return assistant.Applied{} }
func (applier) WaitApplied(context.Context) assistant.Applied { return assistant.Applied{} }
func (applier) CancelApplied()                                {}

// A plan asks for a restart of the proxy only if nothing else makes it read the rules.
func TestAPlanSaysWhatAppliesTheRules(t *testing.T) {
	f := fresh(t, plainEnv)
	for _, tt := range []struct {
		applies Applier
		want    string
	}{
		{nil, "restart the proxy afterwards: it reads the rules when it starts"},
		{applier{}, "the after_save command runs afterwards"},
	} {
		o := f.options()
		o.AfterSave = tt.applies
		w, err := Open(t.Context(), o)
		f.must(err)
		f.must(second(w.Add(Ignore, "o1")))
		plan, err := w.PlanSave(t.Context(), "")
		f.must(err)
		if last := plan.Effects[len(plan.Effects)-1]; string(last.Sentence) != tt.want {
			t.Errorf("the last effect is %+v, want %q", last, tt.want)
		}
	}
}
