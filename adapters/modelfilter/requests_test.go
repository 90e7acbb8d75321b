package modelfilter

import (
	"slices"
	"strings"
	"testing"
)

// The example requests fit the rules and models: nothing is offered that a rule does
// already, that an allow rule excludes, or that no model is meant by.
func TestTheExampleRequestsFitTheRules(t *testing.T) {
	for env, want := range map[string][]string{
		"":                            {"hide every preview model of openai", "hide every mini model of openai", "only keep the newest GPT models of openai"},
		"IGNORE_MODELS_OPENAI=*mini*": {"which models of openai are hidden, and why?", "hide every preview model of openai", "only keep the newest GPT models of openai"},
		"IGNORE_MODELS_OPENAI=*mini*,*preview*,*embedding*\nWHITELIST_MODELS_OPENAI=gpt-4o-mini": {
			"which models of openai are hidden, and why?", "find redundant rules of openai", "only keep the newest GPT models of openai",
		},
		"IGNORE_MODELS_OPENAI=*": {"which models of openai are hidden, and why?", "show the rules of openai", "list the models of openai"},
	} {
		f := fresh(t, "OPENAI_API_KEY=x-long-enough\n"+env+"\n")
		now, _ := f.Snapshot()
		if got := now.(*Snapshot).ExampleRequests(); !slices.Equal(got, want) {
			t.Errorf("with %q the requests are\n%s\nwant\n%s", env, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
