package assistant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// lamp is a window: the assistant sees it, and switches it through its tool.
type lamp struct {
	On bool `json:"on" jsonschema:"true switches it on"`
}

func (l *lamp) Describe() string                  { return "You look after a lamp." }
func (l *lamp) Context() (any, error)             { return l, nil }
func (l *lamp) State() (json.RawMessage, error)   { return json.Marshal(l) }
func (l *lamp) Apply(state json.RawMessage) error { return json.Unmarshal(state, l) }
func (l *lamp) Tools() []assistant.Tool {
	set := assistant.NewTool("switch_lamp", "Switch the lamp.", func(_ context.Context, to lamp) (string, error) {
		*l = to
		return fmt.Sprintf("on: %v", l.On), nil
	})
	set.Write = true
	return []assistant.Tool{set}
}

func Example() {
	registry, ctx := &llm.Registry{}, context.Background()
	script := at.NewScript(at.Answer{at.Call{Name: "switch_lamp", Arguments: `{"on": true}`}}, at.Answer{at.Say("Lit.")})
	if err := registry.Add(llm.Provider{Name: "house", Model: script}); err != nil { // or a client of assistant/openai
		log.Fatal(err)
	}
	options := assistant.Options{Window: &lamp{}, Model: "house/butler", WithoutCheckpoints: true} // checkpoints need a Journal
	session, err := assistant.NewSession(registry, options)
	if err != nil {
		log.Fatal(err)
	}
	after, err := session.Begin(ctx, assistant.Prompt{Text: "Light, please."})
	if err != nil {
		log.Fatal(err)
	}
	for e := range session.Events(ctx, after) { // see Event for the types of events
		if done, ok := e.(assistant.ToolComplete); ok {
			fmt.Println(done.Tool, done.Message)
		}
	}
	// Output: switch_lamp on: true
}
