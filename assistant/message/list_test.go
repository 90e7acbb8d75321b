package message_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"winnow/assistant/llm"
	"winnow/assistant/message"
)

func wantEqual[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// published is the example of the published form, in its order.
const published = `{
    "messages": [
        {
            "type": "AgentMessage",
            "text": "You are a helpful assistant",
            "role": "system"
        },
        {
            "type": "TextMessage",
            "text": "Hello! How can I help you today?",
            "role": "assistant"
        },
        {
            "type": "TextMessage",
            "text": "What's the weather in Paris?",
            "role": "user"
        },
        {
            "type": "ToolCallMessage",
            "message": "I'll check the weather for you",
            "tool_name": "get_weather",
            "tool_call_id": "call_123",
            "arguments": {"location": "Paris"},
            "result": "Sunny, 22°C",
            "error": null,
            "role": "assistant"
        }
    ],
    "version": "1.0"
}`

func TestThePublishedExampleComesBackAsItIs(t *testing.T) {
	list, err := message.Read([]byte(published))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "messages", len(list), 4)
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(published)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "encoded again", unescaped(raw), want.String())
	call := list[3].(*message.ToolCall)
	wantEqual(t, "arguments", string(call.Arguments), `{"location": "Paris"}`)
}

// unescaped undoes what json.Marshal does to < > & in what a MarshalJSON returns.
func unescaped(raw []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
}

func TestEveryMessageComesBackAsItWas(t *testing.T) {
	failed := "no such place"
	list := message.List{
		&message.Agent{Text: ""},
		&message.Text{Text: "<b>&\u2028\"\\\n漢", Role: llm.RoleUser},
		&message.Text{Text: "", Role: llm.RoleAssistant},
		&message.ToolCall{Message: "m", ToolName: "t", ToolCallID: "c", Arguments: json.RawMessage(`{"n":12345678901234567890,"f":1.0}`), Result: json.RawMessage(`[1,null]`)},
		&message.ToolCall{ToolName: "t", ToolCallID: "d", Arguments: json.RawMessage(`{}`), Error: &failed},
		&message.ToolCall{Message: "next", ToolName: "t", ToolCallID: "e", Arguments: json.RawMessage(`{}`), Error: new(string)},
		&message.ToolCall{Message: "none", ToolName: "t", ToolCallID: "f"},
	}
	raw, err := list.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := message.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		a, _ := json.Marshal(m)
		b, _ := json.Marshal(back[i])
		if reflect.TypeOf(m) != reflect.TypeOf(back[i]) || !bytes.Equal(a, b) {
			t.Errorf("message %d: %s became %s", i, a, b)
		}
	}
	again, err := back.MarshalJSON()
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("encoded again: %s, %v", again, err)
	}
}

func TestAnEmptyListHasMessages(t *testing.T) {
	var zero message.List
	raw, err := json.Marshal(zero)
	wantEqual(t, "empty", string(raw), `{"messages":[],"version":"1.0"}`)
	if err != nil {
		t.Error(err)
	}
}

func TestReadNamesTheFault(t *testing.T) {
	text := func(fields string) string {
		return `{"messages":[{"type":"AgentMessage","text":"x","role":"system"},` + fields + `],"version":"1.0"}`
	}
	for _, tt := range []struct {
		in     string
		index  int
		reason string
	}{
		{``, -1, "not JSON"},
		{`{"messages":[],"version":"1.0"`, -1, "not JSON"},
		{`{"messages":[],"version":"1.0"} x`, -1, "not JSON"},
		{`null`, -1, `not an object`},
		{`[]`, -1, "not an object"},
		{`{"version":"1.0"}`, -1, `"messages" is missing`},
		{`{"messages":[]}`, -1, `"version" is missing`},
		{`{"messages":[],"version":"2.0"}`, -1, `version "2.0" is unknown`},
		{`{"messages":[],"version":1}`, -1, `version 1 is unknown`},
		{`{"messages":{},"version":"1.0"}`, -1, `messages`},
		{`{"messages":null,"version":"1.0"}`, -1, `"messages" is null`},
		{`{"messages":[],"version":"1.0","more":1}`, -1, `field "more" is unknown`},
		{text(`3`), 1, "not an object"},
		{text(`null`), 1, "not an object"},
		{text(`{"text":"x","role":"user"}`), 1, `type <nil> is unknown`},
		{text(`{"type":"ImageMessage","text":"x"}`), 1, `type "ImageMessage" is unknown`},
		{text(`{"type":7}`), 1, `type 7 is unknown`},
		{text(`{"type":"TextMessage","role":"user"}`), 1, `"text" is missing`},
		{text(`{"type":"TextMessage","Text":"x","role":"user"}`), 1, `"text" is missing`},
		{text(`{"type":"TextMessage","text":"x"}`), 1, `"role" is missing`},
		{text(`{"type":"TextMessage","text":null,"role":"user"}`), 1, `"text" is null`},
		{text(`{"type":"TextMessage","text":"x","role":"system"}`), 1, `role "system" is not valid`},
		{text(`{"type":"AgentMessage","text":"x","role":"user"}`), 1, `role "user" is not valid`},
		{text(`{"type":"TextMessage","text":"x","role":"user","more":1}`), 1, `field "more" is unknown`},
		{text(`{"type":"ToolCallMessage","tool_name":"t","tool_call_id":"c","arguments":{},"result":1,"error":null,"role":"assistant"}`), 1, `"message" is missing`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":{},"error":null,"role":"assistant"}`), 1, `"result" is missing`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":3,"tool_call_id":"c","arguments":{},"result":1,"error":null,"role":"assistant"}`), 1, `tool_name of type string`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":{},"result":1,"error":4,"role":"assistant"}`), 1, `error of type string`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":{},"result":1,"error":null,"role":"tool"}`), 1, `role "tool" is not valid`},
	} {
		list, err := message.Read([]byte(tt.in))
		var fault *message.Error
		if !errors.As(err, &fault) || list != nil || fault.Index != tt.index || !strings.Contains(fault.Reason, tt.reason) {
			t.Errorf("%s: %v, want message %d, %q", tt.in, err, tt.index, tt.reason)
		}
	}
}

func TestWhatCouldNotBeReadBackIsNotWritten(t *testing.T) {
	for name, m := range map[string]message.Message{
		"nil": nil, "role": &message.Text{Text: "x"}, "arguments": &message.ToolCall{Arguments: json.RawMessage(`{`)},
	} {
		_, err := message.List{&message.Agent{}, m}.MarshalJSON()
		var fault *message.Error
		if !errors.As(err, &fault) || fault.Index != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFaultyListLeavesTheOldOne(t *testing.T) {
	list := &message.List{&message.Agent{Text: "old"}}
	if err := json.Unmarshal([]byte(`{"messages":[],"version":"9"}`), list); err == nil || len(*list) != 1 {
		t.Errorf("err %v, %d messages", err, len(*list))
	}
}

// FuzzHistoryDecode holds that reading never panics, that every error is a
// *message.Error, and that what was read is written and read again as it is.
func FuzzHistoryDecode(f *testing.F) {
	f.Add([]byte(published))
	f.Add([]byte(`{"messages":[{"type":"ToolCallMessage","message":"","tool_name":"","tool_call_id":"","arguments":null,"result":null,"error":null,"role":"assistant"}],"version":"1.0"}`))
	f.Add([]byte(`{"messages":[{"type":"X"}],"version":"1.0"}`))
	f.Add([]byte("{\"messages\":[{\"type\":\"AgentMessage\",\"text\":\"\xff\\ud800\",\"role\":\"system\"}],\"version\":\"1.0\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := message.Read(data)
		if err != nil {
			var fault *message.Error
			if !errors.As(err, &fault) || fault.Reason == "" {
				t.Fatalf("error %v", err)
			}
			return
		}
		raw, err := list.MarshalJSON()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := message.Read(raw)
		if err != nil || len(back) != len(list) {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(raw, again) {
			t.Fatalf("%s became %s, %v", raw, again, err)
		}
		for i, m := range list {
			a, _ := json.Marshal(m)
			b, _ := json.Marshal(back[i])
			if !bytes.Equal(a, b) {
				t.Fatalf("message %d: %s became %s", i, a, b)
			}
		}
	})
}
