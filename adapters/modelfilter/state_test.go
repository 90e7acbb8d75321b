package modelfilter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter/engine"
)

func TestStateComesBack(t *testing.T) {
	f := fresh(t, plainEnv)
	start := stateOf(t, f.Window)
	want := `{"version":1,"provider":"openai","search":"","rules":{"openai":{"ignore":["*-preview","gpt-3.5*"],"whitelist":["gpt-4o-preview"]}}}`
	if start != want {
		t.Errorf("state = %s, want %s", start, want)
	}
	f.must(second(f.Add(Allow, "o1")))
	f.must(f.Remove(Ignore, "*-preview"))
	f.must(f.SetProvider("gemini"))
	f.must(second(f.Add(Ignore, "gemini-1*")))
	f.must(f.SetSearch("flash"))
	changed, context, hidden := stateOf(t, f.Window), contextText(t, f), f.Counts().Hidden
	f.must(f.Apply(json.RawMessage(start)))
	if got := stateOf(t, f.Window); got != start || f.Dirty() || f.Search() != "" || f.Provider() != "openai" {
		t.Errorf("state = %s, dirty %v; want the start", got, f.Dirty())
	}
	f.wantRules(Ignore, "*-preview", "gpt-3.5*")
	if f.Counts().Hidden != 4 {
		t.Error("the models are not those of the rules that came back")
	}
	f.must(f.Apply(json.RawMessage(changed)))
	if got := stateOf(t, f.Window); got != changed || contextText(t, f) != context || f.Counts().Hidden != hidden || !f.Dirty() {
		t.Errorf("state = %s, want %s and the same context", got, changed)
	}
	if f.file() != plainEnv {
		t.Error("the file was touched")
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(second(f.Add(Ignore, "o1")))
	before := stateOf(t, f.Window)
	for name, raw := range map[string]string{
		"no JSON":       `{`,
		"version":       `{"version":2,"provider":"gemini","search":"","rules":{}}`,
		"no provider":   `{"version":1,"provider":"","search":"","rules":{}}`,
		"unknown field": `{"version":1,"provider":"gemini","search":"","rules":{},"extra":1}`,
		"wrong type":    `{"version":1,"provider":"gemini","search":"","rules":{"gemini":{"ignore":["a"]},"openai":{"ignore":[1]}}}`,
		"empty pattern": `{"version":1,"provider":"gemini","search":"","rules":{"gemini":{"ignore":["a"]},"openai":{"ignore":[""]}}}`,
		"upper case":    `{"version":1,"provider":"gemini","search":"","rules":{"OpenAI":{"ignore":["a"]}}}`,
		"odd bytes":     `{"version":1,"provider":"gemini","search":"","rules":{"openai":{"ignore":[{"bytes":"%"}]}}}`,
		"odd field":     `{"version":1,"provider":"gemini","search":"","rules":{"openai":{"ignore":[{"byte":"YQ=="}]}}}`,
		"null":          `null`,
		"more after it": `{"version":1,"provider":"gemini","search":"","rules":{}} {}`,
	} {
		if err := f.Apply(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: applied", name)
		}
		if got := stateOf(t, f.Window); got != before {
			t.Errorf("%s: state = %s, want it untouched", name, got)
		}
	}
}

// TestAListThatIsNotUTF8IsNotEdited: Python refuses the whole file, and a state
// could not bring the bytes back.
func TestAListThatIsNotUTF8IsNotEdited(t *testing.T) {
	const env = "OPENAI_API_KEY=x\nIGNORE_MODELS_OPENAI=a\xff*,b\n"
	f := fresh(t, env)
	before := stateOf(t, f.Window)
	var fixed *FixedError
	if _, err := f.Clear(Ignore); !errors.As(err, &fixed) {
		t.Errorf("the list can be cleared: %v", err)
	}
	f.must(second(f.Add(Allow, "c")))
	f.must(f.Apply(json.RawMessage(before)))
	f.wantRules(Ignore, "a\uFFFD*", "b")
	if f.Dirty() {
		t.Error("what came back differs from the file")
	}
	f.must(second(f.Add(Allow, "c")))
	_, err := f.Save(t.Context())
	if got := f.file(); got != env+"WHITELIST_MODELS_OPENAI=c\n" {
		t.Errorf("the file is %q: %v", got, err)
	}
}

func TestApplyCountsAsTheUsers(t *testing.T) {
	f := fresh(t, plainEnv)
	start := stateOf(t, f.Window)
	f.call("add_ignore_rule", `{"pattern":"o1"}`)
	_, mark := f.Changes(0)
	f.must(f.Apply(json.RawMessage(start)))
	changes, _ := f.Changes(mark)
	if len(changes) != 1 || changes[0]["type"] != "rule_removed" || changes[0]["pattern"] != "o1" {
		t.Errorf("changes = %v, want the rule removed", changes)
	}
}

func TestRecoverDoesWhatWasStagedToTheFileAsItIsNow(t *testing.T) {
	f := fresh(t, plainEnv)
	saved := stateOf(t, f.Window)
	f.must(second(f.Add(Ignore, "o1")))
	f.must(f.Remove(Ignore, "gpt-3.5*"))
	f.must(f.SetProvider("gemini"))
	unsaved := stateOf(t, f.Window)
	// Meanwhile somebody edits the file by hand.
	f.write("OPENAI_API_KEY=sk-aaaaaaaaaaaa\nGEMINI_API_KEY=x\nIGNORE_MODELS_OPENAI=*-preview,gpt-3.5*,gpt-4\nIGNORE_MODELS_GEMINI=gemini-1*\n")
	f.open()
	f.must(f.Recover(json.RawMessage(unsaved), json.RawMessage(saved)))
	if f.Provider() != "gemini" {
		t.Errorf("provider = %s", f.Provider())
	}
	f.wantRules(Ignore, "gemini-1*")
	f.must(f.SetProvider("openai"))
	f.wantRules(Ignore, "*-preview", "gpt-4", "o1")
	f.wantRules(Allow)
	if err := f.Recover(json.RawMessage("{"), json.RawMessage(saved)); err == nil {
		t.Error("a broken state was recovered")
	}
}

// oracle is the window as a few slices.
type oracle struct {
	rules, saved map[string][2][]string
	provider     string
}

func (o *oracle) list(list List) []string { return o.rules[o.provider][list] }

func (o *oracle) set(list List, rules []string) {
	both := o.rules[o.provider]
	both[list] = rules
	o.rules[o.provider] = both
}

func (o *oracle) dirty() bool {
	for name, r := range o.rules {
		for _, list := range lists {
			if !slices.Equal(r[list], o.saved[name][list]) {
				return true
			}
		}
	}
	return false
}

// hidden says by the plainest means what the rules hide.
func (o *oracle) hidden(models []string, ignore, allow []string) []string {
	any := func(rules []string, id string) bool {
		_, name, _ := strings.Cut(id, "/")
		return slices.ContainsFunc(rules, func(p string) bool { return fits(p, name) || fits(p, id) })
	}
	var out []string
	for _, id := range models {
		if any(ignore, id) && !any(allow, id) {
			out = append(out, id)
		}
	}
	return out
}

// fits matches patterns whose only wildcard is the star.
func fits(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	if pattern[0] == '*' {
		return fits(pattern[1:], s) || s != "" && fits(pattern, s[1:])
	}
	return s != "" && s[0] == pattern[0] && fits(pattern[1:], s[1:])
}

func cloneRules(m map[string][2][]string) map[string][2][]string {
	out := map[string][2][]string{}
	for name, r := range m {
		out[name] = [2][]string{slices.Clone(r[0]), slices.Clone(r[1])}
	}
	return out
}

func TestRandomEditsAgainstAnOracle(t *testing.T) {
	models := map[string][]string{}
	for _, p := range []string{"openai", "gemini"} {
		for _, a := range []string{"a", "ab", "b", "ba"} {
			for _, b := range []string{"", "-x", "-y", "-xy"} {
				models[p] = append(models[p], p+"/"+a+b)
			}
		}
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			f := fresh(t, "OPENAI_API_KEY=k\nGEMINI_API_KEY=k\nIGNORE_MODELS_OPENAI=a*\n# end\n")
			for p, ids := range models {
				f.shelf.lists[p] = ModelList{IDs: ids}
			}
			o := &oracle{rules: map[string][2][]string{"openai": {{"a*"}}, "gemini": {}}, provider: "openai"}
			o.saved = cloneRules(o.rules)
			var states []string
			var oracles []oracle
			for range 150 {
				step(t, rnd, f, o, models)
				compare(t, f, o, models[o.provider])
				raw, context := stateOf(t, f.Window), contextText(t, f)
				f.must(f.Apply(json.RawMessage(raw)))
				if got := stateOf(t, f.Window); got != raw || contextText(t, f) != context {
					t.Fatalf("Apply(State()) made %s of %s", got, raw)
				}
				switch rnd.IntN(8) {
				case 0:
					states = append(states, raw)
					oracles = append(oracles, oracle{cloneRules(o.rules), nil, o.provider})
				case 1:
					if len(states) > 0 {
						i := rnd.IntN(len(states))
						f.must(f.Apply(json.RawMessage(states[i])))
						o.rules, o.provider = cloneRules(oracles[i].rules), oracles[i].provider
						compare(t, f, o, models[o.provider])
					}
				}
			}
			f.must(second(f.Save(t.Context())))
			f.open()
			for p := range models {
				f.must(f.SetProvider(p))
				o.provider = p
				f.wantRules(Ignore, o.list(Ignore)...)
				f.wantRules(Allow, o.list(Allow)...)
			}
		})
	}
}

// step does one random thing to both.
func step(t *testing.T, rnd *rand.Rand, f *fixture, o *oracle, models map[string][]string) {
	t.Helper()
	pick := func(s []string) string { return s[rnd.IntN(len(s))] }
	list := lists[rnd.IntN(2)]
	pattern := pick([]string{"", "*"}) + pick([]string{"a", "b", "ab", "-x", "y", "openai/a", "b-x"}) + pick([]string{"", "*"})
	switch rnd.IntN(10) {
	case 0, 1, 2:
		_, err := f.Add(list, pattern)
		o.add(t, list, pattern, err == nil, models[o.provider])
	case 3:
		tool := ruleTool(list, true)
		r := f.call(tool, fmt.Sprintf(`{"pattern":%q}`, pattern))
		o.add(t, list, pattern, r.Success, models[o.provider])
	case 4, 5:
		rules := o.list(list)
		if len(rules) == 0 {
			if err := f.Remove(list, pattern); err == nil {
				t.Fatalf("a rule %q was removed from an empty list", pattern)
			}
			return
		}
		pattern = pick(rules)
		f.must(f.Remove(list, pattern))
		o.set(list, slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return r == pattern }))
	case 6:
		if rnd.IntN(3) == 0 {
			f.must(second(f.Clear(list)))
			o.set(list, nil)
		}
	case 7:
		o.provider = pick([]string{"openai", "gemini"})
		f.must(f.SetProvider(o.provider))
	case 8:
		f.must(second(f.Save(t.Context())))
		o.saved = cloneRules(o.rules)
	case 9:
		f.must(second(f.Discard()))
		o.rules = cloneRules(o.saved)
	}
}

// add adds to the oracle what the window took. What it refused must not be
// needed: with it nothing would be hidden or kept that is not already.
func (o *oracle) add(t *testing.T, list List, pattern string, taken bool, models []string) {
	t.Helper()
	with := append(slices.Clone(o.list(list)), pattern)
	if taken {
		if slices.Contains(o.list(list), pattern) {
			t.Fatalf("%q was added twice", pattern)
		}
		o.set(list, with)
		return
	}
	if !slices.Equal(o.hidden(models, with, nil), o.hidden(models, o.list(list), nil)) {
		t.Fatalf("%s %q was refused beside %q, but it is needed", list, pattern, o.list(list))
	}
}

func compare(t *testing.T, f *fixture, o *oracle, models []string) {
	t.Helper()
	f.wantRules(Ignore, o.list(Ignore)...)
	f.wantRules(Allow, o.list(Allow)...)
	var hidden []string
	for _, m := range f.Models() {
		if m.Status == engine.Ignored {
			hidden = append(hidden, m.ID)
		}
	}
	if want := o.hidden(models, o.list(Ignore), o.list(Allow)); !slices.Equal(hidden, want) {
		t.Errorf("hidden = %q, want %q", hidden, want)
	}
	if f.Dirty() != o.dirty() || f.Provider() != o.provider {
		t.Errorf("dirty %v on %s, want %v on %s", f.Dirty(), f.Provider(), o.dirty(), o.provider)
	}
	if t.Failed() {
		t.FailNow()
	}
}

func FuzzApply(f *testing.F) {
	for _, raw := range []string{
		`{"version":1,"provider":"openai","search":"x","rules":{"openai":{"ignore":["a*","b"],"whitelist":["c"]},"gemini":{}}}`,
		`{"version":1,"provider":"groq","search":"","rules":{"a":{"ignore":[{"bytes":"/w=="},",","\n"]}}}`,
		`{"version":1,"provider":"x","rules":null}`, `[]`, `{"version":1,"provider":"\ud800","search":"\u0000"}`,
		`{"version":1,"provider":"x","search":"","rules":{"a":{"ignore":[null]}}}`,
	} {
		f.Add([]byte(raw))
	}
	w := large(f, 20, 2)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := stateOf(t, w)
		if err := w.Apply(raw); err != nil {
			if got := stateOf(t, w); got != before {
				t.Fatalf("%v, but the state is %s, was %s", err, got, before)
			}
			return
		}
		applied := stateOf(t, w)
		if _, err := w.Context(); err != nil {
			t.Fatal(err)
		}
		if err := w.Apply(json.RawMessage(applied)); err != nil {
			t.Fatalf("its own state %s: %v", applied, err)
		}
		if got := stateOf(t, w); got != applied {
			t.Fatalf("Apply(State()) made %s of %s", got, applied)
		}
	})
}
