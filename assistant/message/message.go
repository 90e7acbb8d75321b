// Package message contains the messages of a conversation with a model. A List has a published JSON form and can be
// converted to the messages of an llm.Request.
//
// A List, like any slice, may be used by only one goroutine at a time.
package message

import (
	"cmp"
	"encoding/json"

	"winnow/assistant/attachment"
	"winnow/assistant/llm"
)

// Message is one entry of a List: an *Agent, a *Text or a *ToolCall.
//
//sumtype:decl
type Message interface{ message() }

// Agent is the system message: the description of the assistant.
type Agent struct {
	Text string `json:"text"`
}

// Text is a message from the user or the assistant.
type Text struct {
	Text string   `json:"text"`
	Role llm.Role `json:"role"` // RoleUser or RoleAssistant

	// Pictures are sent with a message from the user. They are not part of the published form.
	Pictures []attachment.File `json:"-"`
}

// ToolCall is a call and its result. The calls of a response are adjacent in the list, and only the first call has
// the text of the response.
type ToolCall struct {
	Message    string          `json:"message"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`
	Arguments  json.RawMessage `json:"arguments"` // usually an object; encoded without white space
	Result     json.RawMessage `json:"result"`    // nil if there is no result
	Error      *string         `json:"error"`     // nil if the call did not fail

	// Joined reports whether the call belongs to the same response as the previous call. It is not part of the
	// published form: after decoding, it is true for a call without text that follows another call.
	Joined bool `json:"-"`
}

func (*Agent) message()    {}
func (*Text) message()     {}
func (*ToolCall) message() {}

// List contains the messages of a conversation, oldest first. The zero value is an empty list.
type List []Message

// Wire converts the list to the messages of a request. The calls of a response become one assistant message, followed
// by a tool message for each result.
func (l List) Wire() []llm.Message {
	var out, results []llm.Message
	for i, m := range l {
		call, isCall := m.(*ToolCall)
		if !isCall || !call.Joined {
			out, results = append(out, results...), nil
		}
		switch m := m.(type) {
		case *Agent:
			out = append(out, llm.Message{Role: llm.RoleSystem, Content: m.Text})
		case *Text:
			if m.Text != "" { // endpoints refuse an empty message
				out = append(out, llm.Message{Role: m.Role, Content: m.Text, Pictures: m.Pictures})
			}
		case *ToolCall:
			if !m.Joined || i == 0 {
				out = append(out, llm.Message{Role: llm.RoleAssistant, Content: m.Message})
			}
			assistant := &out[len(out)-1]
			args := cmp.Or(string(m.Arguments), "{}") // endpoints refuse an empty string
			assistant.Calls = append(assistant.Calls, llm.Call{ID: m.ToolCallID, Name: m.ToolName, Arguments: args})
			results = append(results, llm.Message{Role: llm.RoleTool, CallID: m.ToolCallID, Content: m.Content()})
		}
	}
	return append(out, results...)
}

// Content returns the text of the tool message: the result of the call, without quotes if it is a JSON string, or a
// JSON object with the error if the call failed without a result.
func (m *ToolCall) Content() string {
	var text string
	switch {
	case m.Result == nil && m.Error != nil:
		raw, _ := json.Marshal(struct {
			Success   bool   `json:"success"`
			Message   string `json:"message"`
			ErrorCode string `json:"error_code"`
		}{false, *m.Error, "failed"})
		return string(raw)
	case json.Unmarshal(m.Result, &text) == nil:
		return text
	}
	return string(m.Result)
}
