package assistant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant/llm"
	"winnow/assistant/markup"
)

// Payload is structured data of a conversation that a user interface shows as a card.
type Payload struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	// Summary is one line about the data, for later prompts and folded cards.
	Summary string `json:"summary,omitempty"`
	// Decision is the user's decision on a proposal: "", "accepted" or "rejected".
	Decision string `json:"decision,omitempty"`
}

// PayloadSource is who makes payloads of a type.
type PayloadSource string

// Where a payload came from.
const (
	FromTool PayloadSource = "tool" // a tool returns it
	FromLLM  PayloadSource = "llm"  // the model writes it after its marker
)

// PayloadType describes payloads of one kind.
type PayloadType struct {
	Name        string
	Description string
	Source      PayloadSource
	Global      bool               // on every page; otherwise a page lists it by name
	Schema      *jsonschema.Schema // of the data; nil accepts any object
	// Summarize makes one line of the data; nil uses Description.
	Summarize func(data json.RawMessage) string
	// Title and Icon are of its card; "" leaves them to the user interface. Rows
	// are the lines of the card, of plain text; nil shows the summary only.
	Title, Icon string
	Rows        func(data json.RawMessage) []string

	// Marker starts the payload in the model's text, as in "RULE_PROPOSAL:". Only of FromLLM.
	Marker string
	// Parse turns the JSON after the marker into the data; nil leaves it unchanged.
	// An error leaves the text visible.
	Parse func(raw json.RawMessage) (json.RawMessage, error)
	// Instructions are for the model: when and how to write it.
	Instructions string
	// Calls are the tool calls that carry out an accepted proposal; nil when
	// there is nothing to accept.
	Calls func(data json.RawMessage) ([]llm.Call, error)
	// Effects are what carrying them out would do now; nil: that is not known.
	Effects func(data json.RawMessage) ([]Effect, error)
}

// summary is one line about data, never "".
func (t PayloadType) summary(data json.RawMessage) string {
	text := ""
	if t.Summarize != nil {
		text = t.Summarize(data)
	}
	return cmp.Or(text, t.Description, t.Name)
}

// read validates and parses the JSON that followed the marker.
func (t PayloadType) read(raw json.RawMessage) (json.RawMessage, error) {
	if t.Schema != nil {
		if err := validate(t.Schema, raw); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if t.Parse == nil {
		return raw, nil
	}
	return t.Parse(raw)
}

// kindsOf are the Kinds of the types that a model may write.
func kindsOf(types []PayloadType) (kinds []markup.Kind) {
	for _, t := range types {
		if t.Source == FromLLM {
			kinds = append(kinds, markup.Kind{Name: t.Name, Marker: t.Marker, Read: t.read})
		}
	}
	return kinds
}

// The payload types that every session knows. A window adds its own.
const (
	PayloadValues  = "suggested_values"
	PayloadActions = "suggested_actions"
	PayloadTools   = "tool_history" // only in a Complete: []ToolHistoryEntry
)

// suggestedValues are next messages that the user can choose, shown as chips under
// the answer.
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
	}
}

// suggestedActions are buttons under the answer.
func suggestedActions(actions []ClientAction) PayloadType {
	return PayloadType{
		Name: PayloadActions, Source: FromLLM, Global: true,
		Description: "buttons under the answer",
		Marker:      "SUGGESTED_ACTIONS:",
		Instructions: `SUGGESTED_ACTIONS - offer buttons for actions listed under CLIENT ACTIONS:

SUGGESTED_ACTIONS: {"actions": [{"label": "Show them", "action": "show_models", "handler": "client", "style": "secondary"}]}`,
		Parse: func(raw json.RawMessage) (json.RawMessage, error) {
			var body struct {
				Actions []SuggestedAction `json:"actions"`
			}
			if err := json.Unmarshal(raw, &body); err != nil {
				return nil, err
			}
			for i := range body.Actions {
				if err := body.Actions[i].normalize(actions); err != nil {
					return nil, err
				}
			}
			return PlainJSON(body)
		},
	}
}

// normalize fills in what the model left out and refuses a client action that the
// page does not have, because its button would do nothing.
func (a *SuggestedAction) normalize(known []ClientAction) error {
	a.Handler, a.Style = cmp.Or(a.Handler, "client"), cmp.Or(a.Style, "secondary")
	has := func(k ClientAction) bool { return k.Action == a.Action }
	switch {
	case a.Label == "" || a.Action == "":
		return errors.New("an action needs a label and a name")
	case !slices.Contains([]string{"client", "server"}, a.Handler) || !slices.Contains([]string{"primary", "secondary", "warning"}, a.Style):
		return fmt.Errorf("handler %q or style %q is unknown", a.Handler, a.Style)
	case a.Handler == "client" && !slices.ContainsFunc(known, has):
		return fmt.Errorf("there is no client action %q here", a.Action)
	}
	return nil
}
