package modelfilter

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestSortingReadsEachModelOnce sorts models by each order, compares that with a stable sort by
// the fact itself, and counts how often a model is read.
func TestSortingReadsEachModelOnce(t *testing.T) {
	const n = 5000
	rnd, models := rand.New(rand.NewPCG(1, 2)), make([]condition.Model, n)
	dates := []string{"", "2024", "2024-05", "2024-05-13", "2025-01-01", "2025-11-30"}
	for i := range models {
		m := &models[i]
		m.Hidden, m.UseKnown, m.Use.Requests, m.Use.Last = rnd.IntN(2) == 0, rnd.IntN(3) > 0, rnd.Int64N(9), time.Unix(rnd.Int64N(9)*1e6, 0)
		m.Info.Context, m.Info.Known, m.Info.Facts.Released = rnd.IntN(9)*1000, true, dates[rnd.IntN(len(dates))]
		m.Info.Facts.PriceOut = llm.PriceOf(float64(rnd.IntN(9))/8 - 0.2)
		if m.UseKnown && rnd.IntN(9) == 0 {
			m.Use.Last = time.Time{} // never used
		}
	}
	compare := map[string]func(a, b *condition.Model) int{
		"price": func(a, b *condition.Model) int {
			return cmp.Compare(b.Info.Facts.PriceOut.USD, a.Info.Facts.PriceOut.USD)
		},
		"released":  func(a, b *condition.Model) int { return strings.Compare(b.Info.Facts.Released, a.Info.Facts.Released) },
		"last_used": func(a, b *condition.Model) int { return b.Use.Last.Compare(a.Use.Last) },
		"context":   func(a, b *condition.Model) int { return b.Info.Context - a.Info.Context },
		"requests":  func(a, b *condition.Model) int { return cmp.Compare(b.Use.Requests, a.Use.Requests) },
	}
	for name, by := range compare {
		for _, reversed := range []bool{false, true} {
			o, _ := OrderNamed(name)
			reads := 0
			got := o.Sorted(n, func(i int) *condition.Model { reads++; return &models[i] }, reversed)
			if reads != n {
				t.Errorf("%s: %d models are read %d times", name, n, reads)
			}
			known := 0
			for known < n && isKnown(o, &models[got[known]]) {
				known++
			}
			for i := 1; i < n; i++ {
				c := by(&models[got[i-1]], &models[got[i]])
				if reversed {
					c = -c
				}
				switch {
				case i < known && (c > 0 || c == 0 && got[i] < got[i-1]):
					t.Fatalf("%s, reversed %t: %d comes before %d", name, reversed, got[i-1], got[i])
				case i >= known && isKnown(o, &models[got[i]]):
					t.Fatalf("%s: a known model comes after an unknown one", name)
				}
			}
		}
	}
}

func isKnown(o Order, m *condition.Model) bool {
	_, known := o.key(m)
	return known
}

// TestUnknownUseIsNoAnswer: of a provider without a usage file, find_models does not say that
// nobody uses its models.
func TestUnknownUseIsNoAnswer(t *testing.T) {
	w := openFind(t, twoProviders)
	for where, want := range map[string]string{"used:7d": "The use of ", "unused:7d": "The use of ", "tools": "Left out because a property is unknown"} {
		r := w.toolFind(findArgs{Where: where, Provider: "gemini"})
		if !strings.Contains(r.Message, want) || strings.HasPrefix(where, "u") && strings.Contains(r.Message, "No model") {
			t.Errorf("%s on gemini: %s", where, r.Message)
		}
	}
	if r := w.toolFind(findArgs{Where: "shown", Models: []string{"unused:1d"}, Provider: "openai gemini"}); !strings.Contains(r.Message, "(never used)") || !strings.Contains(r.Message, "The use of ") {
		t.Errorf("on both providers: %s", r.Message)
	}
}
