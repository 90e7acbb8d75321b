package assistanttest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Chat is a request for a completion, as an endpoint reads it.
type Chat struct {
	Model    string
	Messages []ChatMessage
}

// ChatMessage is a message of a Chat.
type ChatMessage struct {
	Role       string
	Content    string // of a list of parts, their texts
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// UnmarshalJSON reads a message whose content is a text, or a list of parts.
func (m *ChatMessage) UnmarshalJSON(raw []byte) error {
	type fields ChatMessage
	form := struct {
		*fields
		Content json.RawMessage
	}{fields: (*fields)(m)}
	var parts []struct{ Text string }
	if err := json.Unmarshal(raw, &form); err != nil || form.Content == nil {
		return err
	}
	if json.Unmarshal(form.Content, &parts) != nil {
		return json.Unmarshal(form.Content, &m.Content)
	}
	for _, p := range parts {
		m.Content += p.Text
	}
	return nil
}

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
const Done = "data: [DONE]\n\n"

// Delta is an event with this delta, an object in JSON.
func Delta(delta string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"test-model","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

// TextEvent is a piece of text.
func TextEvent(text string) string { return Delta(`{"content":` + encode(text) + `}`) }

// ReasoningEvent is a piece of reasoning, in the field of this name.
func ReasoningEvent(field, text string) string {
	return Delta(`{` + encode(field) + `:` + encode(text) + `}`)
}

// CallEvent is a piece of a tool call. Empty ids and names are left out.
func CallEvent(index int, id, name, arguments string) string {
	function := map[string]any{"arguments": arguments}
	if name != "" {
		function["name"] = name
	}
	call := map[string]any{"index": index, "type": "function", "function": function}
	if id != "" {
		call["id"] = id
	}
	return Delta(encode(map[string]any{"tool_calls": []any{call}}))
}

// FinishEvent ends the choice.
func FinishEvent(reason string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":` + encode(reason) + `}]}` + "\n\n"
}

// UsageEvent reports tokens, with empty choices.
func UsageEvent(prompt, completion int) string {
	return fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n",
		prompt, completion, prompt+completion)
}

// Stream is a whole stream: text word by word, and its end.
func Stream(text string) string {
	var all strings.Builder
	all.WriteString(Delta(`{"role":"assistant","content":""}`))
	for _, w := range strings.SplitAfter(text, " ") {
		all.WriteString(TextEvent(w))
	}
	return all.String() + FinishEvent("stop") + UsageEvent(tokens(text), tokens(text)) + Done
}

// Completion is a whole answer that is not streamed.
func Completion(text string) string {
	return encode(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text},
		}},
		"usage": map[string]any{"prompt_tokens": tokens(text), "completion_tokens": tokens(text)},
	})
}

// encode writes v as JSON; a value that has no JSON is a mistake of the test.
func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
