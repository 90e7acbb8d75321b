package modelfilter

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
)

// openFind opens a window with the models of the shelf, a price for each, and a usage file
// of openai.
func openFind(t *testing.T, env string) *Window {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, ".env")
	if err := os.WriteFile(file, []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "usage"), 0o700); err != nil {
		t.Fatal(err)
	}
	used := `{"schema_version":2,"credentials":{"c":{"accessor":"sk-secret","model_usage":{"openai/gpt-4":{"totals":{"request_count":9,"last_used_at":1795000000}}}}}}`
	if err := os.WriteFile(filepath.Join(dir, "usage", "usage_openai.json"), []byte(used), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Open(t.Context(), Options{
		EnvFile: file, Environ: func() []string { return nil }, Models: newShelf(), Usage: usage.Open(dir, nil), Now: clock,
		Describe: func(id string) (llm.ModelInfo, bool) {
			if strings.Contains(id, "gemini") {
				return llm.ModelInfo{}, false // nothing is known of them
			}
			return llm.ModelInfo{Facts: llm.Facts{PriceOut: llm.PriceOf(float64(len(id)))}}, true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const twoProviders = "OPENAI_API_KEY=k\nGEMINI_API_KEY=k\nIGNORE_MODELS_OPENAI=*-preview\nWHITELIST_MODELS_OPENAI=gpt-4o\n"

func where(t *testing.T, line string) condition.Condition {
	t.Helper()
	c, err := condition.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	w := openFind(t, twoProviders)
	for line, want := range map[string]struct {
		ids     string
		unknown int
	}{
		"requests>0":             {"openai/gpt-4", 3},
		"unused:30d *turbo*":     {"openai/gpt-3.5-turbo openai/gpt-3.5-turbo-16k openai/gpt-4-turbo openai/gpt-4-turbo-preview", 0},
		"hidden *gpt*":           {"openai/gpt-4-turbo-preview openai/gpt-4o-preview", 0},
		"price<=10":              {"openai/o1", 3},
		"new":                    {"openai/o1", 0},
		"gemini-1*":              {"gemini/gemini-1.0-pro", 0},
		"price>1 gemini-1*":      {"", 1},
		"!price>1":               {"", 3},
		"openai/gpt-4o shown":    {"openai/gpt-4o", 0},
		"price>1000000":          {"", 3},
		"requests>0 name:gemini": {"", 0},
	} {
		found, err := w.Find(where(t, line))
		var ids []string
		for _, m := range found.Models {
			ids = append(ids, m.Info.ID)
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); err != nil || got != want.ids || found.Unknown != want.unknown || found.Problems != nil {
			t.Errorf("%q: %q, %d unknown, %q, %v; want %q, %d unknown", line, got, found.Unknown, found.Problems, err, want.ids, want.unknown)
		}
	}
	if _, err := w.Find(where(t, "new"), "nowhere"); err == nil {
		t.Error("an unknown provider is no error")
	}
}

func TestAUsageFileThatCannotBeUsedIsAProblem(t *testing.T) {
	w := openFind(t, twoProviders)
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.EnvFile()), "usage", "usage_gemini.json"), []byte(`{"sk-secret`), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := w.Find(where(t, "requests>0"))
	if err != nil || len(found.Problems) != 1 || !strings.Contains(found.Problems[0], "usage_gemini.json") || strings.Contains(found.Problems[0], "sk-secret") {
		t.Errorf("%q, %v", found.Problems, err)
	}
}

// TestPlanHideHidesExactlyTheseModels stages the plan of random conditions and looks at
// the status of every model.
func TestPlanHideHidesExactlyTheseModels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"*gpt*", "*mini*", "*-4*", "price>15", "price<18", "requests>0", "*o*", "!*turbo*", "shown", "openai/*", "!new"}
	for range 60 {
		w := openFind(t, twoProviders)
		line := words[rng.IntN(len(words))] + " " + words[rng.IntN(len(words))]
		found, err := w.Find(where(t, line))
		if err != nil {
			t.Fatal(err)
		}
		plans, err := w.PlanHide(found)
		if err != nil {
			t.Fatal(err)
		}
		hidden := map[string]bool{}
		for _, id := range allHidden(t, w) {
			hidden[id] = true
		}
		for _, p := range plans {
			s, _ := w.On(p.Provider)
			for _, pattern := range p.Patterns {
				if _, err := s.Add(Ignore, pattern); err != nil {
					t.Fatalf("%q: Add(%q): %v", line, pattern, err)
				}
			}
			for _, id := range p.Hides {
				hidden[id] = true
			}
			if len(p.Left) > 0 || slices.ContainsFunc(p.Allowed, func(id string) bool { return id != "openai/gpt-4o" }) {
				t.Errorf("%q: left %q, allowed %q", line, p.Left, p.Allowed)
			}
		}
		got := allHidden(t, w)
		if len(got) != len(hidden) || slices.ContainsFunc(got, func(id string) bool { return !hidden[id] }) {
			t.Fatalf("%q: the plan hides %q, want %v", line, got, hidden)
		}
	}
}

func allHidden(t *testing.T, w *Window) []string {
	t.Helper()
	found, err := w.Find(where(t, "hidden"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range found.Models {
		ids = append(ids, m.Info.ID)
	}
	return ids
}
