// Package chatapi is the server side of the OpenAI chat completions API: it reads requests
// and writes the events of a streamed answer. The offline model and the endpoint for tests
// are built on it.
//
// Events have a fixed id and time, so that equal answers consist of equal bytes. All
// functions are pure.
package chatapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is a request for a completion.
type Request struct {
	Model    string
	Messages []Message
	Tools    []struct{ Function struct{ Name string } }
}

// Message is a message of a Request.
type Message struct {
	Role       string
	Content    string // the text, or the texts of a list of parts
	Pictures   bool   `json:"-"`            // Content was a list with pictures
	ToolCallID string `json:"tool_call_id"` // only for a tool message: the id of the call it answers
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// UnmarshalJSON reads a message whose content is a string or a list of parts.
func (m *Message) UnmarshalJSON(raw []byte) error {
	type fields Message
	form := struct {
		*fields
		Content json.RawMessage
	}{fields: (*fields)(m)}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &form); err != nil || form.Content == nil {
		return err
	}
	if json.Unmarshal(form.Content, &parts) != nil {
		return json.Unmarshal(form.Content, &m.Content)
	}
	for _, p := range parts {
		m.Content += p.Text
		m.Pictures = m.Pictures || p.Type == "image_url"
	}
	return nil
}

// Problem is the reason why a request is refused.
type Problem struct {
	Status  int    // HTTP status
	Code    string // for programs
	Param   string // the invalid field; "" if the problem is not in a single field
	Message string
}

// JSON returns the body of the error response.
func (p *Problem) JSON() string {
	return Encode(map[string]any{"error": map[string]any{"message": p.Message, "type": "invalid_request_error", "param": p.Param, "code": p.Code}})
}

// Read reads the body of a request. refused is nil if the request is valid.
func Read(body []byte) (r Request, refused *Problem) {
	refuse := func(code, param, message string) (Request, *Problem) {
		return r, &Problem{http.StatusBadRequest, code, param, message}
	}
	err := json.Unmarshal(body, &r)
	switch {
	case !json.Valid(body):
		return refuse("invalid_json", "", "the request is not JSON")
	case err != nil:
		return refuse("invalid_request", "", err.Error())
	case len(r.Messages) == 0:
		return refuse("invalid_request", "messages", "messages must not be empty")
	}
	for i, m := range r.Messages {
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return refuse("invalid_request", "messages", fmt.Sprintf("messages[%d]: unknown role", i))
		}
	}
	return r, nil
}

// Done is the event that ends a stream.
const Done = "data: [DONE]\n\n"

// event returns an event. choices is the content of the event's array of choices; more
// contains further fields, each preceded by a comma.
func event(choices, more string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"choices":[` + choices + `]` + more + "}\n\n"
}

// Delta returns an event with a delta, which is a JSON object.
func Delta(delta string) string {
	return event(`{"index":0,"delta":`+delta+`,"finish_reason":null}`, "")
}

// TextEvent returns an event with a piece of text.
func TextEvent(text string) string { return Delta(`{"content":` + Encode(text) + `}`) }

// ReasoningEvent returns an event with a piece of reasoning, in the field of this name.
func ReasoningEvent(field, text string) string {
	return Delta(`{` + Encode(field) + `:` + Encode(text) + `}`)
}

// CallEvent returns an event with a piece of a tool call. An empty id or name is left out.
func CallEvent(index int, id, name, arguments string) string {
	function := map[string]any{"arguments": arguments}
	if name != "" {
		function["name"] = name
	}
	call := map[string]any{"index": index, "type": "function", "function": function}
	if id != "" {
		call["id"] = id
	}
	return Delta(Encode(map[string]any{"tool_calls": []any{call}}))
}

// FinishEvent returns the event that ends the choice.
func FinishEvent(reason string) string {
	return event(`{"index":0,"delta":{},"finish_reason":`+Encode(reason)+`}`, "")
}

// UsageEvent returns an event that reports tokens, without choices.
func UsageEvent(prompt, completion int) string {
	used := map[string]int{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
	return event("", `,"usage":`+Encode(used))
}

// Words splits text into the pieces in which it is streamed: words with the space after
// them. Empty text has no pieces.
func Words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// Models returns a list of models, each an object with its id.
func Models(models ...map[string]any) string {
	for _, m := range models {
		m["object"] = "model"
	}
	return Encode(map[string]any{"object": "list", "data": models})
}

// Encode writes v as JSON. It panics if v cannot be encoded, which is a programming error.
func Encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
