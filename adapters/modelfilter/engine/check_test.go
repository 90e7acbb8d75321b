package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCheckRefuses(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"gpt-4*", "*preview", "*/o3", "openai/o4"}, []string{"gpt*"})
	for _, tc := range []struct {
		pattern string
		reason  Reason
		text    string
	}{
		{"", Empty, "the pattern is empty"},
		{" \t ", Empty, "the pattern is empty"},
		{" gpt-4* ", Duplicate, `pattern "gpt-4*" is already in the ignore list`},
		{"a,b", Unwritable, `pattern "a,b" cannot be saved: it contains a comma`},
		{"a\nb", Unwritable, `pattern "a\nb" cannot be saved: it contains a line break`},
		{"a\rb", Unwritable, `pattern "a\rb" cannot be saved: it contains a line break`},
		{"a\x1bb", Unwritable, `pattern "a\x1bb" cannot be saved: it contains a control character`},
		{"a\u0085b", Unwritable, `pattern "a\u0085b" cannot be saved: it contains a control character`},
		{"a${B}", Unwritable, `pattern "a${B}" cannot be saved: it contains ${`},
		{"a\xff", Unwritable, `pattern "a\xff" cannot be saved: it contains a byte that is not UTF-8`},
		{"gpt-4o", Covered, `pattern "gpt-4o" is already covered by the ignore rule "gpt-4*"`},
		{"gpt-4**", Covered, `pattern "gpt-4**" is already covered by the ignore rule "gpt-4*"`},
		{"o1-preview", Covered, `pattern "o1-preview" is already covered by the ignore rule "*preview"`},
		{"[z-a]", Covered, `pattern "[z-a]" is already covered by the ignore rules "gpt-4*", "*preview", "*/o3", "openai/o4"`}, // it matches nothing
		{"openai/o3", Covered, `pattern "openai/o3" is already covered by the ignore rule "*/o3"`},
		{"gpt-4-preview", Covered, `pattern "gpt-4-preview" is already covered by the ignore rules "gpt-4*", "*preview"`},
	} {
		_, err := e.Check(Ignore, tc.pattern)
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Reason != tc.reason || err.Error() != tc.text {
			t.Errorf("Check(%q) = %v, want %s", tc.pattern, err, tc.text)
		}
	}
	var refusal *Refusal
	if _, err := e.Check(Ignore, "my-preview"); !errors.As(err, &refusal) || !slices.Equal(refusal.By, []string{"*preview"}) {
		t.Errorf("refusal %+v, want by *preview", refusal)
	}
}

func TestCheckAccepts(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"gpt-4o", "gpt-4*", "*mini", "gpt-4", "gpt-5"}, []string{"gpt-9*"})
	for _, tc := range []struct {
		list      List
		pattern   string
		redundant []string
	}{
		{Ignore, " gpt-3* ", nil},
		{Ignore, "gpt*", []string{"gpt-4o", "gpt-4*", "gpt-4", "gpt-5"}},
		{Ignore, "*", []string{"gpt-4o", "gpt-4*", "*mini", "gpt-4", "gpt-5"}},
		{Ignore, "*/*", nil},                             // not the id "gpt-4o"
		{Ignore, "openai/*", nil},                        // nor does this one
		{Ignore, "gpt-[45]", []string{"gpt-4", "gpt-5"}}, // two together cover it: it may take their place
		{Ignore, "gpt-9x", nil},                          // covered in the other list only
		{Ignore, "${", nil},
	} {
		v, err := e.Check(tc.list, tc.pattern)
		if tc.pattern == "${" {
			if err == nil {
				t.Errorf("Check(%q) accepts it", tc.pattern)
			}
			continue
		}
		if err != nil || v.Pattern != strings.TrimSpace(tc.pattern) || !slices.Equal(v.Redundant, tc.redundant) || v.Undecided != nil {
			t.Errorf("Check(%q) = %+v, %v; want redundant %q", tc.pattern, v, err, tc.redundant)
		}
	}
}

// Whatever is refused as covered, or called redundant, makes no difference to
// any id of the provider; a pattern that passes makes one to some id.
func TestCheckNeverRefusesANeededRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var ids []string
	for _, name := range allWords("abo/", 5) {
		ids = append(ids, "o/"+name, "O/"+name)
		if !strings.Contains(name, "/") {
			ids = append(ids, name) // an id without a slash is the provider's too
		}
	}
	pieces := []string{"a", "b", "o", "/", "*", "*", "*", "?", "[ab]", "[!a]"}
	draw := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(4) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	covered := 0
	for range 300 {
		e := New("o", nil)
		e.Set([]string{draw(), draw(), draw()}, nil)
		pattern := draw()
		all := New("o", ids)
		all.Set(e.Patterns(Ignore), nil)
		v, err := e.Check(Ignore, pattern)
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal):
			covered++
			if c := all.Preview(Ignore, pattern); len(c.Hidden) != 0 {
				t.Fatalf("%v, but it would hide %q", err, c.Hidden[:1])
			}
		case len(v.Undecided) > 0:
			t.Fatalf("Check(%q) with %q undecided", pattern, e.Patterns(Ignore))
		default:
			for _, r := range e.Patterns(Ignore) {
				one := New("o", ids)
				one.Set([]string{pattern}, nil)
				needless := len(one.Preview(Ignore, r).Hidden) == 0
				if said := slices.Contains(v.Redundant, r); said != needless {
					t.Fatalf("with %q: %q redundant = %v, short ids say %v", pattern, r, said, needless)
				}
				one.Set([]string{r}, nil)
				if len(one.Preview(Ignore, pattern).Hidden) == 0 {
					t.Fatalf("Check(%q) passes, but %q covers it on all short ids", pattern, r)
				}
			}
		}
	}
	if covered < 50 {
		t.Fatalf("only %d refused: the test says little", covered)
	}
}

func allWords(alphabet string, n int) []string {
	out, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, r := range alphabet {
				next = append(next, w+string(r))
			}
		}
		out, last = append(out, next...), next
	}
	return out
}

func TestCheckSaysUndecided(t *testing.T) {
	const hard = "*[!c]????[!e][!b]??[!e][!e][!b]?[!b][!b][!b]??[!e][!e]?[!e][!e]?[!b][!b][!b][!e]??[!e]??"
	e := New("openai", nil)
	e.Set([]string{"x", hard, hard + "?", "?" + hard, "??" + hard, "???" + hard, "*?" + hard}, nil)
	v, err := e.Check(Ignore, strings.Repeat("?", 65))
	if err != nil || !slices.Equal(v.Undecided, e.Patterns(Ignore)[1:]) {
		t.Errorf("Check = %+v, %v; want undecided", v, err)
	}
	j, fresh := &coverageSearch{engine: e}, e.newRule(strings.Repeat("?", 65))
	for range 2 * maxUndecided {
		for _, r := range e.lists[Ignore].rules[1:] {
			if got := j.covers(r, fresh); got != maybe {
				t.Fatalf("covers = %v, want maybe", got)
			}
		}
	}
	if j.undecided != maxUndecided {
		t.Errorf("%d searches were lost, want %d", j.undecided, maxUndecided)
	}
}

func TestLint(t *testing.T) {
	e := New("openai", someModels)
	e.Set([]string{"gpt-4*", "gpt-4o", "nothing", "gpt-3*", "gpt-4**"}, []string{"gpt-3.5*", "openai/gpt-3.5*", "*mini"})
	var got []string
	for _, f := range e.Lint() {
		got = append(got, fmt.Sprintf("%s %s %d %s by %s %s", f.Kind, f.List, f.Index, f.Pattern, f.By, f.ByList))
	}
	want := []string{
		"shadowed ignore 1 gpt-4o by gpt-4* ignore",
		"redundant ignore 1 gpt-4o by gpt-4* ignore",
		"dead ignore 2 nothing by  ignore",
		"shadowed ignore 3 gpt-3* by gpt-3.5* allow",
		"shadowed ignore 4 gpt-4** by gpt-4* ignore",
		"redundant ignore 4 gpt-4** by gpt-4* ignore",
		"shadowed allow 1 openai/gpt-3.5* by gpt-3.5* allow",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Lint() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Removing all redundant rules at once changes no status.
func TestLintRedundantMayGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	removed := 0
	for range 300 {
		e := New("openai", randomModels(rng, 60))
		e.Set(randomPatterns(rng, 8), randomPatterns(rng, 5))
		hidden := e.Hidden()
		findings := e.Lint()
		slices.Reverse(findings)
		for _, f := range findings {
			if f.Kind == Redundant {
				removed++
				e.RemoveAt(f.List, f.Index)
			}
		}
		if got := e.Hidden(); !slices.Equal(got, hidden) {
			t.Fatalf("hidden %q became %q", hidden, got)
		}
		for _, f := range e.Lint() {
			if f.Kind == Redundant {
				t.Fatalf("%+v is left", f)
			}
		}
	}
	if removed < 100 {
		t.Fatalf("only %d removed: the test says little", removed)
	}
}
