package assistant_test

import (
	"fmt"
	"slices"
	"testing"

	"winnow/assistant"
)

func TestLinesOfChanges(t *testing.T) {
	for want, c := range map[string]assistant.Change{
		"+ list a‹U+001B›":           {Title: "list", After: "a\x1b"},
		"- list a":                   {Title: "list", Before: "a"},
		"brightness: 40 → 80":        {Title: "brightness", Before: "40", After: "80"},
		"dimmed it‹U+001B›":          {Title: "brightness", Before: "40", After: "20", Sentence: "dimmed it\x1b"},
		"hid a‹U+202E›":              {Title: "p", After: "a\u202e", Sentence: "hid a‹U+202E›"},
		"TOKEN changed":              {Title: "TOKEN", Before: "••••", After: "••••"},
		"a variable‹U+000A› changed": {Title: "a variable\n"},
	} {
		if got := c.Line(); got != want {
			t.Errorf("the line of %+v is %q, want %q", c, got, want)
		}
	}
}

func TestLinesOfAPlan(t *testing.T) {
	items := make([]string, 102)
	for i := range items {
		items[i] = fmt.Sprint("m", i)
	}
	plan := assistant.SavePlan{
		Changes: []assistant.Change{{Title: "list", After: "a", By: assistant.Author{User: "bert"}}},
		Files:   []assistant.FileDiff{{Path: "/x/.env\u202e", Creates: true, Lines: []assistant.FileLine{{Kind: "+", Text: "K=‹U+202E›a\x1b"}}}},
		Effects: []assistant.Effect{
			{Kind: assistant.EffectRemoves, Sentence: "p: 102 fewer", Items: items, Marked: 1},
			{Kind: assistant.EffectAsks, Sentence: "restart ‹U+202E›"},
		},
	}
	got := plan.Lines("anna")
	begin := []string{"p: 102 fewer", "* m0", "  m1"}
	end := []string{"  m99", "  and 2 more", "", "changed by bert:", "+ list a", "", "/x/.env‹U+202E› (new file)", "+ K=‹U+202E›a‹U+001B›", "", "! restart ‹U+202E›"}
	if !slices.Equal(got[:len(begin)], begin) || !slices.Equal(got[len(got)-len(end):], end) || len(got) != len(begin)+len(end)+97 {
		t.Errorf("the lines are %q", got)
	}
	plan.Files[0].Lines, plan.Effects = nil, nil
	if got, want := plan.Lines("bert"), []string{"+ list a", "", "/x/.env‹U+202E› (new file)"}; !slices.Equal(got, want) {
		t.Errorf("without lines of a file: %q, want %q", got, want)
	}
	if got := (assistant.SavePlan{Files: []assistant.FileDiff{{Path: "/x"}}}).Lines(""); !slices.Equal(got, []string{"nothing would change"}) {
		t.Errorf("without changes: %q", got)
	}
}
