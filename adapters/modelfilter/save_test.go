package modelfilter

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

func TestSaveTouchesOnlyTheRules(t *testing.T) {
	tests := map[string]struct {
		file string
		edit func(f *fixture)
		old  []string // pairs of what is replaced by what in the file
	}{
		"one rule more, quoted": {
			"rich.env", func(f *fixture) { f.must(second(f.Add(Ignore, "o1"))) },
			[]string{`"*-preview, gpt-3.5*"`, `"*-preview,gpt-3.5*,o1"`},
		},
		"plain value": {
			"rich.env", func(f *fixture) { f.must(second(f.Add(Allow, "o1"))) },
			[]string{"WHITELIST_MODELS_OPENAI=gpt-4o", "WHITELIST_MODELS_OPENAI=gpt-4o,o1"},
		},
		"two providers": {"rich.env", func(f *fixture) {
			f.must(f.Remove(Ignore, "gpt-3.5*"))
			f.must(f.SetProvider("gemini"))
			f.must(second(f.Add(Ignore, "*-preview")))
		}, []string{`"*-preview, gpt-3.5*"`, `"*-preview"`, "'gemini-1.0*'", "'gemini-1.0*,*-preview'"}},
		"empty list": {
			"rich.env", func(f *fixture) { f.must(second(f.Clear(Allow))) },
			[]string{"WHITELIST_MODELS_OPENAI=gpt-4o\n", ""},
		},
		"new list": {"rich.env", func(f *fixture) {
			f.must(f.SetProvider("gemini"))
			f.must(second(f.Add(Allow, "gemini-1.0-pro")))
		}, []string{"export IGNORE_MODELS_GEMINI='gemini-1.0*'\n", "export IGNORE_MODELS_GEMINI='gemini-1.0*'\nexport WHITELIST_MODELS_GEMINI='gemini-1.0-pro'\n"}},
		"there and back": {"rich.env", func(f *fixture) {
			f.must(f.Remove(Ignore, "gpt-3.5*"))
			f.must(second(f.Save(f.t.Context())))
			f.must(second(f.Add(Ignore, "gpt-3.5*")))
		}, []string{`"*-preview, gpt-3.5*"`, `"*-preview,gpt-3.5*"`}},
		"CRLF": {
			"crlf.env", func(f *fixture) { f.must(second(f.Add(Ignore, "o1"))) },
			[]string{"IGNORE_MODELS_OPENAI=*-preview", "IGNORE_MODELS_OPENAI=*-preview,o1"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile("testdata/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			f := fresh(t, string(before))
			tt.edit(f)
			saved, err := f.Save(t.Context())
			if err != nil || !saved.Written || !strings.Contains(string(saved.Message), "Restart the proxy") {
				t.Fatalf("Save = %+v, %v", saved, err)
			}
			want := string(before)
			for i := 0; i < len(tt.old); i += 2 {
				if strings.Count(want, tt.old[i]) != 1 {
					t.Fatalf("%q is not once in the file", tt.old[i])
				}
				want = strings.Replace(want, tt.old[i], tt.old[i+1], 1)
			}
			if got := f.file(); got != want {
				t.Errorf("file =\n%s\nwant\n%s", got, want)
			}
			if f.Dirty() || len(f.Diff()) > 0 {
				t.Errorf("dirty after the save: %v", f.Diff())
			}
			state := stateOf(t, f.Window)
			f.open()
			for _, p := range f.Providers() {
				if p.Unsaved {
					t.Errorf("%s is unsaved after opening anew", p.Name)
				}
			}
			if got := stateOf(t, f.Window); strings.SplitN(got, `"rules"`, 2)[1] != strings.SplitN(state, `"rules"`, 2)[1] {
				t.Errorf("opened anew the rules are %s, saved were %s", got, state)
			}
		})
	}
}

func TestNothingToSaveWritesNothing(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(second(f.Add(Ignore, "o1")))
	f.must(f.Remove(Ignore, "o1"))
	saved, err := f.Save(t.Context())
	if err != nil || saved.Written || f.Dirty() {
		t.Errorf("Save = %+v, %v", saved, err)
	}
	if log, err := f.Versions(t.Context()); err != nil || len(log) != 0 {
		t.Errorf("versions = %v, %v", log, err)
	}
}

func TestPlan(t *testing.T) {
	f := fresh(t, plainEnv)
	plan, err := f.PlanSave(t.Context())
	if err != nil || !plan.Empty() || text(plan) != "nothing would change" {
		t.Errorf("Plan = %+v, %v", plan, err)
	}
	f.must(second(f.Add(Ignore, "o1")))
	f.must(second(f.Clear(Allow)))
	f.must(f.SetProvider("gemini"))
	f.must(second(f.Add(Allow, "*pro")))
	plan, err = f.PlanSave(t.Context())
	f.must(err)
	if len(plan.Effects) != 3 || !slices.Equal(plan.Effects[1].Items, []string{"gpt-4o-preview", "o1"}) || plan.Effects[1].Kind != assistant.EffectRemoves || len(plan.Effects[0].Items) != 0 {
		t.Errorf("effects = %+v", plan.Effects)
	}
	want := []assistant.Change{
		{Title: "gemini allow", After: "*pro", Sentence: "allowed *pro on gemini"},
		{Title: "openai ignore", After: "o1", Sentence: "hid o1 on openai"},
		{Title: "openai allow", Before: "gpt-4o-preview", Sentence: "stopped allowing gpt-4o-preview on openai"},
	}
	if !slices.Equal(plan.Changes, want) {
		t.Errorf("changes = %+v, want %+v", plan.Changes, want)
	}
	if plan.Conflict != nil || plan.Files[0].Creates || len(plan.Files[0].Lines) == 0 {
		t.Errorf("plan = %+v", plan)
	}
	if s := text(plan); !strings.Contains(s, "gemini: no model changes") || !strings.Contains(s, "openai: 2 models become hidden\n  gpt-4o-preview\n  o1") {
		t.Errorf("plan =\n%s", s)
	}
	if f.file() != plainEnv {
		t.Error("planning wrote the file")
	}
}

// theirEnv is plainEnv as another program changed it.
const theirEnv = "OPENAI_API_KEY=sk-aaaaaaaaaaaa\nGEMINI_API_KEY=AIza-bbbbbbbb\nIGNORE_MODELS_OPENAI=*-preview,gpt-4\nNEW=1\n"

// TestSaveMergesForeignChanges changes other lines and other lists of the file
// beside a staged rule: the save merges without a question.
func TestSaveMergesForeignChanges(t *testing.T) {
	for name, theirs := range map[string]string{
		"another variable":     strings.Replace(plainEnv, "OPENAI_API_KEY=", "OTHER=1\nOPENAI_API_KEY=", 1),
		"another list":         plainEnv + "IGNORE_MODELS_GEMINI=*pro\n",
		"the same rules, more": plainEnv + "# a comment\n",
	} {
		f := fresh(t, plainEnv)
		f.must(second(f.Add(Allow, "o1")))
		f.write(theirs)
		if plan, err := f.PlanSave(t.Context()); err != nil || plan.Conflict != nil || len(plan.Changes) != 1 {
			t.Errorf("%s: PlanSave = %+v, %v; want one rule and no conflict", name, plan, err)
		}
		f.must(second(f.Add(Allow, "gpt-4")))
		f.write(theirs + "LATER=1\n") // again, between plan and save
		saved, err := f.Save(t.Context())
		if err != nil || !saved.Written || len(saved.Changes) != 2 || f.Dirty() {
			t.Errorf("%s: Save = %+v, %v", name, saved, err)
		}
		want := strings.Replace(theirs, "WHITELIST_MODELS_OPENAI=gpt-4o-preview", "WHITELIST_MODELS_OPENAI=gpt-4o-preview,o1,gpt-4", 1) + "LATER=1\n"
		if f.file() != want {
			t.Errorf("%s: file = %q, want %q", name, f.file(), want)
		}
	}
}

// TestARuleReplacedOnBothSidesAsks neither overwrites nor merges by itself.
func TestARuleReplacedOnBothSidesAsks(t *testing.T) {
	start := func(t *testing.T) *fixture {
		t.Helper()
		f := fresh(t, plainEnv)
		f.must(second(f.Add(Ignore, "o1")))
		f.must(f.Remove(Ignore, "gpt-3.5*")) // theirs is gpt-4 in its place
		f.write(theirEnv)
		plan, err := f.PlanSave(t.Context())
		if err != nil || plan.Conflict == nil || !strings.Contains(text(plan), "Merge with the file or load it first") {
			t.Errorf("PlanSave = %+v, %v; want a conflict", plan, err)
		}
		_, err = f.Save(t.Context())
		var c *assistant.Conflict
		if !errors.As(err, &c) {
			t.Fatalf("Save = %v, want an *assistant.Conflict", err)
		}
		if len(c.Theirs) == 0 || c.Missing || len(c.Both) != 2 {
			t.Errorf("conflict = %+v", c)
		}
		for _, their := range c.Theirs {
			if their.Title == "NEW" && (their.Before != masked || their.After != masked) {
				t.Errorf("the conflict shows the value of %s", their.Title)
			}
		}
		if f.file() != theirEnv || !f.Dirty() {
			t.Errorf("file = %q, dirty %v", f.file(), f.Dirty())
		}
		return f
	}
	t.Run("merge", func(t *testing.T) {
		f := start(t)
		f.must(second(f.RefreshSaved(t.Context(), false)))
		f.wantRules(Ignore, "*-preview", "gpt-4", "o1")
		f.wantRules(Allow)
		f.must(second(f.Save(t.Context())))
		if want := strings.Replace(theirEnv, "*-preview,gpt-4", "*-preview,gpt-4,o1", 1); f.file() != want {
			t.Errorf("file = %q, want %q", f.file(), want)
		}
	})
	t.Run("reload", func(t *testing.T) {
		f := start(t)
		r, err := f.RefreshSaved(t.Context(), true)
		if err != nil || !r.Changed || len(r.Dropped) != 2 || len(r.Changes) == 0 {
			t.Errorf("RefreshSaved = %+v, %v", r, err)
		}
		f.wantRules(Ignore, "*-preview", "gpt-4")
		f.wantRules(Allow)
		if f.Dirty() || f.file() != theirEnv {
			t.Error("dirty after a reload")
		}
	})
	t.Run("removed", func(t *testing.T) {
		f := fresh(t, plainEnv)
		f.must(second(f.Add(Ignore, "o1")))
		f.must(os.Remove(f.path))
		var c *assistant.Conflict
		if _, err := f.Save(t.Context()); !errors.As(err, &c) || !c.Missing {
			t.Errorf("Save = %v, want a removed file", err)
		}
		f.must(second(f.RefreshSaved(t.Context(), false)))
		f.wantRules(Ignore, "*-preview", "gpt-3.5*", "o1")
	})
	t.Run("moved", func(t *testing.T) { // which is removed and added; they changed something else
		f := fresh(t, "IGNORE_MODELS_OPENAI=a,b,c\n")
		f.must(f.Remove(Ignore, "a"))
		f.must(second(f.Add(Ignore, "a")))
		f.write(f.file() + "# theirs\n")
		f.must(second(f.RefreshSaved(t.Context(), false)))
		f.wantRules(Ignore, "b", "c", "a")
	})
	t.Run("the same on both sides", func(t *testing.T) {
		f := fresh(t, plainEnv)
		f.must(second(f.Add(Ignore, "o1")))
		f.write(strings.Replace(plainEnv, "gpt-3.5*", "gpt-3.5*,o1", 1))
		if saved, err := f.Save(t.Context()); err != nil || saved.Written || f.Dirty() {
			t.Errorf("Save = %+v, %v; want nothing to save", saved, err)
		}
	})
}

// TestWatch changes the file under an open window: the rules and the context
// follow, with staged rules on top. A conflict is only reported, until the staged rules
// are discarded.
func TestWatch(t *testing.T) {
	f := fresh(t, plainEnv)
	changes, err := f.Watch(t.Context())
	if err != nil {
		t.Skipf("nothing can be watched here: %v", err)
	}
	_, mark := f.Changes(0)
	f.write(strings.Replace(plainEnv, "gpt-3.5*", "o1", 1))
	c := <-changes
	if !c.Changed || c.Conflict != nil || len(c.Changes) != 2 || f.Dirty() {
		t.Errorf("change = %+v, dirty %v", c, f.Dirty())
	}
	f.wantRules(Ignore, "*-preview", "o1")
	if text := contextText(t, f); !strings.Contains(text, `"pattern":"o1"`) || strings.Contains(text, "gpt-3.5*") {
		t.Errorf("the context is that of the old rules: %s", text)
	}
	told, _ := f.Changes(mark)
	if len(told) != 2 || told[0]["type"] != "rule_removed" || told[1]["type"] != "rule_added" {
		t.Errorf("the assistant is told %v", told)
	}

	f.must(second(f.Add(Allow, "gpt-4")))
	f.write(f.file() + "OTHER=1\n")
	if c := <-changes; !c.Changed || c.Conflict != nil || len(c.Changes) != 1 || c.Changes[0].After != masked || !f.Dirty() {
		t.Errorf("change = %+v, dirty %v", c, f.Dirty())
	}
	f.wantRules(Allow, "gpt-4o-preview", "gpt-4")

	f.must(f.Remove(Allow, "gpt-4o-preview"))
	f.write(strings.Replace(f.file(), "gpt-4o-preview", "theirs", 1))
	if c := <-changes; c.Conflict == nil || c.Changed || len(c.Conflict.Both) != 2 {
		t.Errorf("change = %+v, want a conflict", c)
	}
	f.wantRules(Allow, "gpt-4")

	f.must(second(f.Discard()))
	if c := <-changes; c.Conflict != nil || !c.Changed || f.Dirty() {
		t.Errorf("change = %+v, dirty %v after the staged rules were discarded", c, f.Dirty())
	}
	f.wantRules(Allow, "theirs")
}

// TestWatchWaitsForTheAssistant changes the file while the assistant works.
func TestRulesOfADeletedFileStay(t *testing.T) {
	for name, change := range map[string]func(*fixture) error{
		"unchanged": func(*fixture) error { return nil },
		"unsaved":   func(f *fixture) error { return second(f.Add(Allow, "gpt-4")) },
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t, plainEnv)
			f.must(change(f))
			f.must(os.Remove(f.path))
			r, err := f.mergeIfChanged(t.Context())
			f.must(err)
			if !r.Deleted || r.Conflict != nil || !f.Dirty() {
				t.Errorf("%+v, dirty %v", r, f.Dirty())
			}
			f.wantRules(Ignore, "*-preview", "gpt-3.5*")
			f.must(second(f.Save(t.Context())))
			f.wantRules(Ignore, "*-preview", "gpt-3.5*")
			if text := f.file(); !strings.Contains(text, "gpt-3.5*") || !strings.Contains(text, "*-preview") {
				t.Errorf("the file contains %q", text)
			}
		})
	}
}

func TestWatchWaitsForTheAssistant(t *testing.T) {
	f := fresh(t, plainEnv)
	changes, err := f.Watch(t.Context())
	if err != nil {
		t.Skipf("nothing can be watched here: %v", err)
	}
	f.Lock()
	f.write(strings.Replace(plainEnv, "gpt-3.5*", "o1", 1))
	f.Unlock()
	if c := <-changes; !c.Changed {
		t.Errorf("change = %+v", c)
	}
	f.wantRules(Ignore, "*-preview", "o1")
}

// contextText is the context as the model gets it.
func contextText(t *testing.T, f *fixture) string {
	t.Helper()
	c, err := f.Context()
	f.must(err)
	text, err := assistant.PlainJSON(c)
	f.must(err)
	return string(text)
}

func TestVersions(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(second(f.Add(Ignore, "o1")))
	f.must(second(f.Save(t.Context())))
	first := f.file()
	f.call("add_ignore_rule", `{"pattern":"gpt-4"}`)
	if r := f.call("save_changes", `{}`); !r.Success {
		t.Fatalf("save_changes = %+v", r)
	}
	log, err := f.Versions(t.Context())
	if err != nil || len(log) != 3 || log[2].ID != dotenv.OriginalVersion || log[0].Author.Who != dotenv.Assistant || log[1].Author.Who != dotenv.User || log[0].Author.Session != "session-1" {
		t.Fatalf("Versions = %+v, %v", log, err)
	}
	if lines, err := f.VersionDiff(t.Context(), log[0].ID); err != nil || len(lines) != 2 || !strings.Contains(string(lines[1].Text), "gpt-4") {
		t.Errorf("VersionDiff = %v, %v", lines, err)
	}
	f.must(second(f.Add(Allow, "x")))
	if _, err := f.Restore(t.Context(), log[1].ID); !errors.Is(err, ErrUnsaved) {
		t.Errorf("Restore = %v, want ErrUnsaved", err)
	}
	f.must(second(f.Discard()))
	saved, err := f.Restore(t.Context(), log[1].ID)
	if err != nil || f.file() != first || !strings.Contains(string(saved.Message), "Restored the rules") {
		t.Errorf("Restore = %+v, %v; file %q", saved, err, f.file())
	}
	f.wantRules(Ignore, "*-preview", "gpt-3.5*", "o1")
	f.must(second(f.Restore(t.Context(), log[2].ID)))
	f.wantRules(Ignore, "*-preview", "gpt-3.5*")
	if f.file() != plainEnv || f.Dirty() {
		t.Errorf("file = %q", f.file())
	}
	o := f.options()
	o.VersionsDir = ""
	w, err := Open(t.Context(), o)
	f.must(err)
	if _, err := w.Versions(t.Context()); !errors.Is(err, dotenv.ErrNoVersions) {
		t.Errorf("Versions = %v, want ErrNoVersions", err)
	}
}

func TestRulesCannotSmuggleKeys(t *testing.T) {
	for _, evil := range []string{"a\nX=1", "a\r\nX=1", "a # b", "a' X=1 '", `a" X=1 "`, "a${OPENAI_API_KEY}", "a,b", `a\nX=1`, "$(touch x)", "`x`", "a=b", " #x", "\u2028X=1", "\x00"} {
		f := fresh(t, plainEnv)
		_, err := f.Add(Ignore, evil)
		if err != nil {
			continue
		}
		if _, err := f.Save(t.Context()); err != nil {
			if f.file() != plainEnv {
				t.Errorf("%q: %v, but the file changed", evil, err)
			}
			continue
		}
		f.open()
		f.wantRules(Ignore, "*-preview", "gpt-3.5*", strings.TrimSpace(evil))
		if keys := dotenv.Parse([]byte(f.file())).Keys(); len(keys) != 4 {
			t.Errorf("%q: keys = %q", evil, keys)
		}
	}
}

func TestRefresh(t *testing.T) {
	f := fresh(t, plainEnv)
	before := f.Revision()
	gemini, err := f.On("gemini")
	if err != nil || gemini.Counts().Total != 3 {
		t.Fatalf("On = %v", err)
	}
	if _, err := f.Refresh(t.Context(), "gemini"); err == nil || gemini.Counts().Total != 3 {
		t.Errorf("Refresh = %v; %d models are left of 3", err, gemini.Counts().Total)
	}
	f.shelf.fetched["gemini"] = ModelList{IDs: []string{"gemini/a", "gemini/gemini-1.0-pro"}, Source: "live", At: clock(), Err: "the disk is full"}
	r, err := f.Refresh(t.Context(), "gemini")
	if err != nil || len(r.IDs) != 2 || !slices.Equal(r.Added, []string{"gemini/a"}) || len(r.Gone) != 2 || r.Err == "" {
		t.Errorf("Refresh = %+v, %v", r, err)
	}
	if f.Revision() == before {
		t.Error("the revision stayed")
	}
	if list, err := f.ModelList("gemini"); err != nil || list.Source != "live" || f.Provider() != "openai" {
		t.Errorf("ModelList = %+v, %v", list, err)
	}
}

// text is a plan as the user is shown it.
func text(plan assistant.SavePlan) string { return string(safetext.Join(plan.Lines(""), "\n")) }

// The model is told what went wrong after the file was written.
func TestTheToolSaysTheWarningOfASave(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x\n")
	r := f.savedResult(assistant.Saved{Message: "Saved 1 rule.", Warning: "It is not yet durable."}, nil)
	if r.Message != "Saved 1 rule. It is not yet durable." || !r.Success {
		t.Errorf("the result is %+v", r)
	}
}
