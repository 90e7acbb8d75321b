package transfer

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
)

func newStore(t testing.TB) history.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "data", "history.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// day is the first moment of the tests' clock.
var day = time.Date(2026, 3, 4, 5, 6, 7, 800900, time.FixedZone("", 3600))

// pair returns a complete pair with these texts.
func pair(session, user, answer string) *assistant.Pair {
	return &assistant.Pair{
		Session: session, Model: "openai/gpt-5.1", UserText: user, AssistantText: answer,
		Flag: true, State: assistant.PairComplete, CreatedAt: day,
	}
}

// full returns a pair that has something in every field.
func full() *assistant.Pair {
	return &assistant.Pair{
		ID: assistant.NewID(day), Session: "s1", Topic: "AI > Agents", Model: "openai/gpt-5.1",
		UserText: "block <all> \u202e previews\n", AssistantText: "Done [[tool:0]] well.\n",
		Reasoning: "because", Star: 2, Flag: true, State: assistant.PairError,
		ErrorCode: "net", ErrorMessage: "it broke", CreatedAt: day,
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
		Usage:    &llm.Usage{Prompt: 1, Completion: 2, Reasoning: 3, Cached: 4},
		Suggested: &assistant.Suggested{
			Values:  []assistant.SuggestedValue{{Label: "l", Value: "v"}},
			Actions: []assistant.SuggestedAction{{Label: "l", Action: "a", Handler: "client", Style: "primary"}},
		},
		Notice: "it ended", InvalidRounds: 3,
	}
}

func commit(t testing.TB, s history.Store, b *assistant.Batch) {
	t.Helper()
	if err := s.Commit(t.Context(), b); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func put(t testing.TB, s history.Store, pairs ...*assistant.Pair) {
	t.Helper()
	commit(t, s, &assistant.Batch{Put: pairs})
}

// seqs lists the uncut pairs of a session.
func seqs(t testing.TB, s history.Store, session string) (all []int64) {
	t.Helper()
	refs, err := s.Refs(t.Context(), session, 1)
	if err != nil {
		t.Fatalf("Refs: %v", err)
	}
	for _, r := range refs {
		all = append(all, r.Seq)
	}
	return all
}

func load(t testing.TB, s history.Store, want ...int64) []assistant.Pair {
	t.Helper()
	got, err := s.Load(t.Context(), want)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return got
}
