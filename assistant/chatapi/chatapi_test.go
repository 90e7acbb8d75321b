package chatapi

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRequestsAreRead(t *testing.T) {
	r, refused := Read([]byte(`{"model":"m","tools":[{"function":{"name":"look"}}],"messages":[
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"look","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"1","content":"done"}]}`))
	if refused != nil || r.Model != "m" || r.Tools[0].Function.Name != "look" {
		t.Fatalf("read %+v, %v", r, refused)
	}
	if m := r.Messages[0]; m.Content != "ab" || !m.Pictures {
		t.Errorf("a list of parts is read as %+v", m)
	}
	if m := r.Messages[1]; m.Content != "" || len(m.ToolCalls) != 1 || m.ToolCalls[0].ID != "1" {
		t.Errorf("calls are read as %+v", m)
	}
	if m := r.Messages[2]; m.Content != "done" || m.ToolCallID != "1" {
		t.Errorf("a result is read as %+v", m)
	}
	for body, code := range map[string]string{
		`{`: "invalid_json", `{"messages":[]}`: "invalid_request", `{"messages":[{"role":"user","content":7}]}`: "invalid_request",
		`{"messages":[{"role":"bystander"}]}`: "invalid_request",
	} {
		if _, refused := Read([]byte(body)); refused == nil || refused.Code != code || refused.Status != 400 {
			t.Errorf("%s is refused with %+v, want %s", body, refused, code)
		}
	}
}

// TestEvents: each event is one line of JSON with the fields that a client needs.
func TestEvents(t *testing.T) {
	for event, want := range map[string]string{
		TextEvent("a\nb"): `"content":"a\nb"`, ReasoningEvent("reasoning", "a"): `"reasoning":"a"`, FinishEvent("stop"): `"finish_reason":"stop"`,
		CallEvent(1, "c", "look", `{"a":1}`): `"arguments":"{\"a\":1}"`, UsageEvent(1, 2): `"total_tokens":3`,
	} {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok || strings.Count(event, "\n") != 2 || !json.Valid([]byte(data)) || !strings.Contains(data, want) || !strings.Contains(data, `"choices":[`) {
			t.Errorf("%q lacks %s", event, want)
		}
	}
}
