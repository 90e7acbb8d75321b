package postgres

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant/filter"
)

func TestWhatAnExpressionRequires(t *testing.T) {
	for source, want := range map[string][][]string{
		"kube.*es":          {{"kube", "e"}}, // ſ matches s, and is its own lower case
		"Kubernetes":        {{"kubernete"}},
		"gröSSE|x":          {{"grö", "e"}, {"x"}},
		"(?:ab)+c":          {{"ab", "c"}},
		"ab?c":              {{"a", "c"}},
		"(a(b)c)d":          {{"abcd"}},
		"^hello\\b\\.$":     {{"hello."}},
		"x{2,3}y{0,2}z":     {{"x", "z"}},
		"[ab]cd":            {{"cd"}},
		"(?-i:S)T":          {{"st"}}, // no ſ
		"a\\x00b\uffffc":    {{"a", "b", "c"}},
		"":                  nil,
		"(":                 nil,
		"a\u212ab":          {{"akb"}}, // the sign for kelvin is k in lower case
		"(?s)one.two":       {{"one", "two"}},
		"\\Qa.b\\E":         {{"a.b"}},
		"foo|foobar|foobaz": {{"foo"}},
		"(kube.*x|helm)":    {{"kube", "x"}, {"helm"}},
		"kube|.":            nil,
		"k(ube|x)":          {{"k"}},
	} {
		var got [][]string
		if re, err := filter.CompileRegexp(source); err == nil {
			got = required(re.String())
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s requires %q, want %q", source, got, want)
		}
	}
}

// A text that an expression matches has what the expression requires, as the column
// for search stores it.
func TestMatchesHaveWhatIsRequired(t *testing.T) {
	pieces := []string{"a", "B", "s", "ſ", "S", "k", "K", "\u212a", "İ", "i", "ß", "ẞ", "Σ", "ς", "ǅ", "\x00", "\xff", "\ufffd", "\uffff", "%", " "}
	operators := []string{"", "", "", "+", "*", "?", "{2}", "{0,1}", "|", ".", ".*", "(?-i)", "^", "\\b"}
	rapid.Check(t, func(t *rapid.T) {
		var source, text strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "terms") {
			piece := rapid.SampledFrom(pieces).Draw(t, "piece")
			source.WriteString(piece + rapid.SampledFrom(operators).Draw(t, "operator"))
		}
		for range rapid.IntRange(0, 12).Draw(t, "letters") {
			text.WriteString(rapid.SampledFrom(pieces).Draw(t, "letter"))
		}
		re, err := filter.CompileRegexp(source.String())
		if err != nil || !re.MatchString(text.String()) {
			t.Skip("no match")
		}
		stored, alternatives := storable(strings.ToLower(text.String())), required(re.String())
		has := func(parts []string) bool { return filter.ContainsInOrder(stored, parts) }
		if alternatives != nil && !slices.ContainsFunc(alternatives, has) {
			t.Fatalf("%q matches %q, but %q lacks %q", source.String(), text.String(), stored, alternatives)
		}
	})
}
