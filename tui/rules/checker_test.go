package rules

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
)

// TestCheckerAgreesWithTheWindow holds the quick check against the window's own
// for random rules, among them many that cover each other.
func TestCheckerAgreesWithTheWindow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "*", "?", "[ab]", "[!a]", "-", "*", "[z-a]", "/"}
	pattern := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(5) {
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
		return b.String()
	}
	ids := []string{"openai/a", "openai/ab", "openai/a-b", "openai/ba", "openai/bb-a", "openai/a/b", "openai/b"}
	covered, redundant := 0, 0
	for range 60 {
		set := make([]string, 30)
		for i := range set {
			set[i] = pattern()
		}
		b := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI='"+strings.Join(set, ",")+"'\n", ids)
		for range 40 {
			text := pattern()
			want, wantErr := b.w.Check(modelfilter.Ignore, text)
			got, unsure, err := b.checker.check(&b.data, modelfilter.Ignore, text, b.w.Preview(modelfilter.Ignore, text).Matches, len(set))
			if unsure || (err == nil) != (wantErr == nil) || !slices.Equal(got.Redundant, want.Redundant) {
				t.Fatalf("rules %q: check(%q) = %+v, %v; the window says %+v, %v", set, text, got, err, want, wantErr)
			}
			var a, w *engine.Refusal
			if errors.As(err, &a) && errors.As(wantErr, &w) && (a.Reason != w.Reason || a.By != w.By) {
				t.Fatalf("rules %q: check(%q) refuses with %v, the window with %v", set, text, err, wantErr)
			}
			if wantErr != nil {
				covered++
			}
			redundant += len(want.Redundant)
		}
	}
	if covered < 100 || redundant < 100 {
		t.Errorf("only %d refusals and %d redundant rules were tried", covered, redundant)
	}
}

func TestCheckerBoundsWhatItCompares(t *testing.T) {
	b := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI="+manyRules(200)+"\n", many(2000))
	b.openPattern(modelfilter.Ignore, "*-0*")
	if v := b.line.preview; !v.unsure || len(v.verdict.Redundant) != liveCompared {
		t.Errorf("unsure %v with %d redundant rules, want true with %d", v.unsure, len(v.verdict.Redundant), liveCompared)
	}
}
