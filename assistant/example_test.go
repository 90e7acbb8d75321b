package assistant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// lamp is a window: the assistant sees it, and switches it through its tool.
type lamp struct {
	On bool `json:"on"`
}

func (l *lamp) Describe() string                  { return "You look after a lamp." }
func (l *lamp) Context() (any, error)             { return l, nil }
func (l *lamp) State() (json.RawMessage, error)   { return json.Marshal(l) }
func (l *lamp) Apply(state json.RawMessage) error { return json.Unmarshal(state, l) }
func (l *lamp) Tools() []assistant.Tool {
	type args struct {
		On bool `json:"on" jsonschema:"true switches it on"`
	}
	set := assistant.NewTool("switch_lamp", "Switch the lamp.", func(_ context.Context, a args) (string, error) {
		l.On = a.On
		return fmt.Sprintf("on: %v", l.On), nil
	})
	set.Write = true
	return []assistant.Tool{set}
}

// butler plays the model here; assistant/openai talks to a real one.
func butler(_ context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if req.Messages[len(req.Messages)-1].Role != llm.RoleTool {
			yield(llm.End{Calls: []llm.Call{{Name: "switch_lamp", Arguments: `{"on": true}`}}, Finish: llm.FinishCalls}, nil)
		} else if yield(llm.Text{Text: "There is light."}, nil) {
			yield(llm.End{Finish: "stop"}, nil)
		}
	}
}

func Example() {
	registry := &llm.Registry{}
	if err := registry.Add(llm.Provider{Name: "house", Model: llm.ModelFunc(butler)}); err != nil {
		panic(err)
	}
	session, err := assistant.NewSession(registry, assistant.Options{
		Window: &lamp{}, Model: "house/butler",
		WithoutCheckpoints: true, // with a Journal every change can be taken back
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	after, err := session.Begin(ctx, assistant.Prompt{Text: "Light, please."})
	if err != nil {
		panic(err)
	}
	for e := range session.Events(ctx, after) {
		switch e := e.(type) {
		case assistant.ToolComplete:
			fmt.Println(e.Tool, e.Message)
		case assistant.Complete:
			fmt.Println(e.Payload.Message)
		case assistant.Error:
			fmt.Println("failed:", e.Message)
		default: // the others tell how it goes on
		}
	}
	// Output:
	// switch_lamp on: true
	// [[tool:0]]
	//
	// There is light.
}
