package assistant_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/llm"
)

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
	list, err := assistant.ReadMessageList([]byte(published))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "messages", list.Len(), 4)
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(published)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "encoded again", unescaped(raw), want.String())
	call := list.At(3).(*assistant.ToolCallMessage)
	wantEqual(t, "arguments", string(call.Arguments), `{"location": "Paris"}`)
}

// unescaped undoes what json.Marshal does to < > & in what a MarshalJSON returns.
func unescaped(raw []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
}

func TestEveryMessageComesBackAsItWas(t *testing.T) {
	failed := "no such place"
	list := assistant.NewMessageList(
		&assistant.AgentMessage{Text: ""},
		&assistant.TextMessage{Text: "<b>&\u2028\"\\\n漢", Role: llm.RoleUser},
		&assistant.TextMessage{Text: "", Role: llm.RoleAssistant},
		&assistant.ToolCallMessage{Message: "m", ToolName: "t", ToolCallID: "c", Arguments: json.RawMessage(`{"n":12345678901234567890,"f":1.0}`), Result: json.RawMessage(`[1,null]`)},
		&assistant.ToolCallMessage{ToolName: "t", ToolCallID: "d", Arguments: json.RawMessage(`{}`), Error: &failed},
		&assistant.ToolCallMessage{Message: "next", ToolName: "t", ToolCallID: "e", Arguments: json.RawMessage(`{}`), Error: new(string)},
		&assistant.ToolCallMessage{Message: "none", ToolName: "t", ToolCallID: "f"},
	)
	raw, err := list.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := assistant.ReadMessageList(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list.All() {
		a, _ := json.Marshal(m)
		b, _ := json.Marshal(back.At(i))
		if reflect.TypeOf(m) != reflect.TypeOf(back.At(i)) || !bytes.Equal(a, b) {
			t.Errorf("message %d: %s became %s", i, a, b)
		}
	}
	again, err := back.MarshalJSON()
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("encoded again: %s, %v", again, err)
	}
}

func TestAListIsItsOwner(t *testing.T) {
	messages := []assistant.Message{&assistant.AgentMessage{Text: "a"}}
	list := assistant.NewMessageList(messages...)
	messages[0] = &assistant.AgentMessage{Text: "b"}
	wantEqual(t, "text", list.At(0).(*assistant.AgentMessage).Text, "a")
	var zero assistant.MessageList
	raw, err := json.Marshal(&zero)
	wantEqual(t, "empty", string(raw), `{"messages":[],"version":"1.0"}`)
	if err != nil {
		t.Error(err)
	}
}

func TestReadMessageListNamesTheFault(t *testing.T) {
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
		{text(`{"type":"TextMessage","text":"x","role":"system"}`), 1, `role "system" does not fit`},
		{text(`{"type":"AgentMessage","text":"x","role":"user"}`), 1, `role "user" does not fit`},
		{text(`{"type":"TextMessage","text":"x","role":"user","more":1}`), 1, `field "more" is unknown`},
		{text(`{"type":"ToolCallMessage","tool_name":"t","tool_call_id":"c","arguments":{},"result":1,"error":null,"role":"assistant"}`), 1, `"message" is missing`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":{},"error":null,"role":"assistant"}`), 1, `"result" is missing`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":3,"tool_call_id":"c","arguments":{},"result":1,"error":null,"role":"assistant"}`), 1, `tool_name of type string`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":{},"result":1,"error":4,"role":"assistant"}`), 1, `error of type string`},
		{text(`{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":{},"result":1,"error":null,"role":"tool"}`), 1, `role "tool" does not fit`},
	} {
		list, err := assistant.ReadMessageList([]byte(tt.in))
		var fault *assistant.MessageListError
		if !errors.As(err, &fault) || list != nil || fault.Index != tt.index || !strings.Contains(fault.Reason, tt.reason) {
			t.Errorf("%s: %v, want message %d, %q", tt.in, err, tt.index, tt.reason)
		}
	}
}

func TestWhatCouldNotBeReadBackIsNotWritten(t *testing.T) {
	for name, m := range map[string]assistant.Message{
		"nil": nil, "role": &assistant.TextMessage{Text: "x"}, "arguments": &assistant.ToolCallMessage{Arguments: json.RawMessage(`{`)},
	} {
		_, err := assistant.NewMessageList(&assistant.AgentMessage{}, m).MarshalJSON()
		var fault *assistant.MessageListError
		if !errors.As(err, &fault) || fault.Index != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFaultyListLeavesTheOldOne(t *testing.T) {
	list := assistant.NewMessageList(&assistant.AgentMessage{Text: "old"})
	if err := json.Unmarshal([]byte(`{"messages":[],"version":"9"}`), list); err == nil || list.Len() != 1 {
		t.Errorf("err %v, %d messages", err, list.Len())
	}
}

// FuzzHistoryDecode holds that reading never panics, that every error is a
// *MessageListError, and that what was read is written and read again as it is.
func FuzzHistoryDecode(f *testing.F) {
	f.Add([]byte(published))
	f.Add([]byte(`{"messages":[{"type":"ToolCallMessage","message":"","tool_name":"","tool_call_id":"","arguments":null,"result":null,"error":null,"role":"assistant"}],"version":"1.0"}`))
	f.Add([]byte(`{"messages":[{"type":"X"}],"version":"1.0"}`))
	f.Add([]byte("{\"messages\":[{\"type\":\"AgentMessage\",\"text\":\"\xff\\ud800\",\"role\":\"system\"}],\"version\":\"1.0\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := assistant.ReadMessageList(data)
		if err != nil {
			var fault *assistant.MessageListError
			if !errors.As(err, &fault) || fault.Reason == "" {
				t.Fatalf("error %v", err)
			}
			return
		}
		raw, err := list.MarshalJSON()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := assistant.ReadMessageList(raw)
		if err != nil || back.Len() != list.Len() {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(raw, again) {
			t.Fatalf("%s became %s, %v", raw, again, err)
		}
		for i, m := range list.All() {
			a, _ := json.Marshal(m)
			b, _ := json.Marshal(back.At(i))
			if !bytes.Equal(a, b) {
				t.Fatalf("message %d: %s became %s", i, a, b)
			}
		}
	})
}
