package modelfilter

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
)

// large is a window with many models and rules.
func large(tb testing.TB, models, rules int) *Window {
	tb.Helper()
	s := &shelf{lists: map[string]ModelList{"openai": {IDs: manyModels(models)}}}
	w, err := Open(tb.Context(), Options{EnvFile: tb.TempDir() + "/.env", Environ: func() []string { return nil }, Models: s, Now: clock})
	if err != nil {
		tb.Fatal(err)
	}
	list := make([]string, rules)
	for i := range list {
		list[i] = fmt.Sprintf("model-%05d*x", i)
	}
	raw, err := json.Marshal(map[string]any{"version": 1, "provider": "openai", "search": "", "rules": map[string]any{"openai": map[string]any{"ignore": list}}})
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Apply(raw); err != nil {
		tb.Fatal(err)
	}
	return w
}

func TestLargeSetsWork(t *testing.T) {
	w := large(t, 100_000, 10_000)
	added, err := w.Add(Ignore, "model-0001?")
	if err != nil || len(added.Models) != 10 || len(added.Redundant) != 0 {
		t.Fatalf("Add = %d models, %v", len(added.Models), err)
	}
	c, _ := contextOf(t, w)
	if !c.Truncated || c.Models.Total != 100_000 || c.Models.Available != 99_990 || c.Rules.IgnoreCount != 10_001 {
		t.Errorf("context: %d of %d, %d rules", c.Models.Available, c.Models.Total, c.Rules.IgnoreCount)
	}
	if _, err := w.Save(t.Context(), assistant.Basis{}); err != nil {
		t.Fatal(err)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	f := fresh(t, plainEnv)
	f.shelf.fetched["openai"] = f.shelf.lists["openai"]
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				switch i {
				case 0:
					_, _ = f.Add(Ignore, "o1")
					_ = f.Remove(Ignore, "o1")
				case 1:
					_, _ = f.Save(t.Context())
				case 2:
					f.Rules(Ignore)
					f.Models()
					f.Counts()
				case 3:
					_, _ = f.Context()
					_, _ = f.State()
				case 4:
					_, _ = f.Refresh(t.Context(), "")
				case 5:
					f.Lock()
					_ = f.SetProvider("gemini")
					f.Unlock()
				case 6:
					_, _ = f.PlanSave(t.Context())
					f.HighlightRule(Ignore, "*-preview")
				case 7:
					_, _ = f.Changes(0)
					_ = f.SetSearch("x")
					f.Notices()
				}
			}
		})
	}
	group.Wait()
	f.must(second(f.Discard()))
	f.open()
	for _, r := range f.patterns(Ignore) {
		if !strings.Contains("*-preview gpt-3.5* o1", r) {
			t.Errorf("a rule %q nobody made", r)
		}
	}
}

func TestARuleStagedWhileASaveRunsStaysStaged(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(second(f.Add(Ignore, "o1")))
	// The environment is read before the write, and then between the write and the
	// moment at which the window takes the new file over.
	calls := 0
	f.opts.Environ = func() []string {
		if calls++; calls == 2 {
			f.must(second(f.Add(Ignore, "gpt-4")))
			f.must(f.Remove(Ignore, "o1"))
		}
		return nil
	}
	f.must(second(f.Save(t.Context())))
	f.wantRules(Ignore, "*-preview", "gpt-3.5*", "gpt-4")
	if !f.Dirty() || !strings.Contains(f.file(), ",o1\n") {
		t.Errorf("dirty %v, file %q", f.Dirty(), f.file())
	}
}

func BenchmarkContext(b *testing.B) {
	w := large(b, 20_000, 100)
	for b.Loop() {
		if _, err := w.Context(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkModelsView(b *testing.B) {
	w := large(b, 20_000, 100)
	for b.Loop() {
		w.Models()
	}
}

func BenchmarkAddAndRemove(b *testing.B) {
	w := large(b, 20_000, 100)
	for b.Loop() {
		if _, err := w.Add(Ignore, "*-0001?"); err != nil {
			b.Fatal(err)
		}
		if err := w.Remove(Ignore, "*-0001?"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkImportBesideTenThousandRules(b *testing.B) {
	w := large(b, 2_000, 10_000)
	many := make([]string, maxImport)
	for i := range many {
		many[i] = fmt.Sprintf("*other-%05d?y", i)
	}
	for b.Loop() {
		if _, err := w.Import(Import{Lists: [2][]string{Ignore: many}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkState(b *testing.B) {
	w := large(b, 2_000, 10_000)
	for b.Loop() {
		if _, err := w.State(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIdle(b *testing.B) {
	w := large(b, 20_000, 100)
	for b.Loop() {
		w.Counts()
		w.Rules(Ignore)
		w.Dirty()
	}
}
