package filter

import (
	"slices"
	"strings"
	"testing"
)

func TestPatternMatch(t *testing.T) {
	for _, c := range []struct {
		p    Pattern
		s    string
		want bool
	}{
		{pat("ab"), "AB", true},
		{pat("ab"), "abc", false},
		{pat("ab", ""), "abc", true},
		{pat("", "bc"), "abc", true},
		{pat("", ""), "", true},
		{pat("ab", "ba"), "aba", false}, // the two parts must not share a letter
		{pat("ab", "ba"), "abba", true},
		{pat("a", "b", "b", "c"), "abc", false},
		{pat("a", "b", "b", "c"), "axbxbxc", true},
		{pat("a*b"), "a*b", true},
		{pat("a*b"), "axb", false},
		{pat("a?b"), "axb", false},
	} {
		if got := c.p.lower().match(strings.ToLower(c.s)); got != c.want {
			t.Errorf("%s matches %q: %v, want %v", c.p, c.s, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"AI", "AI > Agents", "Cooking", "Banking", "Work > Mail"}
	for asked, want := range map[string][]string{
		"agents":  {"AI > Agents"},
		"agenst":  {"AI > Agents"},
		"ia":      {"AI"}, // one swap
		"cooking": {"Cooking"},
		"ooking":  {"Cooking"},
		"mial":    {"Work > Mail"},
		"zzz":     nil,
		"":        nil,
	} {
		if got := nearestNames(asked, names); !slices.Equal(got, want) {
			t.Errorf("nearestNames(%q) = %q, want %q", asked, got, want)
		}
	}
}
