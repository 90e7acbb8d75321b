package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/llm"
)

func TestWhatComesOutBesideTheScreenIsShown(t *testing.T) {
	long := strings.Repeat("word ", 1200)
	d := startProgram(t, setup{
		pairs: []assistant.Pair{told("one", long), told("two", long), told("three", long)},
		known: []llm.ModelInfo{{ID: "test/script", Context: 64_000, Known: true}, {ID: "test/small", Context: 4000, Known: true}},
	})
	d.Wait("3/3")
	if err := d.session.SetModel("test/small"); err != nil {
		t.Fatal(err)
	}
	d.Message(Noticed{Text: "using test/small"})
	d.says("using test/small")
	d.Until(func(frame string) bool {
		head, _, _ := strings.Cut(frame, "\n")
		return strings.Contains(head, "◇ test/small") && !strings.Contains(head, "3/3") && strings.Contains(head, "/3")
	})
	d.Message(Noticed{Text: "openai does not list\x1b[31m its models", Bad: true})
	d.says("openai does not list its models")
	if _, bad, _ := strings.Cut(d.Styled(), "does not list"); strings.Contains(bad, "\x1b[31m") {
		t.Errorf("the footer carries raw text: %q", bad)
	}
	d.Type("x")
	d.box("x")
	d.Message(Noticed{}) // only the model: the footer is left alone
	d.box("x")
}
