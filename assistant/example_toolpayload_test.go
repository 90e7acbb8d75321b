package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// A tool returns data for the user as a payload of a registered type. A tool that the open
// page does not list is unknown to the model: the call is a silent one of the pair.
func ExampleToolResult() {
	measure := assistant.NewTool("measure", "Measure the temperature.", func(context.Context, struct{}) (assistant.ToolResult, error) {
		r := assistant.OK("21 degrees", nil)
		r.Payload = &assistant.Payload{Type: "temperature", Data: json.RawMessage(`{"degrees":21}`)}
		return r, nil
	})
	h, pages, registry, ctx := &house{open: "radio"}, &assistant.Pages{}, &llm.Registry{}, context.Background()
	measure.Global = true
	script := at.NewScript(
		at.Answer{at.Call{Name: "dim_lamp", Arguments: `{"percent": 40}`}}, // listed by the other page
		at.Answer{at.Call{Name: "measure", Arguments: `{}`}},
		at.Answer{at.Say("It is warm.")},
	)
	err := errors.Join(
		h.register(pages), pages.AddTool(measure),
		pages.AddPayload(assistant.PayloadType{Name: "temperature", Description: "a temperature", Source: assistant.FromTool, Global: true}),
		registry.Add(llm.Provider{Name: "house", Model: script}),
	)
	if err != nil {
		log.Fatal(err)
	}
	session, err := assistant.NewSession(registry, assistant.Options{Window: h, Pages: pages, Model: "house/butler", WithoutCheckpoints: true})
	if err != nil {
		log.Fatal(err)
	}
	after, err := session.Begin(ctx, assistant.Prompt{Text: "How warm is it? Dim the lamp."})
	if err != nil {
		log.Fatal(err)
	}
	for e := range session.Events(ctx, after) {
		if done, ok := e.(assistant.ToolComplete); ok {
			fmt.Println(done.Tool, done.Payload.Summary, string(done.Payload.Data))
		}
	}
	pairs, err := session.Pairs(ctx, []int64{session.Visible()[0].Seq})
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range pairs[0].ToolCalls {
		fmt.Println(call.Name, "silent:", call.Silent, call.Result.ErrorCode)
	}
	// Output:
	// measure a temperature {"degrees":21}
	// dim_lamp silent: true unknown_tool
	// measure silent: false
}
