package assistant

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"

	"winnow/assistant/llm"
)

// Message is one entry of a MessageList: an *AgentMessage, a *TextMessage or a
// *ToolCallMessage.
//
//sumtype:decl
type Message interface{ message() }

// AgentMessage is the description of the assistant that the model is given.
type AgentMessage struct {
	Text string `json:"text"`
}

// TextMessage is a text of the user or the assistant.
type TextMessage struct {
	Text string   `json:"text"`
	Role llm.Role `json:"role"` // RoleUser or RoleAssistant
}

// ToolCallMessage is one call and what came of it. The calls of one response
// are neighbours, and only the first carries the response's text.
type ToolCallMessage struct {
	Message    string          `json:"message"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`
	Arguments  json.RawMessage `json:"arguments"` // an object as a rule; written without white space
	Result     json.RawMessage `json:"result"`    // nil when there is none
	Error      *string         `json:"error"`     // nil: the call did not fail

	// joined marks a call of the same response as the message before it. It is
	// not part of the published form: in a list that was read back, a call
	// without text belongs to the response before it.
	joined bool
}

func (*AgentMessage) message()    {}
func (*TextMessage) message()     {}
func (*ToolCallMessage) message() {}

// MessageList is the messages of a conversation. The zero value is an empty list. It is not safe for concurrent use.
type MessageList struct{ messages []Message }

// NewMessageList returns a list of messages in this order.
func NewMessageList(messages ...Message) *MessageList {
	return &MessageList{messages: slices.Clone(messages)}
}

// Append adds messages at the end.
func (l *MessageList) Append(messages ...Message) { l.messages = append(l.messages, messages...) }

// Len counts the messages.
func (l *MessageList) Len() int { return len(l.messages) }

// At returns message i, counted from 0; it panics when there is none.
func (l *MessageList) At(i int) Message { return l.messages[i] }

// All yields the messages in order with their places.
func (l *MessageList) All() iter.Seq2[int, Message] { return slices.All(l.messages) }

// wireMessages turns a list into what goes over the wire: calls of one response
// become one assistant message with its calls and then their tool messages.
func wireMessages(messages []Message) []llm.Message {
	var out, results []llm.Message
	for i, m := range messages {
		call, isCall := m.(*ToolCallMessage)
		if !isCall || !call.joined {
			out, results = append(out, results...), nil
		}
		switch m := m.(type) {
		case *AgentMessage:
			out = append(out, llm.Message{Role: llm.RoleSystem, Content: m.Text})
		case *TextMessage:
			if m.Text != "" { // an empty answer; endpoints refuse it
				out = append(out, llm.Message{Role: m.Role, Content: m.Text})
			}
		case *ToolCallMessage:
			if !m.joined || i == 0 {
				out = append(out, llm.Message{Role: llm.RoleAssistant, Content: m.Message})
			}
			head := &out[len(out)-1]
			args := cmp.Or(string(m.Arguments), "{}") // what endpoints want for none
			head.Calls = append(head.Calls, llm.Call{ID: m.ToolCallID, Name: m.ToolName, Arguments: args})
			results = append(results, llm.Message{Role: llm.RoleTool, CallID: m.ToolCallID, Content: resultContent(m)})
		}
	}
	return append(out, results...)
}
