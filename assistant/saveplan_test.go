package assistant_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
)

func TestLinesOfChanges(t *testing.T) {
	for want, c := range map[safetext.Text]assistant.Change{
		"+ list a‹U+001B›":           {Title: "list", After: "a\x1b"},
		"- list a":                   {Title: "list", Before: "a"},
		"brightness: 40 → 80":        {Title: "brightness", Before: "40", After: "80"},
		"dimmed it‹U+001B›":          {Title: "brightness", Before: "40", After: "20", Sentence: safetext.Visible("dimmed it\x1b")},
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
		Files:   []assistant.FileDiff{{Path: "/x/.env\u202e", Creates: true, Lines: []assistant.FileLine{{Kind: "+", Text: safetext.Visible("K=\u202ea\x1b")}}}},
		Effects: []assistant.Effect{
			{Kind: assistant.EffectRemoves, Sentence: "p: 102 fewer", Items: items, Marked: 1},
			{Kind: assistant.EffectAsks, Sentence: "restart ‹U+202E›"},
		},
	}
	got := plan.Lines("anna")
	begin := []safetext.Text{"p: 102 fewer", "* m0", "  m1"}
	end := []safetext.Text{"  m99", "  and 2 more", "", "changed by bert:", "+ list a", "", "/x/.env‹U+202E› (new file)", "+ K=‹U+202E›a‹U+001B›", "", "! restart ‹U+202E›"}
	if !slices.Equal(got[:len(begin)], begin) || !slices.Equal(got[len(got)-len(end):], end) || len(got) != len(begin)+len(end)+97 {
		t.Errorf("the lines are %q", got)
	}
	plan.Files[0].Lines, plan.Effects = nil, nil
	if got, want := plan.Lines("bert"), []safetext.Text{"+ list a", "", "/x/.env‹U+202E› (new file)"}; !slices.Equal(got, want) {
		t.Errorf("without lines of a file: %q, want %q", got, want)
	}
	if got := (assistant.SavePlan{Files: []assistant.FileDiff{{Path: "/x"}}}).Lines(""); !slices.Equal(got, []safetext.Text{"nothing would change"}) {
		t.Errorf("without changes: %q", got)
	}
}

// What a user confirms hides nothing, whatever foreign names it contains.
func TestAPlanHidesNothing(t *testing.T) {
	plans := map[string]func(name string) assistant.SavePlan{
		"change": func(name string) assistant.SavePlan {
			return assistant.SavePlan{Changes: []assistant.Change{{Title: "p", Before: name, After: "b"}}}
		},
		"added": func(name string) assistant.SavePlan {
			return assistant.SavePlan{Changes: []assistant.Change{{Title: name, After: "b"}}}
		},
		"author": func(name string) assistant.SavePlan {
			return assistant.SavePlan{Changes: []assistant.Change{{Title: "p", Before: "a", By: assistant.Author{User: name}}}}
		},
		"item": func(name string) assistant.SavePlan {
			return assistant.SavePlan{Changes: []assistant.Change{{Title: "p"}}, Effects: []assistant.Effect{{Sentence: "hidden", Items: []string{name}}}}
		},
		"file": func(name string) assistant.SavePlan {
			return assistant.SavePlan{Changes: []assistant.Change{{Title: "p"}}, Files: []assistant.FileDiff{{Path: name, Lines: []assistant.FileLine{{Kind: "+", Text: "a"}}}}}
		},
	}
	for what, plan := range plans {
		t.Run(what, func(t *testing.T) {
			at.CheckConfirmation(t, func(name string) string { return string(safetext.Join(plan(name).DiscardLines("anna"), "\n")) })
		})
	}
}

// The arguments of a call are shown as they are sent, so that a number or a repeated name cannot hide another.
func TestArgumentsHideNothing(t *testing.T) {
	shown := map[safetext.Text]string{}
	all := []string{
		`{}`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":2}`, `{"a":12345678901234567890}`, `{"a":12345678901234567891}`, `{"a":1.0}`, `{"a":"<"}`, `{"a":"\u003c"}`, `{"a":"1"}`, `not JSON`,
	}
	for _, name := range at.ForeignNames(60, 1) {
		all = append(all, `{"a":"`+name+`"}`, `{"`+name+`":"a"}`)
	}
	for _, args := range all {
		text := assistant.ArgumentLines(json.RawMessage(args))
		if other, same := shown[text]; same {
			t.Errorf("%q and %q are both shown as %q", other, args, text)
		}
		if shown[text] = args; safetext.Clean(text) != text {
			t.Errorf("%q is shown as %q", args, text)
		}
	}
	if got, want := assistant.ArgumentLines(json.RawMessage(` {"a":[1,"b\n"]} `)), safetext.Text("{\n  \"a\": [\n    1,\n    \"b\\n\"\n  ]\n}"); got != want {
		t.Errorf("the arguments are shown as %q, want %q", got, want)
	}
}
