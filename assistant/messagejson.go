package assistant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// The published form: one object a type, fields in this order.
type (
	listJSON struct {
		Messages []json.RawMessage `json:"messages"`
		Version  string            `json:"version"`
	}
	textJSON struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Role Role   `json:"role"`
	}
	toolJSON struct {
		Type       string          `json:"type"`
		Message    string          `json:"message"`
		ToolName   string          `json:"tool_name"`
		ToolCallID string          `json:"tool_call_id"`
		Arguments  json.RawMessage `json:"arguments"`
		Result     json.RawMessage `json:"result"`
		Error      *string         `json:"error"`
		Role       Role            `json:"role"`
	}
)

// messageFields are the fields of each type: all of them, and no others.
var messageFields = map[string][]string{
	"AgentMessage":    {"type", "text", "role"},
	"TextMessage":     {"type", "text", "role"},
	"ToolCallMessage": {"type", "message", "tool_name", "tool_call_id", "arguments", "result", "error", "role"},
}

// MarshalJSON writes {"messages":[…],"version":"1.0"}. A message that could not
// be read back is a *MessageListError.
func (l *MessageList) MarshalJSON() ([]byte, error) {
	list := listJSON{Messages: make([]json.RawMessage, 0, len(l.messages)), Version: ListVersion}
	for i, m := range l.messages {
		form, err := messageForm(m)
		if err != nil {
			return nil, &MessageListError{i, err.Error()}
		}
		raw, err := PlainJSON(form)
		if err != nil {
			return nil, &MessageListError{i, err.Error()}
		}
		list.Messages = append(list.Messages, raw)
	}
	return PlainJSON(list)
}

// messageForm is the published form of m.
func messageForm(m Message) (any, error) {
	switch m := m.(type) {
	case *AgentMessage:
		return textJSON{"AgentMessage", m.Text, RoleSystem}, nil
	case *TextMessage:
		return textJSON{"TextMessage", m.Text, m.Role}, fitsRole("TextMessage", m.Role)
	case *ToolCallMessage:
		return toolJSON{
			"ToolCallMessage", m.Message, m.ToolName, m.ToolCallID,
			orNull(m.Arguments), orNull(m.Result), m.Error, RoleAssistant,
		}, nil
	}
	return nil, fmt.Errorf("%T is not a message", m)
}

// fitsRole refuses a role that the type cannot have.
func fitsRole(kind string, role Role) error {
	roles := map[string][]Role{
		"AgentMessage": {RoleSystem}, "TextMessage": {RoleUser, RoleAssistant}, "ToolCallMessage": {RoleAssistant},
	}[kind]
	if !slices.Contains(roles, role) {
		return fmt.Errorf("role %q does not fit type %s", role, kind)
	}
	return nil
}

// ReadMessageList reads what MarshalJSON writes. Every error is a
// *MessageListError, also for what is no JSON at all.
func ReadMessageList(data []byte) (*MessageList, error) {
	l := &MessageList{}
	if err := l.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return l, nil
}

// UnmarshalJSON reads what MarshalJSON writes. Every other version, type,
// missing or unknown field is a *MessageListError, and l stays as it was.
func (l *MessageList) UnmarshalJSON(data []byte) error {
	fields, err := exactFields(data, "messages", "version")
	if err != nil {
		return &MessageListError{-1, err.Error()}
	}
	var version string
	if err := json.Unmarshal(fields["version"], &version); err != nil || version != ListVersion {
		return &MessageListError{-1, fmt.Sprintf("version %s is unknown; this program reads %q", fields["version"], ListVersion)}
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(fields["messages"], &raws); err != nil || raws == nil {
		return &MessageListError{-1, `"messages" is not a list`}
	}
	read := make([]Message, 0, len(raws))
	for i, raw := range raws {
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
	var head map[string]json.RawMessage
	if err := json.Unmarshal(raw, &head); err != nil || head == nil {
		return nil, errors.New("not an object")
	}
	if head["type"] == nil {
		return nil, errors.New(`"type" is missing`)
	}
	var kind string
	names, known := []string(nil), false
	if json.Unmarshal(head["type"], &kind) == nil {
		names, known = messageFields[kind]
	}
	if !known {
		return nil, fmt.Errorf("type %s is unknown; want AgentMessage, TextMessage or ToolCallMessage", head["type"])
	}
	fields, err := exactFields(raw, names...)
	if err != nil {
		return nil, err
	}
	role, err := stringField(fields, "role")
	if err != nil {
		return nil, err
	}
	if err := fitsRole(kind, Role(role)); err != nil {
		return nil, err
	}
	if kind == "ToolCallMessage" {
		return decodeToolCall(fields)
	}
	text, err := stringField(fields, "text")
	if kind == "AgentMessage" {
		return &AgentMessage{text}, err
	}
	return &TextMessage{text, Role(role)}, err
}

func decodeToolCall(fields map[string]json.RawMessage) (Message, error) {
	call := &ToolCallMessage{Arguments: fields["arguments"], Result: fields["result"]}
	for _, f := range []struct {
		name string
		into *string
	}{{"message", &call.Message}, {"tool_name", &call.ToolName}, {"tool_call_id", &call.ToolCallID}} {
		text, err := stringField(fields, f.name)
		if err != nil {
			return nil, err
		}
		*f.into = text
	}
	if string(call.Arguments) == "null" {
		call.Arguments = nil
	}
	if string(call.Result) == "null" {
		call.Result = nil
	}
	if string(fields["error"]) != "null" {
		text, err := stringField(fields, "error")
		if err != nil {
			return nil, err
		}
		call.Error = &text
	}
	return call, nil
}

// exactFields reads an object that has these fields, and no others.
func exactFields(data []byte, names ...string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("not JSON: %w at byte %d", err, syntax.Offset)
		}
		return nil, errors.New("not an object")
	}
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			return nil, fmt.Errorf("%q is missing", name)
		}
	}
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("field %q is unknown", name)
		}
	}
	return fields, nil
}

func stringField(fields map[string]json.RawMessage, name string) (string, error) {
	var text *string
	if err := json.Unmarshal(fields[name], &text); err != nil || text == nil {
		return "", fmt.Errorf("%q is not a string", name)
	}
	return *text, nil
}

// PlainJSON is json.Marshal without the escapes meant for HTML, so that what is
// kept, sent and counted reads like what was said. Its errors are Marshal's.
func PlainJSON(v any) (json.RawMessage, error) {
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
