package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/glob"
)

func TestSuggest(t *testing.T) {
	for _, tc := range []struct{ wanted, others, want string }{
		{"", "a b", ""},
		{"a b", "", "*"},
		{"gpt-4o", "gpt-4o-mini gpt-4", "gpt-4o"},
		{"gpt-4o gpt-4o-mini", "gpt-4 gpt-3.5", "gpt-4o*"},
		{"gpt-4o gpt-4", "o1 claude", "gpt*"},
		{"a-preview b-preview", "a b", "*preview"},
		{"a-preview b-preview-2", "a b", "*preview*"},
		{"gpt-4-mini gpt-5-mini", "o1-mini gpt-4", "gpt*mini"},
		{"gpt-4 gpt-5 x", "o1", "gpt* x"},
		{"abc abd", "axx abx", "abc abd"},
		{"openai/o1 openai/o3", "openai/gpt", "o1 o3"}, // o* would match openai/gpt as a whole
		{"o1 o3", "gpt", "o1 o3"},
		{"a*b", "axb", "a[*]b"},
		{"a,b", "ab", "a?b"},
		{"x,abc-1 x,abc-2", "xyabc-9", "x?abc-1 x?abc-2"}, // x?abc* would match the other
		{"openai/x", "azure/x", "openai/x"},
		{"x", "x", ""},
		// aa-bb*aa-bb would spare the others, but miss aa-bb.
		{"aa-bb aa-bb-aa-bb", "aa-bb-x-bb x-aa-bb aa-x-aa-bb", "aa-bb aa-bb-aa-bb"},
	} {
		got := strings.Join(Suggest(strings.Fields(tc.wanted), strings.Fields(tc.others)), " ")
		if got != tc.want {
			t.Errorf("Suggest(%q, %q) = %q, want %q", tc.wanted, tc.others, got, tc.want)
		}
	}
}

func TestSuggestIsExactAndDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	short := 0
	for range 400 {
		ids := randomModels(rng, 2+rng.IntN(60))
		ids = slices.DeleteFunc(ids, func(id string) bool { return strings.Contains(id, "\xff") })
		var wanted, others []string
		word := []string{"gpt", "mini", "4", "-a", "preview"}[rng.IntN(5)]
		for _, id := range ids {
			if strings.Contains(id, word) != (rng.IntN(80) == 0) {
				wanted = append(wanted, id)
			} else {
				others = append(others, id)
			}
		}
		got := Suggest(wanted, others)
		var patterns []*glob.Pattern
		for _, text := range got {
			patterns = append(patterns, glob.Compile(text))
		}
		matched := func(id string) bool {
			return slices.ContainsFunc(patterns, func(p *glob.Pattern) bool { return p.MatchID(id) })
		}
		for _, id := range others {
			if matched(id) {
				t.Fatalf("Suggest(%q, %q) = %q matches %q", wanted, others, got, id)
			}
		}
		for _, id := range wanted {
			exact := glob.Compile(glob.Quote(id))
			if !matched(id) && !slices.ContainsFunc(others, exact.MatchID) {
				t.Fatalf("Suggest(%q, %q) = %q misses %q", wanted, others, got, id)
			}
		}
		if len(got) < len(wanted) {
			short++
		}
		rng.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
		rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		if again := Suggest(wanted, others); !slices.Equal(again, got) {
			t.Fatalf("Suggest is %q and %q", got, again)
		}
	}
	if short < 100 {
		t.Fatalf("only %d suggestions are shorter than the list of names", short)
	}
}

// TestSuggestIsAtMostTwiceTheShortestList compares with the shortest list of patterns of
// the same forms, found by trying all.
func TestSuggestIsAtMostTwiceTheShortestList(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	parts := []string{"gpt", "o1", "mini", "pro", "preview", "4", "5", "audio"}
	longer := 0
	for range 300 {
		set := map[string]bool{}
		for range 4 + rng.IntN(5) {
			name := parts[rng.IntN(len(parts))]
			for range rng.IntN(3) {
				name += "-" + parts[rng.IntN(len(parts))]
			}
			set["acme/"+name] = true
		}
		var wanted, others []string
		for id := range set {
			if rng.IntN(3) > 0 {
				wanted = append(wanted, id)
			} else {
				others = append(others, id)
			}
		}
		got, least := Suggest(wanted, others), shortestCover(wanted, others)
		if len(got) > 2*least {
			t.Fatalf("Suggest(%q, %q) = %q, %d patterns will do", wanted, others, got, least)
		}
		if len(got) > least {
			longer++
		}
	}
	if longer > 30 {
		t.Errorf("%d of 300 suggestions are not the shortest", longer)
	}
}

// TestGainsThatHaveShrunkAreCountedAgain covers lists whose patterns share many names: taking
// a pattern by what it would have matched at first takes two percent more of them.
func TestGainsThatHaveShrunkAreCountedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	parts := []string{"gpt", "o1", "mini", "pro", "preview", "4", "5", "audio", "turbo", "nano", "max", "chat"}
	part := func() string { return parts[rng.IntN(len(parts))] }
	const most = 4450
	sum := 0
	for range 100 {
		seen := map[string]bool{}
		var wanted, others []string
		for range 150 {
			id := fmt.Sprintf("acme/%s-%s-%s-%d", part(), part(), part(), rng.IntN(5))
			switch {
			case seen[id]:
			case rng.IntN(10) > 0:
				wanted = append(wanted, id)
			default:
				others = append(others, id)
			}
			seen[id] = true
		}
		sum += len(Suggest(wanted, others))
	}
	t.Logf("%d patterns", sum)
	if sum > most {
		t.Errorf("%d patterns, want at most %d", sum, most)
	}
}

// shortestCover returns how many patterns of the forms of Suggest match all of wanted and
// none of others.
func shortestCover(wanted, others []string) int {
	covers := map[uint]bool{} // as bits, one for each of wanted
	for i, id := range wanted {
		name := withoutProvider(id)
		patterns := []string{glob.Quote(name)}
		for _, k := range cuts(name, maxCuts) {
			patterns = append(patterns, k.pattern())
		}
		for _, text := range patterns {
			p := glob.Compile(text)
			if slices.ContainsFunc(others, p.MatchID) {
				continue
			}
			bits := uint(1) << i
			for j, id := range wanted {
				if p.MatchID(id) {
					bits |= 1 << j
				}
			}
			covers[bits] = true
		}
	}
	reached := map[uint]bool{0: true}
	for n := 0; ; n++ {
		if reached[1<<len(wanted)-1] {
			return n
		}
		next := map[uint]bool{}
		for have := range reached {
			for bits := range covers {
				next[have|bits] = true
			}
		}
		reached = next
	}
}

func BenchmarkSuggestOfManyModels(b *testing.B) {
	rng := rand.New(rand.NewPCG(13, 14))
	var wanted, others []string
	for i := range 20_000 {
		id := fmt.Sprintf("openrouter/lab-%d/%s-%d.%d-%s", rng.IntN(200), []string{"gpt", "llama", "qwen", "mistral"}[rng.IntN(4)], rng.IntN(9), rng.IntN(9), []string{"mini", "large", "preview", "instruct", "chat"}[rng.IntN(5)])
		id += fmt.Sprint("-", i)
		if strings.Contains(id, "preview") || rng.IntN(50) == 0 {
			wanted = append(wanted, id)
		} else {
			others = append(others, id)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		Suggest(wanted, others)
	}
}
