package savetext

import (
	"fmt"
	"slices"
	"testing"

	"winnow/assistant"
)

func TestEffectsAreCounted(t *testing.T) {
	for want, e := range map[string]assistant.ModelEffect{
		"p: no models are known":                         {Provider: "p"},
		"p: no model changes":                            {Provider: "p", Known: true},
		"p: 1 more will be shown, 2 more will be hidden": {Provider: "p", Known: true, Shown: []string{"a"}, Hidden: []string{"b", "c"}},
	} {
		if got := Effect(e); got != want {
			t.Errorf("Effect(%+v) = %q, want %q", e, got, want)
		}
	}
}

func TestLinesOfAPlan(t *testing.T) {
	hidden := make([]string, maxModels+2)
	for i := range hidden {
		hidden[i] = fmt.Sprint("p/m", i)
	}
	got := Lines(assistant.SavePlan{
		Path: "/x/.env\u202e", Creates: true, Lines: []assistant.FileLine{{Kind: "+", Text: "K=a\x1b"}},
		Effects: []assistant.ModelEffect{{Provider: "p", Known: true, Shown: []string{"p/a\x1b"}, Hidden: hidden}},
	}, "")
	want := []string{"/x/.env‹U+202E› (new file)", "+K=a‹U+001B›", "", "p: 1 more will be shown, 102 more will be hidden", "+ a‹U+001B›", "- m0"}
	if !slices.Equal(got[:len(want)], want) || got[len(got)-1] != "- and 2 more" || len(got) != len(want)+maxModels {
		t.Errorf("%q, want %q … and 2 more", got, want)
	}
	one := EffectLines(assistant.ModelEffect{Provider: "p\x1b", Known: true, Hidden: hidden[:maxModels+1]})
	if one[0] != "p‹U+001B›: 101 more will be hidden" || one[len(one)-1] != "- and 1 more" {
		t.Errorf("with one model too many the lines are %q", one)
	}
}
