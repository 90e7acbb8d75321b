package openai

import (
	"strings"
	"testing"

	"winnow/assistant"
)

func TestSamplingIsEncodedWhenItIsSet(t *testing.T) {
	c, err := New(Options{Name: "x", BaseURL: "http://127.0.0.1:1", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	cold, seed := 0.0, int64(7)
	req := assistant.Request{Model: "m", Messages: []assistant.WireMessage{{Role: assistant.RoleUser, Content: "hi"}}}
	plain, err := c.Encode(req)
	if err != nil || strings.Contains(string(plain), "temperature") || strings.Contains(string(plain), "seed") {
		t.Errorf("without sampling: %s, %v", plain, err)
	}
	req.Sampling = assistant.Sampling{Temperature: &cold, MaxTokens: 9, ReasoningEffort: "low", Seed: &seed}
	raw, err := c.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"temperature":0`, `"max_completion_tokens":9`, `"reasoning_effort":"low"`, `"seed":7`} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("%s is not in %s", part, raw)
		}
	}
}
