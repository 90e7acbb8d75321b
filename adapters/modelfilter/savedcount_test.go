package modelfilter

import "testing"

func TestASaveSaysThatItRemovedRules(t *testing.T) {
	removed := RuleChange{Provider: "openai", Pattern: "a*"}
	added := RuleChange{Provider: "openai", Pattern: "b*", Added: true}
	for want, changes := range map[string][]RuleChange{
		"the removal of 2 rules of openai": {removed, removed},
		"2 rules of openai":                {removed, added},
		"the order of the rules":           nil,
	} {
		if got := savedCount(changes); got != want {
			t.Errorf("a save of %v is %q, want %q", changes, got, want)
		}
	}
}
