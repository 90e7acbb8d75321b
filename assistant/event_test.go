package assistant_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// everyEvent has one of each, as JSON of spec §5.3.
var everyEvent = map[string]assistant.Event{
	`{"type":"turn_started","seq":7}`:         assistant.TurnStarted{Seq: 7},
	`{"type":"status","message":"Thinking…"}`: assistant.Status{Message: "Thinking…"},
	`{"type":"text_delta","text":"<a> & b"}`:  assistant.TextDelta{Text: "<a> & b"},
	`{"type":"reasoning_delta","text":"hm"}`:  assistant.ReasoningDelta{Text: "hm"},
	`{"type":"tool_start","tool":"t","input":{"a":1},"tool_use_id":"u","index":2}`: assistant.ToolStart{
		Tool: "t", Input: json.RawMessage(`{"a":1}`), ToolUseID: "u", Index: 2,
	},
	`{"type":"tool_progress","tool":"t","stage":"s","message":"m","progress":0.5,"data":null,"index":2,"tool_use_id":"u"}`: assistant.ToolProgress{
		Tool: "t", Stage: "s", Message: "m", Progress: 0.5, Index: 2, ToolUseID: "u",
	},
	`{"type":"tool_complete","tool":"t","index":2,"tool_use_id":"u","success":true,"message":"m","error_code":"","data":"d"}`: assistant.ToolComplete{
		Tool: "t", Index: 2, ToolUseID: "u", Success: true, Message: "m", Data: "d",
	},
	`{"type":"payload","payload":{"id":"i","type":"t","data":{"a":1}}}`: assistant.PayloadFound{
		Payload: assistant.Payload{ID: "i", Type: "t", Data: json.RawMessage(`{"a":1}`)},
	},
	`{"type":"complete","payload":{"message":"m","suggested_values":[{"label":"l","value":"v"}],"suggested_actions":[{"label":"l","action":"a","handler":"client","style":"primary"}],"custom_payload":{"type":"tool_history","data":[{"tool_name":"t","input":{},"output":"o","success":true}]}}}`: assistant.Complete{
		Payload: assistant.ResponsePayload{
			Message: "m",
			Suggested: assistant.Suggested{
				Values:  []assistant.SuggestedValue{{Label: "l", Value: "v"}},
				Actions: []assistant.SuggestedAction{{Label: "l", Action: "a", Handler: "client", Style: "primary"}},
			},
			Custom: &assistant.CustomPayload{Type: "tool_history", Data: []assistant.ToolHistoryEntry{
				{ToolName: "t", Input: json.RawMessage(`{}`), Output: "o", Success: true},
			}},
		},
	},
	`{"type":"complete","payload":{"message":"m","notice":"n"}}`: assistant.Complete{
		Payload: assistant.ResponsePayload{Message: "m", Notice: "n"},
	},
	`{"type":"error","code":"net","message":"m"}`:                             assistant.Error{Code: "net", Message: "m"},
	`{"type":"cancelled","kept":true}`:                                        assistant.Cancelled{Kept: true},
	`{"type":"checkpoint_created","id":"i","description":"d"}`:                assistant.CheckpointCreated{ID: "i", Description: "d"},
	`{"type":"context_trimmed","sent":3,"trimmed":1,"visible":9,"attempt":2}`: assistant.ContextTrimmed{Sent: 3, Trimmed: 1, Visible: 9, Attempt: 2},
	`{"type":"context_trimmed","sent":3,"trimmed":1,"visible":9,"attempt":2,"tokens":40,"pairs":[{"seq":7,"id":"i","tokens":40}]}`: assistant.ContextTrimmed{
		Sent: 3, Trimmed: 1, Visible: 9, Attempt: 2, Tokens: 40, Pairs: []assistant.LeftOut{{Seq: 7, ID: "i", Tokens: 40}},
	},
	`{"type":"queued","text":"t"}`:                                                                        assistant.Queued{Text: "t"},
	`{"type":"retrying","attempt":2,"reason":"r","after_ms":1500}`:                                        assistant.Retrying{Attempt: 2, Reason: "r", AfterMS: 1500},
	`{"type":"confirm_request","id":"i","tool":"t","diff":"-a\n+b","digest":"d","note":"n","server":"s"}`: assistant.ConfirmRequest{ID: "i", Tool: "t", Diff: "-a\n+b", Digest: "d", Note: "n", Server: "s"},
}

func TestEventsEncodeAndDecode(t *testing.T) {
	kinds := map[reflect.Type]bool{}
	for text, e := range everyEvent {
		kinds[reflect.TypeOf(e)] = true
		raw, err := assistant.EncodeEvent(e)
		if err != nil || string(raw) != text {
			t.Errorf("EncodeEvent(%#v) =\n%s, %v, want\n%s", e, raw, err, text)
		}
		back, err := at.DecodeEvent(text)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("DecodeEvent(%s) = %#v, %v, want %#v", text, back, err, e)
		}
	}
	for _, zero := range assistant.Events() {
		if !kinds[reflect.TypeOf(zero)] {
			t.Errorf("%T has no JSON here, or is listed twice", zero)
		}
		delete(kinds, reflect.TypeOf(zero))
	}
	wantEqual(t, "types that are not listed", len(kinds), 0)
}

// TestEveryEventIsListed counts the types in the source, which no switch can.
func TestEveryEventIsListed(t *testing.T) {
	source, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "listed types", len(assistant.Events()), strings.Count(string(source), ") event() string"))
}
