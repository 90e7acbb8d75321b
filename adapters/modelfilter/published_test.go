package modelfilter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
)

// shot is the snapshot of a window now.
func (f *fixture) shot() *Snapshot {
	f.t.Helper()
	value, revision := f.Snapshot()
	s, ok := value.(*Snapshot)
	if !ok || s.Revision != revision {
		f.t.Fatalf("a snapshot %T of revision %d", value, revision)
	}
	return s
}

// text is all that a snapshot says, with what it answers.
func (s *Snapshot) text() string {
	return fmt.Sprintf("%d %+v %+v %+v %v %v %q %+v %q %q %v\n%v %v %v %v %v %v",
		s.Revision, s.Rules, s.Removed, s.Models, s.Counts, s.Providers, s.Notices, s.Highlight, s.Search, s.Tab, s.Unsaved,
		s.Preview(Ignore, "*4*"), s.PreviewRemove(Ignore, 0), s.Explain("openai/gpt-4"), s.Lint(), s.RuleHighlight(Ignore, "o1*"), s.engine.Statuses())
}

// Whatever happens to the window, a snapshot stays as it was, the newest one is what the
// window says, and a revision has one.
func TestSnapshotsStayAsTheyWere(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\nGEMINI_API_KEY=y-long-enough\nIGNORE_MODELS_OPENAI=*preview*,gpt-3.5*\n")
	f.shelf.fetched["openai"] = ModelList{Provider: "openai", IDs: openaiModels[:6], Source: "live"}
	random := rand.New(rand.NewPCG(7, 1))
	patterns := []string{"o1*", "gpt-4*", "*4*", "*", "gpt-3.5*", "*preview*", "?1", "none"}
	type taken struct {
		*Snapshot
		text string
	}
	var all []taken
	for step := range 300 {
		rule := Rule{List(random.IntN(2)), patterns[random.IntN(len(patterns))]}
		provider := []string{"openai", "gemini"}[random.IntN(2)]
		var act assistant.Act
		switch random.IntN(9) {
		case 0, 1:
			act = AddRule{provider, rule}
		case 2, 3:
			if rules := f.Rules(rule.List); len(rules) > 0 {
				act = RemoveRules{f.Provider(), []Rule{{rule.List, rules[0].Pattern}}}
			}
		case 4:
			act = PickProvider{provider}
		case 5:
			act = Look{Tab: TabModels, Search: rule.Pattern, Rule: rule}
		case 6:
			act = RefreshModels{[]string{provider}}
		case 7:
			f.Lock()
			f.toolAdd(rule.List, ruleArgs{Pattern: rule.Pattern})
			f.Unlock()
		default:
			if random.IntN(4) == 0 {
				_, _ = f.Save(t.Context()) // a pattern may be refused
			}
		}
		if act != nil {
			_, _ = f.Act(t.Context(), act, f.Revision()) // may be refused
		}
		s := f.shot()
		if again := f.shot(); again != s {
			t.Fatalf("step %d: revision %d has two snapshots", step, s.Revision)
		}
		all = append(all, taken{s, s.text()})
		for _, list := range lists {
			if !slices.Equal(s.Rules[list], f.Rules(list)) {
				t.Fatalf("step %d, %T: the snapshot has the rules %v, the window %v", step, act, s.Rules[list], f.Rules(list))
			}
		}
		if !slices.Equal(s.Models, f.Models()) || s.Counts != f.Counts() || s.Dirty != f.Dirty() || s.Provider != f.Provider() || !slices.Equal(s.Unsaved, f.Diff()) {
			t.Fatalf("step %d, %T: the snapshot is %s", step, act, s.text())
		}
	}
	for step, s := range all {
		if now := s.Snapshot.text(); now != s.text {
			t.Fatalf("the snapshot of step %d was\n%s\nand is\n%s", step, s.text, now)
		}
	}
}

// However many screens ask, and whatever they ask for, a change makes one snapshot, and
// what is expensive of it only when the provider has changed.
func TestASnapshotIsMadeOnceAChange(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\n")
	before, changed := f.shot(), f.Changed()
	select {
	case <-changed:
		t.Fatal("nothing has changed")
	default:
	}
	f.must(f.SetSearch("gpt"))
	<-changed
	made := map[*Snapshot]bool{}
	var mu sync.Mutex
	var screens sync.WaitGroup
	for range 50 {
		screens.Go(func() {
			s := f.shot()
			s.Lint()
			mu.Lock()
			defer mu.Unlock()
			made[s] = true
		})
	}
	screens.Wait()
	if len(made) != 1 || made[before] {
		t.Errorf("50 screens got %d snapshots", len(made))
	}
	for s := range made {
		if s.ProviderSnapshot != before.ProviderSnapshot {
			t.Error("a search makes the rules and models again")
		}
	}
	if _, err := f.Add(Ignore, "o1*"); err != nil {
		t.Fatal(err)
	}
	if s := f.shot(); s.ProviderSnapshot == before.ProviderSnapshot {
		t.Error("a new rule is not in the snapshot")
	}
}

// An act is refused when the rules that it is about are not as they were shown, whoever has
// changed them; not when something else has changed.
func TestAnActOnWhatHasChangedIsRefused(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\nGEMINI_API_KEY=y-long-enough\nIGNORE_MODELS_OPENAI=o1*\n")
	shown := f.shot().Revision
	f.must(f.SetSearch("gpt"))
	f.toolAdd(Ignore, ruleArgs{Pattern: "*pro", Provider: "gemini"})
	add := AddRule{"openai", Rule{Ignore, "*mini*"}}
	done, err := f.Act(t.Context(), add, shown)
	if err != nil || done != "added ignore rule “*mini*”: 1 model hidden" {
		t.Errorf("%q, %v", done, err)
	}
	for _, act := range []assistant.Act{
		RestoreRule{"openai", Rule{Ignore, "gpt-3.5*"}},
		RemoveRules{"openai", []Rule{{Ignore, "o1*"}}},
		ImportRules{"openai", [2][]string{{"gpt-3.5*"}, nil}},
		RemoveRules{"gemini", []Rule{{Ignore, "*pro"}}},
	} {
		if done, err := f.Act(t.Context(), act, shown); !errors.Is(err, assistant.ErrMoved) || done != "" {
			t.Errorf("%T: %q, %v", act, done, err)
		}
	}
	f.wantRules(Ignore, "o1*", "*mini*")
	if done, err := f.Act(t.Context(), AddRule{"gemini", Rule{Ignore, "*flash*"}}, shown); err != nil || done == "" {
		t.Errorf("a new rule is refused: %q, %v", done, err)
	}
	if _, err := f.Act(t.Context(), RemoveRules{"openai", []Rule{{Ignore, "o1*"}, {Ignore, "o1*"}}}, f.shot().Revision); err != nil {
		t.Error(err)
	}
	f.wantRules(Ignore, "*mini*")
}

// Acts that change nothing that a checkpoint restores are no steps.
func TestTheStepsOfActs(t *testing.T) {
	rule := Rule{Allow, "o1*\u202e"}
	for act, want := range map[string]assistant.Act{
		"Add allow rule “o1*‹U+202E›”":     AddRule{"openai", rule},
		"Restore allow rule “o1*‹U+202E›”": RestoreRule{"openai", rule},
		"Delete allow rule “o1*‹U+202E›”":  RemoveRules{"openai", []Rule{rule}},
		"Delete 2 rules":                         RemoveRules{"openai", []Rule{rule, {Ignore, "o3"}}},
		"Import 1 ignore rule and 2 allow rules": ImportRules{"openai", [2][]string{{"a"}, {"b", "c"}}},
		"Switch to gemini":                       PickProvider{"gemini"},
		"":                                       Look{Tab: TabRules},
	} {
		if got := want.Step(); got != act {
			t.Errorf("%T: %q, want %q", want, got, act)
		}
	}
}

func TestWhatAnImportSaysWasDone(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=o1*\n")
	act := ImportRules{"openai", [2][]string{{"o1*", "*mini*"}, {"gpt-4o-mini"}}}
	if done, err := f.Act(t.Context(), act, f.Revision()); err != nil || done != "added 1 ignore rule and 1 allow rule: no model changes · 1 refused" {
		t.Errorf("%q, %v", done, err)
	}
	if _, err := f.Act(t.Context(), ImportRules{"openai", [2][]string{{"o1*"}, nil}}, f.Revision()); err == nil || !strings.HasPrefix(err.Error(), "ignore rule “o1*” was not added: ") {
		t.Errorf("%v", err)
	}
}

func TestARefusedImportNamesARule(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=o1*,o3*\n")
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{nil, "there are no rules to import"},
		{[]string{"o1*"}, "ignore rule “o1*” was not added: the ignore rule already exists"},
		{[]string{"o3-mini", "o1*"}, "none of the 2 rules was added; the first, ignore rule “o3-mini”, was refused: rule “o3*” already covers it"},
	} {
		if _, err := f.Act(t.Context(), ImportRules{"openai", [2][]string{c.rules, nil}}, f.Revision()); err == nil || err.Error() != c.want {
			t.Errorf("import of %q = %v, want %s", c.rules, err, c.want)
		}
	}
}

func TestRulesAreRemovedTogetherOrNotAtAll(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=o1*,o3*\n")
	act := RemoveRules{"openai", []Rule{{Ignore, "o1*"}, {Allow, "gone"}}}
	if _, err := f.Act(t.Context(), act, f.Revision()); err == nil || f.Dirty() {
		t.Errorf("an unknown rule: %v, unsaved changes: %t", err, f.Dirty())
	}
	act.Rules = []Rule{{Ignore, "o1*"}, {Ignore, "o3*"}, {Ignore, "o1*"}}
	if _, err := f.Act(t.Context(), act, f.Revision()); err != nil || len(f.Diff()) != 2 {
		t.Errorf("two rules: %v, %v", err, f.Diff())
	}
}

// A rule for another provider is easily added to the wrong one.
func TestARuleThatMatchesNothingNamesTheProviderItFits(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\nGEMINI_API_KEY=y-long-enough\n")
	const none = "matches no known model; elsewhere it matches 2 models of gemini"
	done, err := f.Act(t.Context(), AddRule{"openai", Rule{Ignore, "*flash*"}}, f.Revision())
	if err != nil || done != "added ignore rule “*flash*”: "+none {
		t.Errorf("%q, %v: want %q", done, err, none)
	}
	if done, err := f.Act(t.Context(), AddRule{"openai", Rule{Ignore, "gpt-4*"}}, f.Revision()); err != nil || strings.Contains(string(done), "matches no") {
		t.Errorf("a rule that matches: %q, %v", done, err)
	}
	plan, err := f.Window.PlanSave(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, e := range plan.Effects {
		said = append(said, string(e.Sentence))
	}
	if all := strings.Join(said, "\n"); strings.Count(all, none) != 1 || !strings.Contains(all, "openai: *flash* "+none) {
		t.Errorf("the plan says:\n%s", all)
	}
}

// A team may add dozens of such rules before one of them saves: the sheet stays short enough for the lines of the file.
func TestRulesThatMatchNothingAreOneEffect(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x-long-enough\n")
	for i := range 40 {
		if _, err := f.Act(t.Context(), AddRule{"openai", Rule{Ignore, fmt.Sprintf("later%02d*", i)}}, f.Revision()); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := f.Window.PlanSave(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var named int
	for _, e := range plan.Effects {
		if e.Sentence == "openai: 40 patterns match no known model" {
			named = len(e.Items)
		} else if strings.Contains(string(e.Sentence), "later") {
			t.Errorf("a sentence of its own: %s", e.Sentence)
		}
	}
	if named != 40 {
		t.Errorf("%d of 40 patterns are named", named)
	}
}
