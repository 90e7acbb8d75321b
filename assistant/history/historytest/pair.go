package historytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"slices"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/history"
	"winnow/assistant/llm"
)

// FullPair returns a pair with a value in every field.
func FullPair() *assistant.Pair {
	return &assistant.Pair{
		ID: assistant.NewID(now), Session: "s1", Author: "anna", Topic: "AI > Agents", Model: "openai/gpt-5.1",
		UserText: "block <all> 👩\u200d🚀 previews\n", AssistantText: "Done [[tool:0]] well.\n",
		Reasoning: "because", Star: 2, Flag: true, State: assistant.PairError,
		ErrorCode: "net", ErrorMessage: "it broke", CreatedAt: now,
		Attachments: []assistant.Attachment{{Name: "a.txt", Type: "text/plain", Size: 12}},
		ToolCalls: []assistant.ToolCall{
			{ID: "c1", Name: "add", Arguments: json.RawMessage(`{"n":12345678901234567890}`), Response: 0, Took: 5, Result: &assistant.ToolResult{
				Success: true, Message: "ok", Data: json.RawMessage(`{"big":9007199254740993}`), ErrorCode: "x", Hint: "try this",
				Payload: &assistant.Payload{ID: "p9", Type: "t", Data: json.RawMessage(`{}`)},
			}},
			{ID: "c2", Name: "none", Arguments: json.RawMessage(`{}`), Response: 1, Silent: true},
		},
		Payloads: []assistant.Payload{{ID: "p1", Type: "rule_proposal", Data: json.RawMessage(`{"a":[1]}`), Summary: "sum", Decision: "accepted"}},
		Page:     "rules", ReasoningFor: 3 * time.Second, Took: 4 * time.Second,
		Thoughts: []assistant.Thought{{Took: 1}, {From: 2, Place: 3, Took: 2 * time.Second}},
		Usage:    &llm.Usage{Prompt: 1, Completion: 2, Reasoning: 3, Cached: 4}, Price: new(0.004),
		Suggested: &assistant.Suggested{
			Values:  []assistant.SuggestedValue{{Label: "l", Value: "v"}},
			Actions: []assistant.SuggestedAction{{Label: "l", Action: "a", Handler: "client", Style: "primary"}},
		},
		Notice: "it ended", InvalidRounds: 3, Variants: []assistant.Variant{fullVariant()},
		Chosen: 1, AnswerID: "second", AnsweredAt: now.Add(time.Minute), AnswerTo: 7,
	}
}

// fullVariant returns an answer with a value in every field.
func fullVariant() assistant.Variant {
	return assistant.Variant{
		ID: "first", At: now, Model: "anthropic/opus", AssistantText: "Well [[tool:0]] done.", Reasoning: "since", State: assistant.PairError,
		ErrorCode: "cancelled", ErrorMessage: "you cancelled it",
		ToolCalls: []assistant.ToolCall{
			{ID: "c0", Name: "odd", Arguments: json.RawMessage(`{"n":1e400}`), Took: 5, Result: &assistant.ToolResult{Message: "no", Data: json.RawMessage(`{"big":9007199254740993}`)}},
			{ID: "c1", Name: "none", Arguments: json.RawMessage(`{}`)},
		},
		Payloads: []assistant.Payload{{ID: "p0", Type: "rule_proposal", Data: json.RawMessage(`{"b":2}`), Summary: "other"}},
		Page:     "models", ReasoningFor: time.Second, Took: 2 * time.Second, Thoughts: []assistant.Thought{{From: 1, Place: 2, Took: 3}},
		Usage: &llm.Usage{Prompt: 5}, Price: new(0.0), Suggested: &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "a", Value: "b"}}},
		Notice: "it was cut", InvalidRounds: 1,
	}
}

// Picture returns a square picture whose sides are side pixels long.
func Picture(t testing.TB, name string, side int) assistant.Attachment {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side)))
	f, refused := attachment.NewPicture(name, b.Bytes())
	must(t, err, refused)
	return f
}

func picturesAreStoredOnce(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	a, b := Picture(t, "a.png", 8), Picture(t, "b.png", 1025)
	one, two := pair("x", "@a.png @b.png", ""), pair("x", "@a.png", "")
	one.Attachments, two.Attachments = []assistant.Attachment{a, b, {Name: "c.txt", Type: "text/plain", Size: 3}}, []assistant.Attachment{a}
	put(t, s, one, two)
	if one.Attachments[0].Data == nil {
		t.Error("Commit has cleared the data of its argument")
	}
	has := func(why string, f assistant.Attachment, want bool) {
		t.Helper()
		switch data, err := s.Picture(ctx, f.Hash); {
		case want && (err != nil || !bytes.Equal(data, f.Data)):
			t.Errorf("%s: %s has %d bytes, %v", why, f.Name, len(data), err)
		case !want && !errors.Is(err, history.ErrPicture):
			t.Errorf("%s: %s is still stored: %v", why, f.Name, err)
		}
	}
	has("stored", a, true)
	has("stored", b, true)
	got, err := s.Load(ctx, []int64{one.Seq, two.Seq})
	must(t, err)
	if len(got) != 2 || len(got[0].Attachments) != 3 || got[0].Attachments[1].Data != nil || got[0].Attachments[1].Hash != b.Hash || got[0].Notice != "" {
		t.Fatalf("Load = %+v", got)
	}
	refs, err := s.Refs(ctx, "x", 3.5)
	must(t, err)
	// The costs are the tokens of the words plus 255 tokens for a picture of one tile and
	// 765 for one of four.
	if len(refs) != 2 || refs[0].Cost != 4+255+765 || refs[0].Cost != assistant.PairCost(&got[0], 3.5) || refs[1].Cost != 2+255 {
		t.Errorf("Refs = %+v; the costs must include the tokens of pictures", refs)
	}
	if seqs := line(t, s, "i", history.Env{}); !slices.Equal(seqs, []int64{one.Seq, two.Seq}) {
		t.Errorf("the filter i selects %v", seqs)
	}
	again := got[0] // as when a user asks again: the new pair has the same pictures, without their bytes
	again.Seq, again.ID = 0, ""
	must(t, s.Commit(ctx, &assistant.Batch{Delete: []int64{one.Seq}, Put: []*assistant.Pair{&again}}))
	has("replaced", b, true)
	must(t, s.Commit(ctx, &assistant.Batch{Cut: &assistant.Cut{Name: "c", Sessions: []string{"x"}}}))
	has("rolled back", b, true)
	must(t, s.Commit(ctx, &assistant.Batch{Uncut: "c", Delete: []int64{again.Seq}}))
	has("one of two pairs is deleted", a, true)
	has("its only pair is deleted", b, false)
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %+v, %v", r, err)
	}
	must(t, s.Commit(ctx, &assistant.Batch{Delete: []int64{two.Seq}}))
	has("both are deleted", a, false)
	wrong := pair("x", "@a.png", "")
	a.Data = b.Data
	wrong.Attachments = []assistant.Attachment{a}
	if err := s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{wrong}}); err == nil {
		t.Error("a picture was stored under the hash of another picture")
	}
}

func aQueuedMessageHasItsPictures(t *testing.T, s history.Store) {
	t.Helper()
	f := Picture(t, "a.png", 8)
	must(t, s.SaveQueued(t.Context(), "x", assistant.Prompt{Text: "@a.png", Attachments: []assistant.Attachment{f}}))
	if p, _, err := s.Queued(t.Context(), "x"); err != nil || len(p.Attachments) != 1 || !bytes.Equal(p.Attachments[0].Data, f.Data) {
		t.Errorf("Queued returns the attachments %+v, %v", p.Attachments, err)
	}
}
