package assistant

import (
	"encoding/json"
	"iter"
	"slices"
)

// Message is one entry of a MessageList: an *AgentMessage, a *TextMessage or a
// *ToolCallMessage.
//
//sumtype:decl
type Message interface{ message() }

// AgentMessage tells the model who it is.
type AgentMessage struct{ Text string }

// TextMessage is what the user or the assistant said.
type TextMessage struct {
	Text string
	Role Role // RoleUser or RoleAssistant
}

// ToolCallMessage is one call and what came of it. The calls of one response
// are neighbours, and only the first carries the response's text.
type ToolCallMessage struct {
	Message    string
	ToolName   string
	ToolCallID string
	Arguments  json.RawMessage // JSON, an object as a rule; written without white space
	Result     json.RawMessage // JSON; nil when there is none
	Error      *string         // nil: the call did not fail

	// joined marks a call of the same response as the message before it. It is
	// not part of the published form: in a list that was read back, a call
	// without text belongs to the response before it.
	joined bool
}

func (*AgentMessage) message()    {}
func (*TextMessage) message()     {}
func (*ToolCallMessage) message() {}

// MessageList holds the messages of a conversation. The
// zero value is an empty list. It is not safe for concurrent use.
type MessageList struct{ messages []Message }

// NewMessageList returns a list that holds messages in this order.
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
func (l *MessageList) All() iter.Seq2[int, Message] {
	return func(yield func(int, Message) bool) {
		for i, m := range l.messages {
			if !yield(i, m) {
				return
			}
		}
	}
}

// Copy returns a list that can grow apart from this one. The messages
// themselves are shared: they are not changed once they are in a list.
func (l *MessageList) Copy() *MessageList { return NewMessageList(l.messages...) }

// wireMessages turns a list into what goes over the wire: calls of one response
// become one assistant message with its calls and then their tool messages.
func wireMessages(messages []Message) []WireMessage {
	var out []WireMessage
	for i := 0; i < len(messages); i++ {
		switch m := messages[i].(type) {
		case *AgentMessage:
			out = append(out, WireMessage{Role: RoleSystem, Content: m.Text})
		case *TextMessage:
			if m.Text == "" {
				continue // an empty answer; endpoints refuse it
			}
			out = append(out, WireMessage{Role: m.Role, Content: m.Text})
		case *ToolCallMessage:
			group := responseAt(messages, i)
			out = append(out, wireExchange(group)...)
			i += len(group) - 1
		}
	}
	return out
}

// responseAt returns the calls of the response that begins at i.
func responseAt(messages []Message, i int) []*ToolCallMessage {
	group := []*ToolCallMessage{messages[i].(*ToolCallMessage)}
	for _, m := range messages[i+1:] {
		call, ok := m.(*ToolCallMessage)
		if !ok || !call.joined {
			break
		}
		group = append(group, call)
	}
	return group
}

func wireExchange(group []*ToolCallMessage) []WireMessage {
	head := WireMessage{Role: RoleAssistant, Content: group[0].Message}
	results := make([]WireMessage, len(group))
	for i, m := range group {
		args := string(m.Arguments)
		if args == "" {
			args = "{}" // what endpoints want for none
		}
		head.Calls = append(head.Calls, Call{ID: m.ToolCallID, Name: m.ToolName, Arguments: args})
		results[i] = WireMessage{Role: RoleTool, CallID: m.ToolCallID, Content: resultContent(m)}
	}
	return append([]WireMessage{head}, results...)
}
