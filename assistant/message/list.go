package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"winnow/assistant/llm"
)

// listVersion is the version of the serialised form of a List.
const listVersion = "1.0"

// Error is returned for a list that cannot be encoded or decoded.
type Error struct {
	Index  int // the index of the invalid message, from 0; -1 if the list itself is invalid
	Reason string
}

// Error returns the index of the message and the reason.
func (e *Error) Error() string {
	if e.Index < 0 {
		return "message list: " + e.Reason
	}
	return fmt.Sprintf("message list: message %d: %s", e.Index, e.Reason)
}

// Types of the serialised form. The fields of each type are written in this order and are never omitted. The plain
// types have no methods, so they do not implement Message.
type (
	plainAgent Agent
	plainText  Text
	plainCall  ToolCall

	listJSON struct {
		Messages []json.RawMessage `json:"messages"`
		Version  any               `json:"version"`
	}
	agentJSON struct {
		Type string `json:"type"`
		plainAgent
		Role llm.Role `json:"role"`
	}
	textJSON struct {
		Type string `json:"type"`
		plainText
	}
	callJSON struct {
		Type string `json:"type"`
		plainCall
		Role llm.Role `json:"role"`
	}
)

// nullable lists the fields that may be null.
var nullable = []string{"arguments", "result", "error"}

// The values of "type".
const (
	agentType = "AgentMessage"
	textType  = "TextMessage"
	callType  = "ToolCallMessage"
)

// checkRole returns an error for a role that the type must not have.
func checkRole(typ string, role llm.Role, allowed ...llm.Role) error {
	if !slices.Contains(allowed, role) {
		return fmt.Errorf("role %q is not valid for type %s", role, typ)
	}
	return nil
}

// MarshalJSON writes {"messages":[…],"version":"1.0"}. It returns an *Error for a message that Read would reject.
func (l List) MarshalJSON() ([]byte, error) {
	list := listJSON{Messages: make([]json.RawMessage, len(l)), Version: listVersion}
	for i, m := range l {
		var err error
		switch m := m.(type) {
		case *Agent:
			list.Messages[i], err = json.Marshal(agentJSON{agentType, plainAgent(*m), llm.RoleSystem})
		case *Text:
			if err = checkRole(textType, m.Role, llm.RoleUser, llm.RoleAssistant); err == nil {
				list.Messages[i], err = json.Marshal(textJSON{textType, plainText(*m)})
			}
		case *ToolCall:
			list.Messages[i], err = json.Marshal(callJSON{callType, plainCall(*m), llm.RoleAssistant})
		default:
			err = fmt.Errorf("%T is not a message", m)
		}
		if err != nil {
			return nil, &Error{i, err.Error()}
		}
	}
	return json.Marshal(list)
}

// Read decodes the output of MarshalJSON. Every error is an *Error, even if the data is not JSON.
func Read(data []byte) (List, error) {
	var l List
	err := l.UnmarshalJSON(data)
	return l, err
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an *Error for anything else, such as an unknown version
// or type or a missing or unknown field; l is then unchanged.
func (l *List) UnmarshalJSON(data []byte) error {
	var list listJSON
	if err := decodeExactly(data, &list); err != nil {
		return &Error{-1, err.Error()}
	}
	if list.Version != listVersion {
		return &Error{-1, fmt.Sprintf("version %#v is unknown; want %q", list.Version, listVersion)}
	}
	read := make([]Message, len(list.Messages))
	for i, raw := range list.Messages {
		m, err := decodeMessage(raw)
		if err != nil {
			return &Error{i, err.Error()}
		}
		if call, ok := m.(*ToolCall); ok && call.Message == "" && i > 0 {
			_, call.Joined = read[i-1].(*ToolCall)
		}
		read[i] = m
	}
	*l = read
	return nil
}

func decodeMessage(raw json.RawMessage) (Message, error) {
	var head struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(raw, &head) != nil || string(raw) == "null" {
		return nil, errors.New("not an object")
	}
	switch head.Type {
	case agentType:
		var m agentJSON
		err := decodeExactly(raw, &m)
		return (*Agent)(&m.plainAgent), cmp.Or(err, checkRole(m.Type, m.Role, llm.RoleSystem))
	case textType:
		var m textJSON
		err := decodeExactly(raw, &m)
		return (*Text)(&m.plainText), cmp.Or(err, checkRole(m.Type, m.Role, llm.RoleUser, llm.RoleAssistant))
	case callType:
		var m callJSON
		err := decodeExactly(raw, &m)
		m.Arguments, m.Result = orNil(m.Arguments), orNil(m.Result)
		return (*ToolCall)(&m.plainCall), cmp.Or(err, checkRole(m.Type, m.Role, llm.RoleAssistant))
	}
	return nil, fmt.Errorf("type %#v is unknown; want %s, %s or %s", head.Type, agentType, textType, callType)
}

// decodeExactly decodes an object that must have exactly the fields that into has when encoded.
func decodeExactly(data []byte, into any) error {
	var fields, known map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(data, &fields); {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %w at byte %d", err, syntax.Offset)
	case err != nil || fields == nil:
		return errors.New("not an object")
	}
	template, err := json.Marshal(into)
	if err == nil {
		err = json.Unmarshal(template, &known)
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if value, ok := fields[name]; !ok {
			return fmt.Errorf("%q is missing", name)
		} else if string(value) == "null" && !slices.Contains(nullable, name) {
			return fmt.Errorf("%q is null", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, ok := known[name]; !ok {
			return fmt.Errorf("field %q is unknown", name)
		}
	}
	return json.Unmarshal(data, into)
}

// orNil returns raw, or nil if raw is the JSON value null.
func orNil(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
