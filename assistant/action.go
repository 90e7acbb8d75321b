package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant/llm"
)

// ClientAction is an action of the program. The model may suggest it in an
// answer, where the user sees it as a button.
type ClientAction struct {
	Action      string
	Description string
	Schema      *jsonschema.Schema // schema of the data, which is an object; nil if the action takes no data
	// Run carries out the action when Session.Perform is called. If Run is nil,
	// the user interface carries out the action instead.
	Run func(ctx context.Context, data json.RawMessage) error
}

// NewClientAction returns an action whose schema is derived from the Go struct
// A, as in NewTool; the model may add other fields. run may be nil. It panics
// if A has no JSON Schema.
func NewClientAction[A any](action, description string, run func(ctx context.Context, data A) error) ClientAction {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("assistant: client action %s: %v", action, err))
	}
	schema.AdditionalProperties = nil
	a := ClientAction{Action: action, Description: description, Schema: schema}
	if run != nil {
		a.Run = func(ctx context.Context, raw json.RawMessage) error {
			var data A
			if err := json.Unmarshal(raw, &data); err != nil {
				return err
			}
			return run(ctx, data)
		}
	}
	return a
}

// fields returns the sorted names of the fields in the schema.
func (a ClientAction) fields() []string {
	if a.Schema == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(a.Schema.Properties))
}

// check returns an error if data does not match the schema.
func (a ClientAction) check(data json.RawMessage) error {
	if a.Schema == nil {
		return nil
	}
	if err := validate(a.Schema, dataOf(data)); err != nil {
		return fmt.Errorf("invalid data for %s: %w", a.Action, err)
	}
	return nil
}

// dataOf returns the data of an action, or an empty object if there is none.
func dataOf(data json.RawMessage) json.RawMessage {
	if len(data) == 0 || string(data) == "null" {
		return json.RawMessage("{}")
	}
	return data
}

// Perform carries out a suggested action by calling the Run function of the
// current page's ClientAction. It returns ErrNotAction if the page has no such
// action, if the user interface handles it, or if the action is sent to the
// model (see SuggestedAction.Message).
func (s *Session) Perform(ctx context.Context, a SuggestedAction) error {
	offered, err := s.available(nil)
	if err != nil {
		return err
	}
	actions := offered.Page.ClientActions
	i := slices.IndexFunc(actions, func(have ClientAction) bool { return have.Action == a.Action })
	if i < 0 || actions[i].Run == nil || a.Handler == "server" {
		return fmt.Errorf("%w: %s", ErrNotAction, a.Action)
	}
	if err := errors.Join(actions[i].check(a.Data), s.Needs(RoleWrite)); err != nil {
		return err
	}
	return actions[i].Run(s.ToolContext(ctx), dataOf(a.Data))
}

// checkActions returns an error if a client action of a page has no name, or
// the same name as another.
func checkActions(p Page) error {
	for i, a := range p.ClientActions {
		same := func(other ClientAction) bool { return other.Action == a.Action }
		if a.Action == "" || slices.ContainsFunc(p.ClientActions[:i], same) {
			return &llm.ConfigError{Field: "page", Reason: fmt.Sprintf("client action %q of page %q is registered twice or has no name", a.Action, p.Name)}
		}
	}
	return nil
}

// normalize sets the default handler and style, and rejects an invalid action.
// A client action that the page does not have is invalid, because its button
// would do nothing.
func (a *SuggestedAction) normalize(known []ClientAction) error {
	a.Handler, a.Style = cmp.Or(a.Handler, "client"), cmp.Or(a.Style, "secondary")
	has := func(k ClientAction) bool { return k.Action == a.Action }
	switch {
	case a.Label == "" || a.Action == "":
		return errors.New(`an action needs a "label" and an "action"`)
	case !slices.Contains([]string{"client", "server"}, a.Handler):
		return fmt.Errorf("the handler %q is unknown", a.Handler)
	case !slices.Contains([]string{"primary", "secondary", "warning"}, a.Style):
		return fmt.Errorf("the style %q is unknown", a.Style)
	case a.Handler != "client":
		return nil
	}
	i := slices.IndexFunc(known, has)
	if i < 0 {
		return fmt.Errorf("there is no client action %q here", a.Action)
	}
	return known[i].check(a.Data)
}

// Message returns the text that is sent when the user picks a server action:
// the label followed by the name and data of the action as JSON. ActionContinue
// without data sends only its label.
func (a SuggestedAction) Message() string {
	if string(a.Data) == "null" {
		a.Data = nil
	}
	raw, err := PlainJSON(struct {
		Action string          `json:"action"`
		Data   json.RawMessage `json:"data,omitempty"`
	}{a.Action, a.Data})
	if err != nil || a.Action == ActionContinue && a.Data == nil { // err != nil: the data is not valid JSON
		return string(a.Label)
	}
	return string(a.Label+"\n\n") + string(raw)
}
