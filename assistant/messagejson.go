package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// ListVersion is the version of the serialised form of a MessageList.
const ListVersion = "1.0"

// MessageListError says which message of a serialised list is at fault, and why.
type MessageListError struct {
	Index  int // of the message, from 0; -1 when the list itself is at fault
	Reason string
}

// Error names the place and the reason.
func (e *MessageListError) Error() string {
	if e.Index < 0 {
		return "message list: " + e.Reason
	}
	return fmt.Sprintf("message list: message %d: %s", e.Index, e.Reason)
}

// The published form: one object a type, fields in this order. Pointers tell a
// missing field from an empty one.
type (
	listJSON struct {
		Messages *[]json.RawMessage `json:"messages"`
		Version  *string            `json:"version"`
	}
	textJSON struct {
		Type *string `json:"type"`
		Text *string `json:"text"`
		Role *Role   `json:"role"`
	}
	toolJSON struct {
		Type       *string         `json:"type"`
		Message    *string         `json:"message"`
		ToolName   *string         `json:"tool_name"`
		ToolCallID *string         `json:"tool_call_id"`
		Arguments  json.RawMessage `json:"arguments"`
		Result     json.RawMessage `json:"result"`
		Error      *string         `json:"error"`
		Role       *Role           `json:"role"`
	}
)

// MarshalJSON writes {"messages":[…],"version":"1.0"}.
func (l *MessageList) MarshalJSON() ([]byte, error) {
	items := make([]json.RawMessage, 0, len(l.messages))
	for i, m := range l.messages {
		raw, err := encodePlain(messageForm(m))
		if err != nil {
			return nil, &MessageListError{i, err.Error()}
		}
		items = append(items, raw)
	}
	version := ListVersion
	return encodePlain(listJSON{&items, &version})
}

// messageForm is the published form of m.
func messageForm(m Message) any {
	switch m := m.(type) {
	case *AgentMessage:
		return textJSON{ptr("AgentMessage"), &m.Text, ptr(RoleSystem)}
	case *TextMessage:
		return textJSON{ptr("TextMessage"), &m.Text, &m.Role}
	case *ToolCallMessage:
		return toolJSON{
			ptr("ToolCallMessage"), &m.Message, &m.ToolName, &m.ToolCallID,
			orNull(m.Arguments), orNull(m.Result), m.Error, ptr(RoleAssistant),
		}
	}
	return nil
}

// UnmarshalJSON reads what MarshalJSON writes. Every other version, type,
// missing or unknown field is a *MessageListError, and l stays as it was.
func (l *MessageList) UnmarshalJSON(data []byte) error {
	var list listJSON
	if err := strict(data, &list); err != nil {
		return &MessageListError{-1, err.Error()}
	}
	switch {
	case list.Version == nil:
		return &MessageListError{-1, `"version" is missing`}
	case *list.Version != ListVersion:
		return &MessageListError{-1, fmt.Sprintf("version %q is unknown; this program reads %q", *list.Version, ListVersion)}
	case list.Messages == nil:
		return &MessageListError{-1, `"messages" is missing`}
	}
	read := make([]Message, 0, len(*list.Messages))
	for i, raw := range *list.Messages {
		m, err := decodeMessage(raw)
		if err != nil {
			return &MessageListError{i, err.Error()}
		}
		if call, ok := m.(*ToolCallMessage); ok && call.Message == "" && i > 0 {
			_, call.joined = read[i-1].(*ToolCallMessage)
		}
		read = append(read, m)
	}
	l.messages = read
	return nil
}

func decodeMessage(raw json.RawMessage) (Message, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	if head.Type == nil {
		return nil, fmt.Errorf(`"type" is missing`)
	}
	switch *head.Type {
	case "AgentMessage", "TextMessage":
		return decodeText(*head.Type, raw)
	case "ToolCallMessage":
		return decodeToolCall(raw)
	}
	return nil, fmt.Errorf("type %q is unknown; want AgentMessage, TextMessage or ToolCallMessage", *head.Type)
}

func decodeText(kind string, raw json.RawMessage) (Message, error) {
	var m textJSON
	if err := strict(raw, &m); err != nil {
		return nil, err
	}
	roles := []Role{RoleUser, RoleAssistant}
	if kind == "AgentMessage" {
		roles = []Role{RoleSystem}
	}
	switch {
	case m.Text == nil:
		return nil, fmt.Errorf(`"text" is missing`)
	case m.Role == nil:
		return nil, fmt.Errorf(`"role" is missing`)
	case !slices.Contains(roles, *m.Role):
		return nil, fmt.Errorf("role %q does not fit type %s", *m.Role, kind)
	case kind == "AgentMessage":
		return &AgentMessage{*m.Text}, nil
	}
	return &TextMessage{*m.Text, *m.Role}, nil
}

func decodeToolCall(raw json.RawMessage) (Message, error) {
	var m toolJSON
	if err := strict(raw, &m); err != nil {
		return nil, err
	}
	var has map[string]json.RawMessage
	if err := json.Unmarshal(raw, &has); err != nil {
		return nil, err
	}
	for _, name := range []string{"message", "tool_name", "tool_call_id", "arguments", "result", "error", "role"} {
		if _, ok := has[name]; !ok {
			return nil, fmt.Errorf("%q is missing", name)
		}
	}
	for name, missing := range map[string]bool{"message": m.Message == nil, "tool_name": m.ToolName == nil, "tool_call_id": m.ToolCallID == nil} {
		if missing {
			return nil, fmt.Errorf("%q is null; want a string", name)
		}
	}
	if m.Role == nil || *m.Role != RoleAssistant {
		return nil, fmt.Errorf(`"role" of a ToolCallMessage is always "assistant"`)
	}
	call := &ToolCallMessage{
		Message: *m.Message, ToolName: *m.ToolName, ToolCallID: *m.ToolCallID,
		Arguments: m.Arguments, Result: m.Result, Error: m.Error,
	}
	if string(call.Result) == "null" {
		call.Result = nil
	}
	return call, nil
}

// strict decodes one whole JSON value and refuses unknown fields.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("something follows the JSON value")
	}
	return nil
}

// encodePlain is json.Marshal without the escapes meant for HTML, so that what
// is kept reads like what was said.
func encodePlain(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func ptr[T any](v T) *T { return &v }
