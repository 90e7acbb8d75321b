package assistant_test

import (
	"context"
	"fmt"
	"log"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/message"
)

// A Conversation is a model with tools: no window, no history, no checkpoints.
func ExampleConversation() {
	registry, ctx := &llm.Registry{}, context.Background()
	script := at.NewScript(
		at.Answer{at.Call{Name: "add", Arguments: `{"a": 19, "b": 23}`}}, at.Answer{at.Say("It is 42.")},
		at.Answer{at.Say("Forty-two.")})
	if err := registry.Add(llm.Provider{Name: "school", Model: script}); err != nil {
		log.Fatal(err)
	}
	type numbers struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	add := assistant.NewTool("add", "Add two numbers.", func(_ context.Context, n numbers) (string, error) {
		return fmt.Sprint(n.A + n.B), nil
	})
	conversation, err := assistant.NewConversation(registry, nil, assistant.Config{Model: "school/pupil"})
	if err != nil {
		log.Fatal(err)
	}
	// A Builder composes what comes next; nothing happens before Prompt or Conversation.
	ask := conversation.Continuation().Agent("You are good at sums.").Tools(add).Request("What is 19 and 23?")
	if _, err := ask.Conversation(); err != nil {
		log.Fatal(err)
	}
	for m, err := range conversation.Run(ctx) {
		switch m := m.(type) {
		case *message.ToolCall:
			fmt.Println(m.ToolName, string(m.Result))
		case *message.Text:
			fmt.Println(m.Text)
		default:
			log.Fatal(err)
		}
	}
	cold := 0.0
	text, err := conversation.Continuation().Request("In words?").Sampling(llm.Sampling{Temperature: &cold}).Prompt(ctx)
	fmt.Println(text, err)
	// Output:
	// add {"success":true,"message":"42"}
	// It is 42.
	// Forty-two. <nil>
}
