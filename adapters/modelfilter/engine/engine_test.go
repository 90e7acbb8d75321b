package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

var someModels = []string{
	"openai/gpt-4o", "openai/gpt-4o-mini", "openai/gpt-4-turbo", "openai/gpt-3.5-turbo",
	"openai/o1-preview", "OpenAI/o1", "azure/gpt-4o", "bare",
}

func TestStatus(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"gpt-4*", "gpt-4o", "*-preview", "nothing"}, []string{"gpt-4o*", "openai/gpt-4o"})
	for _, want := range []ModelStatus{
		{ID: "openai/gpt-4o", Status: Whitelisted, Rule: "gpt-4o*", Index: 0, List: Allow},
		{ID: "openai/gpt-4o-mini", Status: Whitelisted, Rule: "gpt-4o*", Index: 0, List: Allow},
		{ID: "openai/gpt-4-turbo", Status: Ignored, Rule: "gpt-4*", Index: 0, List: Ignore},
		{ID: "openai/gpt-3.5-turbo", Index: -1},
		{ID: "openai/o1-preview", Status: Ignored, Rule: "*-preview", Index: 2, List: Ignore},
		{ID: "OpenAI/o1", Index: -1, Unfiltered: true},
		{ID: "azure/gpt-4o", Index: -1, Unfiltered: true},
		{ID: "bare", Index: -1},
		{ID: "bare-preview", Status: Ignored, Rule: "*-preview", Index: 2, List: Ignore},
		{ID: "openai/gpt-4.1", Status: Ignored, Rule: "gpt-4*", Index: 0, List: Ignore}, // not a model of ours
		{ID: "azure/gpt-4.1", Index: -1, Unfiltered: true},
	} {
		if got := e.Status(want.ID); got != want {
			t.Errorf("Status(%q) = %+v, want %+v", want.ID, got, want)
		}
	}
	if e.Total() != 8 || e.Shown() != 6 {
		t.Errorf("%d of %d available, want 6 of 8", e.Shown(), e.Total())
	}
	if got := e.Hidden(); !slices.Equal(got, []string{"openai/gpt-4-turbo", "openai/o1-preview"}) {
		t.Errorf("Hidden() = %q", got)
	}
	if got := e.Unfiltered(); !slices.Equal(got, []string{"OpenAI/o1", "azure/gpt-4o"}) {
		t.Errorf("Unfiltered() = %q", got)
	}
	if got := e.Matching(" *4o "); !slices.Equal(got, []string{"openai/gpt-4o"}) {
		t.Errorf("Matching(*4o) = %q", got)
	}
	rules := e.Rules(Ignore)
	for i, want := range []struct {
		matches, decides int
		shadowed, dead   bool
	}{{3, 1, false, false}, {1, 0, true, false}, {1, 1, false, false}, {0, 0, false, true}} {
		if r := rules[i]; r.Matches != want.matches || r.Decides != want.decides || r.Shadowed != want.shadowed || r.Dead != want.dead {
			t.Errorf("rule %q = %+v, want %+v", r.Pattern, r, want)
		}
	}
}

func TestExplain(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"o*", "gpt-4*", "x"}, []string{"*-mini", "gpt*"})
	x := e.Explain("openai/gpt-4o")
	want := []MatchingRule{
		{Allow, 1, "gpt*", true}, {Ignore, 0, "o*", false}, {Ignore, 1, "gpt-4*", false},
	}
	if !slices.Equal(x.Rules, want) || x.Status != Whitelisted {
		t.Errorf("Explain = %+v, want %+v", x, want)
	}
	x = e.Explain("azure/gpt-4o")
	if !x.Unfiltered || len(x.Rules) != 2 || x.Rules[0].Decides {
		t.Errorf("Explain of an unfiltered id = %+v, want two rules that decide nothing", x)
	}
}

func TestModelsComeOnce(t *testing.T) {
	e := New("p", []string{"p/a", "p/b", "p/a"})
	if got := e.Models(); !slices.Equal(got, []string{"p/a", "p/b"}) {
		t.Errorf("Models() = %q", got)
	}
}

// Answers that were returned do not change with the engine.
func TestAnswersAreTheCallersOwn(t *testing.T) {
	e := New("openai", someModels)
	e.Add(Ignore, "gpt*")
	rules, statuses := e.Rules(Ignore), e.Statuses()
	e.Set([]string{"*", "gpt*"}, nil)
	if rules[0].Decides != 4 {
		t.Errorf("rule changed to %+v", rules[0])
	}
	if statuses[0].Rule != "gpt*" {
		t.Errorf("status changed to %+v", statuses[0])
	}
}

// TestEqualsNaive compares engines made at once with the plain meaning.
func TestEqualsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cases := 0
	for cases < 10_000 {
		n := &naive{provider: "openai", models: randomModels(rng, 1+rng.IntN(70))}
		n.rules = [2][]string{randomPatterns(rng, 5), randomPatterns(rng, 3)}
		e := New(n.provider, n.models)
		e.Set(n.rules[Ignore], n.rules[Allow])
		if d := n.differs(e); d != "" {
			t.Fatalf("models %q rules %q: %s", n.models, n.rules, d)
		}
		cases += len(n.models)
	}
}

// TestIncrementalEqualsScratch changes one engine step by step; after each
// step it must be what the plain meaning says, and its previews must have announced it.
func TestIncrementalEqualsScratch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		n := &naive{provider: "openai", models: randomModels(rng, 1+rng.IntN(90))}
		e := New(n.provider, n.models)
		for range 25 {
			list, pattern := List(rng.IntN(2)), randomPattern(rng)
			rules := n.rules[list]
			at := 0
			before, op := e.Statuses(), rng.IntN(12)
			var told *Effect
			switch {
			case op < 7:
				c := e.Preview(list, pattern)
				told = &c
				e.Add(list, pattern)
				n.rules[list] = append(rules, pattern)
			case op < 9 && len(rules) > 0:
				at = rng.IntN(len(rules))
				c := e.PreviewRemove(list, at)
				told = &c
				e.RemoveAt(list, at)
				n.rules[list] = slices.Delete(rules, at, at+1)
			case op < 10 && len(rules) > 0:
				pattern = rules[rng.IntN(len(rules))]
				kept := slices.DeleteFunc(slices.Clone(rules), func(p string) bool { return p == pattern })
				if got := e.Remove(list, pattern); got != len(rules)-len(kept) {
					t.Fatalf("Remove(%q) = %d, want %d", pattern, got, len(rules)-len(kept))
				}
				n.rules[list] = kept
			case op == 10:
				n.rules = [2][]string{append(randomPatterns(rng, 4), n.rules[1]...), randomPatterns(rng, 3)}
				e.Set(n.rules[Ignore], n.rules[Allow])
			default:
				n.rules[list] = nil
				e.Set(n.rules[Ignore], n.rules[Allow])
			}
			if d := n.differs(e); d != "" {
				t.Fatalf("after step %d on %s %q at %d: %s", op, list, pattern, at, d)
			}
			if told != nil {
				if want := changed(before, e.Statuses()); fmt.Sprint(told.Hidden, told.Shown) != fmt.Sprint(want.Hidden, want.Shown) {
					t.Fatalf("step %d on %s %q at %d: preview %+v, changed %+v", op, list, pattern, at, *told, want)
				}
			}
		}
	}
}

func changed(before, after []ModelStatus) Effect {
	var c Effect
	for i, s := range after {
		switch was, is := before[i].Status == Ignored, s.Status == Ignored; {
		case is && !was:
			c.Hidden = append(c.Hidden, s.ID)
		case was && !is:
			c.Shown = append(c.Shown, s.ID)
		}
	}
	return c
}

func TestPreviewChangesNothing(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"gpt-4*"}, []string{"*mini"})
	before := fmt.Sprint(e.Statuses(), e.Rules(Ignore)[0].Decides, e.Patterns(Ignore))
	c := e.Preview(Ignore, " gpt* ")
	if c.Matches != 4 || !slices.Equal(c.Hidden, []string{"openai/gpt-3.5-turbo"}) || len(c.Shown) != 0 {
		t.Errorf("Preview(ignore) = %+v", c)
	}
	if c = e.Preview(Allow, "gpt-4o*"); c.Matches != 2 || !slices.Equal(c.Shown, []string{"openai/gpt-4o"}) || len(c.Hidden) != 0 {
		t.Errorf("Preview(allow) = %+v", c)
	}
	if c = e.PreviewRemove(Ignore, 7); c.Matches != 0 || c.Hidden != nil || c.Shown != nil {
		t.Errorf("PreviewRemove of no rule = %+v", c)
	}
	if after := fmt.Sprint(e.Statuses(), e.Rules(Ignore)[0].Decides, e.Patterns(Ignore)); after != before {
		t.Errorf("a preview changed %s to %s", before, after)
	}
}

func TestPreviewRemove(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"gpt*", "gpt-4*"}, []string{"*4o", "gpt-4o*"})
	for _, tc := range []struct {
		list          List
		index         int
		hidden, shown []string
	}{
		{Ignore, 0, nil, []string{"openai/gpt-3.5-turbo"}},
		{Ignore, 1, nil, nil},
		{Allow, 0, nil, nil},
		{Allow, 1, []string{"openai/gpt-4o-mini"}, nil},
	} {
		c := e.PreviewRemove(tc.list, tc.index)
		if !slices.Equal(c.Hidden, tc.hidden) || !slices.Equal(c.Shown, tc.shown) {
			t.Errorf("PreviewRemove(%s, %d) = %+v, want hidden %q, shown %q", tc.list, tc.index, c, tc.hidden, tc.shown)
		}
	}
}
