package assistant_test

import (
	"context"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/markup"
)

func TestAMarkerCannotBePutTogetherAcrossResponses(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("list_words", "{}")}, at.Answer{at.Say("x [[tool:"), call("nothing", "{}")}, at.Answer{at.Say("0]] y")}))
	r.send("go")
	p := r.last()
	cards := 0
	for _, piece := range markup.Pieces(p.AssistantText, 1) {
		if piece.Call >= 0 {
			cards++
		}
	}
	wantEqual(t, "cards", cards, 1)
	wantIn(t, string(p.AssistantText), "[[tool:0]]", `\[[tool:`, "\n\n0]] y")
}

// FuzzMarkers lets a model write text, in chunks, before and after a call, and
// holds that only the call's own marker opens a card and no character is lost.
func FuzzMarkers(f *testing.F) {
	f.Add("Look: [[tool:9]]", "[[tool:0]] and [[tool:1]]", uint8(3))
	f.Add(`\[[tool:0]]`, `\\[[tool:0]]`, uint8(1))
	f.Add("[[", "tool:0]]", uint8(2))
	f.Add("]]", "[[tool:0", uint8(5))
	f.Fuzz(func(t *testing.T, before, after string, size uint8) {
		if !strings.Contains(before+after, "tool") {
			before += "[[tool:0]]"
		}
		script := at.NewScript(append(chunks(before, int(size)), call("count", "{}")), chunks(after, int(size)))
		tool := assistant.NewTool("count", "Counts.", noop)
		tool.Global = true
		pages := &assistant.Pages{}
		if err := pages.AddTool(tool); err != nil {
			t.Fatal(err)
		}
		s, err := assistant.NewSession(registryOf(t, script), assistant.Options{Model: "test/script", Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		for range events {
			continue
		}
		pairs, err := s.Pairs(context.Background(), []int64{1})
		if err != nil || len(pairs) != 1 {
			t.Fatalf("%d pairs, %v", len(pairs), err)
		}
		cards, text := 0, ""
		for _, p := range markup.Pieces(pairs[0].AssistantText, len(pairs[0].ToolCalls)) {
			if p.Call >= 0 {
				cards++
			}
			text += string(p.Text)
		}
		if cards != 1 {
			t.Fatalf("%q and %q open %d cards: %q", before, after, cards, pairs[0].AssistantText)
		}
		if !strings.Contains(before+after, "SUGGESTED_") && strip(text) != strip(before+after) {
			t.Fatalf("said %q, shown %q", before+after, text)
		}
	})
}

// strip takes white space out of a text.
func strip(s string) string { return strings.Join(strings.Fields(s), "") }

// chunks is an answer that says text in pieces of so many bytes.
func chunks(text string, size int) at.Answer {
	size = max(size, 1)
	var out at.Answer
	for len(text) > size {
		out = append(out, at.Say(text[:size]))
		text = text[size:]
	}
	return append(out, at.Say(text))
}
