// Package message is the messages of a conversation with a model: a list that is
// stored and read in its published form, and sent as what the wire wants.
//
// A List, like any slice, belongs to one goroutine at a time.
package message

import (
	"cmp"
	"encoding/json"

	"winnow/assistant/llm"
)

// Message is one entry of a List: an *Agent, a *Text or a *ToolCall.
//
//sumtype:decl
type Message interface{ message() }

// Agent is the description of the assistant that the model is given.
type Agent struct {
	Text string `json:"text"`
}

// Text is a text of the user or the assistant.
type Text struct {
	Text string   `json:"text"`
	Role llm.Role `json:"role"` // RoleUser or RoleAssistant
}

// ToolCall is one call and what came of it. The calls of one response
// are neighbours, and only the first carries the response's text.
type ToolCall struct {
	Message    string          `json:"message"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`
	Arguments  json.RawMessage `json:"arguments"` // an object as a rule; written without white space
	Result     json.RawMessage `json:"result"`    // nil when there is none
	Error      *string         `json:"error"`     // nil: the call did not fail

	// Joined marks a call of the same response as the message before it. It is
	// not part of the published form: in a list that was read back, a call
	// without text belongs to the response before it.
	Joined bool `json:"-"`
}

func (*Agent) message()    {}
func (*Text) message()     {}
func (*ToolCall) message() {}

// List is the messages of a conversation, oldest first. The zero value is empty.
type List []Message

// Wire is the list as it goes over the wire: calls of one response become one
// assistant message with its calls and then their tool messages.
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
			if m.Text != "" { // an empty answer; endpoints refuse it
				out = append(out, llm.Message{Role: m.Role, Content: m.Text})
			}
		case *ToolCall:
			if !m.Joined || i == 0 {
				out = append(out, llm.Message{Role: llm.RoleAssistant, Content: m.Message})
			}
			head := &out[len(out)-1]
			args := cmp.Or(string(m.Arguments), "{}") // what endpoints want for none
			head.Calls = append(head.Calls, llm.Call{ID: m.ToolCallID, Name: m.ToolName, Arguments: args})
			results = append(results, llm.Message{Role: llm.RoleTool, CallID: m.ToolCallID, Content: m.Content()})
		}
	}
	return append(out, results...)
}

// Content is the text of the tool message with the result of the call. A call
// that failed without one has a result that says so.
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
