package assistant_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// drawer is a model that draws.
type drawer struct {
	*at.Script
	model, prompt string
}

func (d *drawer) Image(_ context.Context, model, prompt string) (llm.Image, error) {
	d.model, d.prompt = model, prompt
	return llm.Image{Data: []byte("png"), MIMEType: "image/png"}, nil
}

// two providers: "a" with a plain and a capable model, "b" that draws.
func providers(t testing.TB, a, b llm.Model) *llm.Registry {
	t.Helper()
	registry := &llm.Registry{}
	for _, p := range []llm.Provider{
		{Name: "a", Model: a, Known: []llm.ModelInfo{
			{ID: "a/embed", Context: 1 << 20, Known: true, Tools: true, Reasons: true, NoChat: true},
			{ID: "a/plain", Context: 1000, Known: true},
			{ID: "a/tools", Context: 10_000, Known: true, Tools: true},
			{ID: "a/wise", Context: 5000, Known: true, Tools: true, Reasons: true},
		}},
		{Name: "b", Model: b, Known: []llm.ModelInfo{{ID: "b/draws", Known: true, Images: true, Context: 100}, {ID: "b/tools", Tools: true}}},
	} {
		if err := registry.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return registry
}

func TestProviderAndModelChangeBetweenTurns(t *testing.T) {
	a, b := at.NewScript(at.Answer{at.Say("a")}), at.NewScript(at.Answer{at.Say("b")})
	c := conversation(t, providers(t, a, b), nil, assistant.Config{Model: "a/tools"})
	for _, step := range []struct {
		to   assistant.Builder
		want string
	}{
		{c.Continuation(), "a"},
		{c.Continuation().Provider("b"), "b"},
		{c.Continuation().Model("a/plain"), "a"},
		{c.Continuation().Model("tools").Provider("b"), "b"},
		{c.Continuation().Provider("a").Model("wise"), "a"},
	} {
		text, err := step.to.Request("who?").Prompt(t.Context())
		if err != nil || text != step.want {
			t.Errorf("Prompt = %q, %v, want %q", text, err, step.want)
		}
	}
	names := ""
	for _, req := range append(a.Requests(), b.Requests()...) {
		names += req.Model + " "
	}
	wantEqual(t, "models", names, "tools plain wise draws tools ")
}

func TestSelectionChecksWhatIsNeeded(t *testing.T) {
	long := strings.Repeat("long ", 1000) // 1,429 tokens
	for _, tt := range []struct {
		name   string
		config assistant.Config
		text   string
		want   string // model, or a part of the error
	}{
		{"first that chats", assistant.Config{}, "x", "plain"},
		{"tools", assistant.Config{Tools: []assistant.Tool{weather}}, "x", "tools"},
		{"reasoning", assistant.Config{Reasoning: true}, "x", "wise"},
		{"context", assistant.Config{}, long, "tools"},
		{"provider", assistant.Config{Provider: "b", Tools: []assistant.Tool{weather}}, "x", "tools"},
		{"unlisted model", assistant.Config{Model: "a/secret"}, "x", "secret"},
		{"cannot call tools", assistant.Config{Model: "a/plain", Tools: []assistant.Tool{weather}}, "x", "cannot call tools"},
		{"cannot reason", assistant.Config{Model: "a/tools", Reasoning: true}, "x", "cannot reason"},
		{"cannot chat", assistant.Config{Model: "a/embed"}, "x", "cannot chat"},
		{"too long", assistant.Config{Model: "a/plain"}, long, "accepts 1000 tokens"},
		{"nobody can", assistant.Config{Provider: "a", Reasoning: true, Tools: []assistant.Tool{weather}}, strings.Repeat(long, 10), "no known model meets these requirements: provider a, tools, reasoning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := at.NewScript(at.Answer{at.Say("ok")}), at.NewScript(at.Answer{at.Say("ok")})
			c := conversation(t, providers(t, a, b), nil, tt.config)
			_, err := c.Continuation().Request(tt.text).Prompt(t.Context())
			reqs := append(a.Requests(), b.Requests()...)
			var config *llm.ConfigError
			switch {
			case err == nil && len(reqs) == 1:
				wantEqual(t, "model", reqs[0].Model, tt.want)
			case errors.As(err, &config) && len(reqs) == 0:
				wantIn(t, err.Error(), tt.want)
			default:
				t.Errorf("err %v, %d requests", err, len(reqs))
			}
		})
	}
}

func TestPromptForImage(t *testing.T) {
	d := &drawer{Script: at.NewScript()}
	c := conversation(t, providers(t, at.NewScript(), d), nil, assistant.Config{Tools: []assistant.Tool{weather}})
	image, err := c.Continuation().Agent("in oil").Provider("b").Request("a cat").PromptForImage(t.Context())
	if err != nil || string(image.Data) != "png" {
		t.Fatalf("PromptForImage = %+v, %v", image, err)
	}
	wantEqual(t, "asked", d.model+": "+d.prompt, "draws: in oil\n\na cat")
	var config *llm.ConfigError
	if _, err := c.Continuation().Model("a/plain").PromptForImage(t.Context()); !errors.As(err, &config) {
		t.Errorf("a model that cannot draw: %v", err)
	}
}
