package assistant_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// What another program or an import stored is shown without what a terminal obeys or a
// reader cannot see, and is sent as it is shown.
func TestTextsOfTheStoreAreSafe(t *testing.T) {
	const foreign = "a\x1b]52;c;eA==\x07\x1b[2Jb\rc\u202ed\u200be\U000e0041f\x9bg"
	texts := assistant.Variant{
		AssistantText: foreign, Reasoning: foreign, Notice: foreign, ErrorMessage: foreign, Thoughts: []assistant.Thought{{From: 9}},
		Suggested: &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: foreign, Value: foreign}}, Actions: []assistant.SuggestedAction{{Label: foreign}}},
	}
	p := assistant.Pair{
		ID: "x", Session: "s1", State: assistant.PairComplete, Flag: true, UserText: foreign, AssistantText: texts.AssistantText, Reasoning: texts.Reasoning,
		Notice: texts.Notice, ErrorMessage: texts.ErrorMessage, Suggested: texts.Suggested, Variants: []assistant.Variant{texts}, Attachments: []assistant.Attachment{{Name: foreign}},
		Topic: foreign, Author: foreign, Model: foreign, ToolCalls: []assistant.ToolCall{{ID: "c", Name: foreign, Arguments: json.RawMessage("{}")}},
	}
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	raw, err := json.Marshal(p)
	r.must(err)
	var decoded assistant.Pair
	r.must(json.Unmarshal(raw, &decoded))
	r.must(r.store.Commit(context.Background(), &assistant.Batch{Put: []*assistant.Pair{&decoded}}))
	r.open()
	shown, err := r.session.Pairs(t.Context(), []int64{decoded.Seq})
	r.must(err)
	text, err := json.Marshal(shown)
	r.must(err)
	wantSafe(t, "shown", string(text))
	end[assistant.Complete](t, r.send("next"))
	for _, m := range r.script.Requests()[0].Messages {
		wantSafe(t, "sent", m.Content)
	}
	wantIn(t, r.script.Requests()[0].Messages[1].Content, string(shown[0].UserText))
	stored, err := r.store.Load(t.Context(), []int64{decoded.Seq})
	r.must(err)
	wantEqual(t, "stored name", stored[0].Attachments[0].Name, strings.ToValidUTF8(foreign, "\ufffd"))
}

// wantSafe wants a text, or JSON, without hidden characters.
func wantSafe(t *testing.T, what, text string) {
	t.Helper()
	hidden := func(r rune) bool { return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Cf, r) }
	if i := strings.IndexFunc(text, hidden); i >= 0 || strings.Contains(text, `\u00`) {
		t.Errorf("%s: %q", what, text)
	}
}
