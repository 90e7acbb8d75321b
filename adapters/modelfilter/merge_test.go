package modelfilter

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/adapters/dotenv"
	"winnow/assistant"
)

// side is the rules of one side of a merge: the lists that a pattern is in.
type side map[string][2]bool

// edit changes rules at random, as a person or another program would.
func (s side) edit(rt *rapid.T, who string) side {
	out := maps.Clone(s)
	for i := range rapid.IntRange(0, 4).Draw(rt, who) {
		p := rapid.SampledFrom([]string{"a*", "b*", "c*", "d*", "e*"}).Draw(rt, fmt.Sprint(who, " pattern ", i))
		in := out[p]
		list := rapid.SampledFrom([]List{Ignore, Allow}).Draw(rt, fmt.Sprint(who, " list ", i))
		in[list] = !in[list]
		out[p] = in
	}
	return out
}

// env is the file with these rules.
func (s side) env() string {
	text := "OPENAI_API_KEY=x\n"
	for _, list := range lists {
		text += listPrefix[list] + "OPENAI=" + strings.Join(s.of(list), ",") + "\n"
	}
	return text
}

func (s side) of(list List) (all []string) {
	for _, p := range slices.Sorted(maps.Keys(s)) {
		if s[p][list] {
			all = append(all, p)
		}
	}
	return all
}

// merge is the oracle: each rule is there if a side that changed it has it, else if the base
// has it. contradict reports whether the sides contradict each other.
func (s side) merge(ours, theirs side) (merged side, contradict bool) {
	merged = side{}
	var replaced, mine, others [2]bool
	for _, p := range []string{"a*", "b*", "c*", "d*", "e*"} {
		var in [2]bool
		for list := range in {
			base, o, t := s[p][list], ours[p][list], theirs[p][list]
			if in[list] = base; o != base || t != base {
				in[list] = !base
			}
			replaced[list] = replaced[list] || base && !o && !t
			mine[list] = mine[list] || !base && o && !t
			others[list] = others[list] || !base && !o && t
			away := 1 - list
			if !base && o && !t && !s[p][away] && theirs[p][away] && !ours[p][away] {
				contradict = true
			}
		}
		merged[p] = in
	}
	for list := range replaced {
		contradict = contradict || replaced[list] && mine[list] && others[list]
	}
	return merged, contradict
}

// TestRulesMergeOneByOne edits the rules of the window and of the file at random. Changes that
// do not contradict each other are in the plan and in the file after the save, without a
// question; others are a conflict, and the file is not written.
func TestRulesMergeOneByOne(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // every check opens files
		if err := f.Value.Set("150"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	merges, conflicts := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		base := side{"a*": {true, false}, "b*": {true, false}, "c*": {false, true}, "d*": {}, "e*": {}}.edit(rt, "base")
		ours, theirs := base.edit(rt, "ours"), base.edit(rt, "theirs")
		if rapid.Bool().Draw(rt, "a contradiction") { // random edits alone contain one in some runs of 30 only
			base["e*"], ours["e*"], theirs["e*"] = [2]bool{}, [2]bool{true, false}, [2]bool{false, true}
		}
		f := fresh(t, base.env())
		var in Import
		for _, list := range lists {
			if !slices.Equal(ours.of(list), base.of(list)) {
				in.Lists[list] = append([]string{}, ours.of(list)...)
			}
		}
		in.Replace = true
		f.must(second(f.Import(in)))
		f.write(theirs.env())
		merged, contradict := base.merge(ours, theirs)
		plan, err := f.PlanSave(t.Context())
		if err != nil || (plan.Conflict != nil) != contradict {
			rt.Fatalf("base %v, ours %v, theirs %v: conflict %+v, %v; want one %v", base, ours, theirs, plan.Conflict, err, contradict)
		}
		_, err = f.Window.Save(t.Context(), assistant.Basis{Digest: plan.Digest})
		if contradict {
			conflicts++
			if _, ok := errors.AsType[*assistant.Conflict](err); !ok || f.file() != theirs.env() {
				rt.Fatalf("Save = %v, file %q", err, f.file())
			}
			return
		}
		if merges++; err != nil {
			rt.Fatal(err)
		}
		f.open()
		for _, list := range lists {
			var now []string
			for _, r := range f.Rules(list) {
				now = append(now, r.Pattern)
			}
			if slices.Sort(now); !slices.Equal(now, merged.of(list)) {
				rt.Fatalf("base %v, ours %v, theirs %v: the %s rules are %v, want %v", base, ours, theirs, list, now, merged.of(list))
			}
		}
	})
	if merges == 0 || conflicts == 0 {
		t.Errorf("%d merges, %d conflicts: the edits are not mixed enough", merges, conflicts)
	}
}

func TestEveryReorderedListIsAChangeToTheFile(t *testing.T) {
	before := dotenv.Parse([]byte("IGNORE_MODELS_A=x,y\nIGNORE_MODELS_B=x,y\nIGNORE_MODELS_C=x,\n"))
	after := dotenv.Parse([]byte("IGNORE_MODELS_A=y,x\nIGNORE_MODELS_B=y,x\nIGNORE_MODELS_C=\n"))
	var got []string
	for _, c := range fileChanges(before, after) {
		got = append(got, c.Title+" "+c.Before+">"+c.After)
	}
	if want := []string{"IGNORE_MODELS_A >", "IGNORE_MODELS_B >", "IGNORE_MODELS_C x>"}; !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
}
