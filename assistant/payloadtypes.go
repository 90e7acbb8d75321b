package assistant

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The payload types that every session knows (spec §7.3). A window adds its own.
const (
	PayloadValues  = "suggested_values"
	PayloadActions = "suggested_actions"
	PayloadTools   = "tool_history" // only in a Complete: []ToolHistoryEntry
)

// suggestedValues are chips under the answer: next messages one key away.
func suggestedValues() PayloadType {
	type body struct {
		Values []SuggestedValue `json:"values"`
	}
	schema, _ := jsonschema.For[body](nil)
	return PayloadType{
		Name: PayloadValues, Source: FromLLM, Global: true, Schema: schema,
		Description: "next messages the user can choose",
		Marker:      "SUGGESTED_VALUES:",
		Instructions: `SUGGESTED_VALUES - offer up to four likely next messages, on the last line of an answer, when a choice is open:

SUGGESTED_VALUES: {"values": [{"label": "Save", "value": "save the changes"}]}`,
		Summarize: func(data json.RawMessage) string {
			var b body
			_ = json.Unmarshal(data, &b)
			labels := make([]string, len(b.Values))
			for i, v := range b.Values {
				labels[i] = v.Label
			}
			return "offered: " + strings.Join(labels, ", ")
		},
	}
}

// suggestedActions are buttons under the answer.
func suggestedActions(actions []ClientAction) PayloadType {
	type body struct {
		Actions []SuggestedAction `json:"actions"`
	}
	schema := &jsonschema.Schema{
		Type: "object", Required: []string{"actions"},
		Properties: map[string]*jsonschema.Schema{"actions": {Type: "array", Items: &jsonschema.Schema{
			Type: "object", Required: []string{"label", "action"},
			Properties: map[string]*jsonschema.Schema{
				"label": {Type: "string"}, "action": {Type: "string"}, "data": {},
				"handler": {Type: "string", Enum: []any{"client", "server"}},
				"style":   {Type: "string", Enum: []any{"primary", "secondary", "warning"}},
			},
		}}},
	}
	return PayloadType{
		Name: PayloadActions, Source: FromLLM, Global: true, Schema: schema,
		Description: "buttons under the answer",
		Marker:      "SUGGESTED_ACTIONS:",
		Instructions: `SUGGESTED_ACTIONS - offer buttons for actions listed under CLIENT ACTIONS:

SUGGESTED_ACTIONS: {"actions": [{"label": "Show them", "action": "show_models", "handler": "client", "style": "secondary"}]}`,
		Parse: func(raw json.RawMessage) (json.RawMessage, error) {
			var b body
			if err := json.Unmarshal(raw, &b); err != nil {
				return nil, err
			}
			for i := range b.Actions {
				if err := b.Actions[i].complete(actions); err != nil {
					return nil, err
				}
			}
			return PlainJSON(b)
		},
		Summarize: func(data json.RawMessage) string {
			var b body
			_ = json.Unmarshal(data, &b)
			return fmt.Sprintf("%d buttons", len(b.Actions))
		},
	}
}

// complete fills in what the model left out and refuses a client action that
// the page does not have: a button must not do nothing.
func (a *SuggestedAction) complete(known []ClientAction) error {
	if a.Handler == "" {
		a.Handler = "client"
	}
	if a.Style == "" {
		a.Style = "secondary"
	}
	if a.Handler == "server" {
		return nil
	}
	for _, k := range known {
		if k.Action == a.Action {
			return nil
		}
	}
	return fmt.Errorf("there is no client action %q here", a.Action)
}
