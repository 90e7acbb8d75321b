package assistanttest

import (
	"math"
	"strings"
	"unicode/utf8"

	"winnow/assistant/chatapi"
)

// Chat is a request for a completion, as an endpoint reads it.
type Chat struct{ chatapi.Request }

// charsPerToken is the ratio that winnow estimates with.
const charsPerToken = 3.5

// Tokens counts the tokens of the messages as winnow estimates them.
func (c Chat) Tokens() int {
	n := 0
	for _, m := range c.Messages {
		n += tokens(m.Content)
		for _, call := range m.ToolCalls {
			n += tokens(call.Function.Arguments)
		}
	}
	return n
}

func tokens(s string) int { return int(math.Ceil(float64(utf8.RuneCountInString(s)) / charsPerToken)) }

// Done is the event that ends a stream.
const Done = chatapi.Done

// The events of a stream, see chatapi.
var (
	Delta          = chatapi.Delta
	TextEvent      = chatapi.TextEvent
	ReasoningEvent = chatapi.ReasoningEvent
	CallEvent      = chatapi.CallEvent
	FinishEvent    = chatapi.FinishEvent
	UsageEvent     = chatapi.UsageEvent
)

// Stream is a whole stream: text word by word, and its end.
func Stream(text string) string {
	var all strings.Builder
	all.WriteString(Delta(`{"role":"assistant","content":""}`))
	for _, w := range chatapi.Words(text) {
		all.WriteString(TextEvent(w))
	}
	return all.String() + FinishEvent("stop") + UsageEvent(tokens(text), tokens(text)) + Done
}

// Completion is a complete answer, not streamed.
func Completion(text string) string {
	return chatapi.Encode(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text},
		}},
		"usage": map[string]any{"prompt_tokens": tokens(text), "completion_tokens": tokens(text)},
	})
}
