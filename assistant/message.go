package assistant

import (
	"encoding/json"
	"iter"
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

// MessageList is the only place where the messages of a conversation live. The
// zero value is an empty list. It is not safe for concurrent use.
type MessageList struct{ messages []Message }

// NewMessageList returns a list that holds messages in this order.
func NewMessageList(messages ...Message) *MessageList {
	return &MessageList{messages: append([]Message(nil), messages...)}
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
