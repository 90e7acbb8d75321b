package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant/llm"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"
)

// Payload is structured data in a conversation that a user interface shows as a
// card.
type Payload struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	// Summary describes the data in one line, for later prompts and folded
	// cards.
	Summary string `json:"summary,omitempty"`
	// Decision is the user's decision on a proposal: "", "accepted" or "rejected".
	Decision string `json:"decision,omitempty"`
}

// PayloadSource says who creates payloads of a type: FromTool, FromLLM or
// FromBoth.
type PayloadSource string

// The sources of payloads.
const (
	FromTool PayloadSource = "tool" // a tool returns it
	FromLLM  PayloadSource = "llm"  // the model writes it after its marker
	FromBoth PayloadSource = "both" // the model writes it after its marker, or a tool returns it
)

// PayloadType describes a kind of payload. While payloads are in view, the
// model also has the tool get_payload, which fetches one of them.
type PayloadType struct {
	Name        string
	Description string // one line, for cards and later prompts
	Source      PayloadSource
	Global      bool               // available on every page; otherwise only on pages that list it by name
	Schema      *jsonschema.Schema // JSON schema of the data; nil accepts any object
	// Summarize returns a one-line summary of the data; nil uses Description.
	Summarize func(data json.RawMessage) string
	// Title and Icon appear on the card; "" lets the user interface choose.
	Title, Icon string
	// Text returns the data as lines for the card, which the user may confirm
	// by accepting a proposal; nil shows only the summary.
	Text func(data json.RawMessage) safetext.Text

	// Marker starts the payload in the model's text, such as "RULE_PROPOSAL:".
	// With FromTool, Marker, Parse, Begin and Instructions must not be set.
	Marker string
	// Parse turns the JSON after the marker into the data; nil leaves it unchanged.
	// An error leaves the text visible.
	Parse func(raw json.RawMessage) (json.RawMessage, error)
	// Begin returns the Parse for a turn, tied to the position of the turn's window. It
	// is called when the turn begins and again when one of its tools changes the
	// position, so that the data does not depend on what other sessions do. If it is nil,
	// Parse is used.
	Begin func(w Window) (parse func(raw json.RawMessage) (json.RawMessage, error))
	// Instructions tell the model when and how to write the payload.
	Instructions string
	// Calls returns the tool calls that carry out an accepted proposal. They run after a
	// checkpoint, so that their changes can be undone.
	Calls func(data json.RawMessage) ([]llm.Call, error)
	// Accepted and Rejected are called when the user decides, before the
	// decision is stored and before the calls run. An error prevents the
	// decision. They may be called again for a decision that could not be
	// stored.
	Accepted, Rejected func(ctx context.Context, p Payload) error
	// Effects returns what carrying out the proposal would do now; nil if the effects are
	// unknown.
	Effects func(data json.RawMessage) ([]Effect, error)
}

// Proposal reports whether the user accepts or rejects payloads of this type,
// because it has Calls or Accepted.
func (t PayloadType) Proposal() bool { return t.Calls != nil || t.Accepted != nil }

// summary returns one line about data, never "".
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

// begun returns the types with the Parse that Begin returns for w.
func begun(types []PayloadType, w Window) []PayloadType {
	types = slices.Clone(types)
	for i := range types {
		if types[i].Begin != nil {
			types[i].Parse = types[i].Begin(w)
		}
	}
	return types
}

// kindsOf returns the Kinds of the types that a model may write.
func kindsOf(types []PayloadType) (kinds []markup.Kind) {
	for _, t := range types {
		if t.Source != FromTool {
			kinds = append(kinds, markup.Kind{Name: t.Name, Marker: t.Marker, Read: t.read})
		}
	}
	return kinds
}

// The payload types of every session. A window adds its own.
const (
	PayloadValues  = "suggested_values"
	PayloadActions = "suggested_actions"
	PayloadTools   = "tool_history" // only in a Complete: []ToolHistoryEntry
)

// suggestedValues returns the type for suggested next messages, shown as chips
// below the answer.
func suggestedValues() PayloadType {
	type body struct {
		Values []SuggestedValue `json:"values"`
	}
	schema, _ := jsonschema.For[body](nil)
	return PayloadType{
		Name: PayloadValues, Source: FromLLM, Global: true, Schema: schema,
		Description: "next messages the user can choose",
		Marker:      "SUGGESTED_VALUES:",
		Instructions: `SUGGESTED_VALUES - offer up to four likely next messages, on the last line of an answer, when the user has a choice to make:

SUGGESTED_VALUES: {"values": [{"label": "Save", "value": "save the changes"}]}`,
	}
}

// suggestedActions returns the type for the buttons below an answer.
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
