package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// scene is a proposal that the model writes and the user accepts or rejects.
type scene struct {
	Percent int `json:"percent"`
}

// sceneType carries an accepted scene out by a tool call, so that it can be undone.
func sceneType() (assistant.PayloadType, error) {
	schema, err := jsonschema.For[scene](nil)
	return assistant.PayloadType{
		Name: "scene", Source: assistant.FromLLM, Schema: schema, Marker: "SCENE:",
		Instructions: `SCENE - propose a light: SCENE: {"percent": 10}`,
		Text: func(data json.RawMessage) safetext.Text {
			var s scene
			_ = json.Unmarshal(data, &s) // it fits the schema
			return safetext.Sprintf("light at %d %%", s.Percent)
		},
		Calls: func(data json.RawMessage) ([]llm.Call, error) {
			return []llm.Call{{Name: "dim_lamp", Arguments: string(data)}}, nil
		},
		Rejected: func(context.Context, assistant.Payload) error {
			fmt.Println("the program hears that it was rejected")
			return nil
		},
	}, err
}

// The model proposes; the user decides; an accepted proposal runs as a turn of its own.
func ExamplePayloadType() {
	kind, err := sceneType()
	h, pages, registry, ctx := &house{open: "evening"}, &assistant.Pages{}, &llm.Registry{}, context.Background()
	script := at.NewScript(at.Answer{at.Say(`How about this? SCENE: {"percent": 10} SCENE: {"percent": 90}`)})
	err = errors.Join(err, h.register(pages), pages.AddPayload(kind),
		pages.AddPage(assistant.Page{Name: "evening", Tools: []string{"dim_lamp"}, Payloads: []string{"scene"}}),
		registry.Add(llm.Provider{Name: "house", Model: script}))
	if err != nil {
		log.Fatal(err)
	}
	session, err := assistant.NewSession(registry, assistant.Options{
		Window: h, Pages: pages, Model: "house/butler", WithoutCheckpoints: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	after, err := session.Begin(ctx, assistant.Prompt{Text: "Make it cosy."})
	if err != nil {
		log.Fatal(err)
	}
	var pair int64
	var proposed []string
	for e := range session.Events(ctx, after) {
		switch e := e.(type) {
		case assistant.TurnStarted:
			pair = e.Seq
		case assistant.PayloadFound:
			fmt.Println(kind.Text(e.Payload.Data))
			proposed = append(proposed, e.Payload.ID)
		default:
		}
	}
	if after, err = session.Decide(ctx, pair, proposed[:1], true); err != nil {
		log.Fatal(err)
	}
	for e := range session.Events(ctx, after) {
		if e, ok := e.(assistant.ToolComplete); ok {
			fmt.Println(e.Message)
		}
	}
	if _, err = session.Decide(ctx, pair, proposed[1:], false); err != nil {
		log.Fatal(err)
	}
	// Output:
	// light at 10 %
	// light at 90 %
	// the lamp is at 10 %
	// the program hears that it was rejected
}
