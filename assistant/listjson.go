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

// MessageListError names the message of a serialised list that is at fault, and
// the reason.
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

// messageKinds are the fields of each type, all of them and no others, and its
// roles.
var messageKinds = map[string]struct {
	fields []string
	roles  []Role
}{
	"AgentMessage":    {[]string{"type", "text", "role"}, []Role{RoleSystem}},
	"TextMessage":     {[]string{"type", "text", "role"}, []Role{RoleUser, RoleAssistant}},
	"ToolCallMessage": {[]string{"type", "message", "tool_name", "tool_call_id", "arguments", "result", "error", "role"}, []Role{RoleAssistant}},
}

// MarshalJSON writes {"messages":[…],"version":"1.0"}. A message that could not
// be read back is a *MessageListError.
func (l *MessageList) MarshalJSON() ([]byte, error) {
	list := listJSON{Messages: make([]json.RawMessage, 0, len(l.messages)), Version: ListVersion}
	for i, m := range l.messages {
		raw, err := encodeMessage(m)
		if err != nil {
			return nil, &MessageListError{i, err.Error()}
		}
		list.Messages = append(list.Messages, raw)
	}
	return PlainJSON(list)
}

// encodeMessage writes the published form of m.
func encodeMessage(m Message) (json.RawMessage, error) {
	switch m := m.(type) {
	case *AgentMessage:
		return PlainJSON(textJSON{"AgentMessage", m.Text, RoleSystem})
	case *TextMessage:
		if err := fitsRole("TextMessage", m.Role); err != nil {
			return nil, err
		}
		return PlainJSON(textJSON{"TextMessage", m.Text, m.Role})
	case *ToolCallMessage:
		return PlainJSON(toolJSON{
			"ToolCallMessage", m.Message, m.ToolName, m.ToolCallID,
			orNull(m.Arguments), orNull(m.Result), m.Error, RoleAssistant,
		})
	}
	return nil, fmt.Errorf("%T is not a message", m)
}

// fitsRole refuses a role that the type cannot have.
func fitsRole(kind string, role Role) error {
	if !slices.Contains(messageKinds[kind].roles, role) {
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
	var name string
	kind, known := messageKinds[name], false
	if json.Unmarshal(head["type"], &name) == nil {
		kind, known = messageKinds[name]
	}
	if !known {
		return nil, fmt.Errorf("type %s is unknown; want AgentMessage, TextMessage or ToolCallMessage", head["type"])
	}
	fields, err := exactFields(raw, kind.fields...)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, field := range []string{"role", "text", "message", "tool_name", "tool_call_id", "error"} {
		value, has := fields[field]
		if !has || field == "error" && string(value) == "null" {
			continue
		}
		var text *string
		if err := json.Unmarshal(value, &text); err != nil || text == nil {
			return nil, fmt.Errorf("%q is not a string", field)
		}
		texts[field] = *text
	}
	role := Role(texts["role"])
	if err := fitsRole(name, role); err != nil {
		return nil, err
	}
	switch name {
	case "AgentMessage":
		return &AgentMessage{texts["text"]}, nil
	case "TextMessage":
		return &TextMessage{texts["text"], role}, nil
	}
	call := &ToolCallMessage{
		Message: texts["message"], ToolName: texts["tool_name"], ToolCallID: texts["tool_call_id"],
		Arguments: orNil(fields["arguments"]), Result: orNil(fields["result"]),
	}
	if text, failed := texts["error"]; failed {
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

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func orNil(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// PlainJSON is json.Marshal without the escapes meant for HTML, so that what is
// stored, sent and counted reads like what was said. Its errors are Marshal's.
func PlainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
