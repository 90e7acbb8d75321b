package assistant

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Payload is structured data of a conversation that a user interface shows as a card.
type Payload struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	// Summary is one line about the data, for later prompts and folded cards.
	Summary string `json:"summary,omitempty"`
	// Decision is what the user made of a proposal: "", "accepted" or "rejected".
	Decision string `json:"decision,omitempty"`
}

// PayloadSource says who makes payloads of a type.
type PayloadSource string

// The sources of spec §7.3.
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

	// Marker starts the payload in the model's text, "RULE_PROPOSAL:". Only of FromLLM.
	Marker string
	// Parse turns the JSON after the marker into the data; nil keeps it. An error leaves the text visible.
	Parse func(raw json.RawMessage) (json.RawMessage, error)
	// Instructions tell the model when and how to write it.
	Instructions string
	// Calls are the tool calls that carry out an accepted proposal; nil when
	// there is nothing to accept.
	Calls func(data json.RawMessage) ([]Call, error)
}

// summary is one line about data, whatever the type leaves out.
func (t PayloadType) summary(data json.RawMessage) string {
	if t.Summarize != nil {
		if s := t.Summarize(data); s != "" {
			return s
		}
	}
	if t.Description != "" {
		return t.Description
	}
	return t.Name
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
