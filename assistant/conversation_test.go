package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// drawer is a model that draws.
type drawer struct {
	*at.Script
	model, prompt string
}

func (d *drawer) Image(_ context.Context, model, prompt string) (assistant.Image, error) {
	d.model, d.prompt = model, prompt
	return assistant.Image{Data: []byte("png"), MIMEType: "image/png"}, nil
}

// two providers: "a" with a plain and a capable model, "b" that draws.
func providers(t testing.TB, a, b assistant.Model) *assistant.Registry {
	t.Helper()
	registry := &assistant.Registry{}
	for _, p := range []assistant.Provider{
		{Name: "a", Model: a, Known: []assistant.ModelInfo{
			{ID: "a/embed", Context: 1 << 20, Known: true, Tools: true, Reasons: true, NoChat: true},
			{ID: "a/plain", Context: 1000, Known: true},
			{ID: "a/tools", Context: 10_000, Known: true, Tools: true},
			{ID: "a/wise", Context: 5000, Known: true, Tools: true, Reasons: true},
		}},
		{Name: "b", Model: b, Known: []assistant.ModelInfo{{ID: "b/draws", Known: true, Images: true, Context: 100}, {ID: "b/tools", Tools: true}}},
	} {
		if err := registry.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return registry
}

func conversation(t testing.TB, registry *assistant.Registry, list *assistant.MessageList, config assistant.Config) *assistant.Conversation {
	t.Helper()
	c, err := assistant.NewConversation(registry, list, config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var weather = assistant.NewTool("get_weather", "Tells the weather.", func(_ context.Context, a struct {
	Location string `json:"location"`
}) (string, error) {
	if a.Location == "Nowhere" {
		return "", errors.New("no such place")
	}
	return "Sunny in " + a.Location, nil
})

func TestBuildersAreImmutableAndShareTheConversation(t *testing.T) {
	c := conversation(t, providers(t, at.NewScript(at.Answer{at.Say("ok")}), at.NewScript()), nil, assistant.Config{})
	base := c.Continuation().Agent("  be brief  ")
	one := base.Request("one")
	two := base.Context("know this").Assistant("I do").Request("two").Provider("a").Model("tools").Tools(weather)
	wantEqual(t, "before", c.Messages().Len(), 0)
	got, err := one.Conversation()
	if err != nil || got != c {
		t.Fatalf("conversation %p, %v, want %p", got, err, c)
	}
	wantEqual(t, "after one", c.Messages().Len(), 2)
	wantEqual(t, "trimmed", c.Messages().At(0).(*assistant.AgentMessage).Text, "be brief")
	wantEqual(t, "model", c.Config().Model, "")
	if _, err := two.Conversation(); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "after two", c.Messages().Len(), 6)
	wantEqual(t, "config", fmt.Sprint(c.Config().Provider, c.Config().Model, len(c.Config().Tools)), "atools1")
	roles := ""
	for _, m := range c.Messages().All() {
		if m, ok := m.(*assistant.TextMessage); ok {
			roles += string(m.Role[0])
		}
	}
	wantEqual(t, "roles", roles, "uuau")
}

func TestDeltasAreAppliedAllOrNone(t *testing.T) {
	c := conversation(t, providers(t, at.NewScript(), at.NewScript()), nil, assistant.Config{Provider: "a", Tools: []assistant.Tool{weather}})
	for name, b := range map[string]assistant.Builder{
		"provider": c.Continuation().Request("x").Provider("nobody"),
		"model":    c.Continuation().Request("x").Model(""),
		"tools":    c.Continuation().Request("x").Provider("b").Tools(weather),
		"request":  c.Continuation().Agent("x").Request("   "),
	} {
		_, err := b.Conversation()
		var delta *assistant.DeltaError
		if !errors.As(err, &delta) || delta.Delta != name {
			t.Errorf("%s: %v", name, err)
		}
		if name != "request" {
			var config *assistant.ConfigError
			if !errors.As(err, &config) {
				t.Errorf("%s: %v is no *ConfigError", name, err)
			}
		}
		if c.Messages().Len() != 0 || c.Config().Provider != "a" || len(c.Config().Tools) != 1 {
			t.Errorf("%s: a part was applied", name)
		}
	}
	if _, err := (assistant.Builder{}).Request("x").Conversation(); err == nil {
		t.Error("a builder without conversation works")
	}
	if _, err := assistant.NewConversation(nil, nil, assistant.Config{}); err == nil {
		t.Error("a conversation without registry")
	}
}

func TestRunYieldsEveryMessage(t *testing.T) {
	script := at.NewScript(
		at.Answer{at.Say("I look."), call("get_weather", `{"location":"Paris"}`), call("get_weather", `{"location":"Nowhere"}`)},
		at.Answer{call("get_wether", `{}`)},
		at.Answer{at.Say("It is sunny.")},
	)
	c := conversation(t, providers(t, script, at.NewScript()), nil, assistant.Config{Model: "a/tools", Tools: []assistant.Tool{weather}})
	if _, err := c.Continuation().Agent("be brief").Request("weather?").Conversation(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for m, err := range c.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *assistant.ToolCallMessage:
			got = append(got, fmt.Sprintf("%s|%s|%v", m.Message, m.ToolName, m.Error == nil))
		case *assistant.TextMessage:
			got = append(got, m.Text)
		case *assistant.AgentMessage:
		}
		if last := c.Messages().At(c.Messages().Len() - 1); m != last && got[0] != "I look.|get_weather|true" {
			t.Errorf("%v was yielded before it was appended", m)
		}
	}
	wantList(t, "messages", got, "I look.|get_weather|true", "|get_weather|false", "|get_wether|false", "It is sunny.")
	wantEqual(t, "in the list", c.Messages().Len(), 6)
	second := script.Requests()[1].Messages
	if len(second) != 5 || len(second[2].Calls) != 2 || second[2].Content != "I look." || second[3].CallID != second[2].Calls[0].ID {
		t.Errorf("second request: %+v", second)
	}
	wantIn(t, results(t, script.Requests()[2])[2].Message, "Did you mean 'get_weather'?")
}

func TestPromptReturnsTheLastText(t *testing.T) {
	c := conversation(t, providers(t, at.NewScript(at.Answer{at.Say("x"), call("get_weather", `{"location":"Rome"}`)}, at.Answer{at.Say(" Sunny. ")}), at.NewScript()), nil, assistant.Config{})
	text, err := c.Continuation().Model("a/tools").Tools(weather).Request("weather?").Prompt(t.Context())
	if err != nil || text != "Sunny." {
		t.Errorf("Prompt = %q, %v", text, err)
	}
}

func TestContinuationDuringAndAfterARun(t *testing.T) {
	script := at.NewScript(at.Answer{call("get_weather", `{"location":"A"}`), call("get_weather", `{"location":"B"}`)}, at.Answer{at.Say("one")}, at.Answer{at.Say("two")})
	c := conversation(t, providers(t, script, at.NewScript()), nil, assistant.Config{Model: "a/tools", Tools: []assistant.Tool{weather}})
	if _, err := c.Continuation().Request("first").Conversation(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range c.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			if _, err := c.Continuation().Context("by the way").Conversation(); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantList(t, "the next request has it", said(script.Requests()[1]), "first", "by the way")
	wholeExchanges(t, script.Requests()[1])
	text, err := c.Continuation().Request("second").Prompt(t.Context())
	if err != nil || text != "two" {
		t.Errorf("Prompt = %q, %v", text, err)
	}
	wantList(t, "later", said(script.Requests()[2]), "first", "by the way", "second")
}

func TestRestoredAndContinuedOnAnotherProvider(t *testing.T) {
	a := at.NewScript(at.Answer{at.Say("I look."), call("get_weather", `{"location":"Paris"}`)}, at.Answer{at.Say("Sunny.")})
	b := at.NewScript(at.Answer{at.Say("Goodbye.")})
	registry := providers(t, a, b)
	c := conversation(t, registry, nil, assistant.Config{Provider: "a", Tools: []assistant.Tool{weather}})
	if _, err := c.Continuation().Agent("be brief").Request("weather?").Prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := c.Messages().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "Tells the weather") {
		t.Error("a tool was written")
	}
	list, err := assistant.ReadMessageList(raw)
	if err != nil {
		t.Fatal(err)
	}
	restored := conversation(t, registry, list, assistant.Config{})
	text, err := restored.Continuation().Provider("b").Model("tools").Request("thanks").Prompt(t.Context())
	if err != nil || text != "Goodbye." {
		t.Fatalf("Prompt = %q, %v", text, err)
	}
	got, want := b.Requests()[0], a.Requests()[1]
	wantEqual(t, "model", got.Model, "tools")
	for i, m := range want.Messages {
		wantEqual(t, "message", fmt.Sprint(got.Messages[i]), fmt.Sprint(m))
	}
	wantEqual(t, "messages", len(got.Messages), len(want.Messages)+2)
}

func TestProviderAndModelChangeBetweenTurns(t *testing.T) {
	a, b := at.NewScript(at.Answer{at.Say("a")}), at.NewScript(at.Answer{at.Say("b")})
	c := conversation(t, providers(t, a, b), nil, assistant.Config{Model: "a/tools"})
	for _, step := range []struct {
		to   assistant.Builder
		want string
	}{
		{c.Continuation(), "a"}, {c.Continuation().Provider("b"), "b"}, {c.Continuation().Model("a/plain"), "a"},
		{c.Continuation().Model("tools").Provider("b"), "b"}, {c.Continuation().Provider("a").Model("wise"), "a"},
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
		{"too long", assistant.Config{Model: "a/plain"}, long, "takes 1000 tokens"},
		{"nobody can", assistant.Config{Provider: "b", Reasoning: true, Tools: []assistant.Tool{weather}}, strings.Repeat(long, 10), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := at.NewScript(at.Answer{at.Say("ok")}), at.NewScript(at.Answer{at.Say("ok")})
			c := conversation(t, providers(t, a, b), nil, tt.config)
			_, err := c.Continuation().Request(tt.text).Prompt(t.Context())
			reqs := append(a.Requests(), b.Requests()...)
			var config *assistant.ConfigError
			switch {
			case err == nil && len(reqs) == 1:
				if tt.want != "" {
					wantEqual(t, "model", reqs[0].Model, tt.want)
				}
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
	var config *assistant.ConfigError
	if _, err := c.Continuation().Model("a/plain").PromptForImage(t.Context()); !errors.As(err, &config) {
		t.Errorf("a model that cannot draw: %v", err)
	}
}

func TestHowARunFails(t *testing.T) {
	refused := &assistant.RequestError{Kind: assistant.KindAuth, Status: 401, Message: "no key"}
	run := func(script *at.Script) (*assistant.Conversation, error) {
		c := conversation(t, providers(t, script, at.NewScript()), nil, assistant.Config{Model: "a/tools", Tools: []assistant.Tool{weather}})
		_, err := c.Continuation().Request("x").Prompt(t.Context())
		return c, err
	}
	_, err := run(at.NewScript(at.Answer{at.Fail{Err: refused}}))
	var turn *assistant.TurnError
	var re *assistant.RequestError
	if !errors.As(err, &turn) || turn.Code != "auth" || !errors.As(err, &re) || re.Status != 401 {
		t.Errorf("refused: %v", err)
	}
	_, err = run(at.NewScript(at.Answer{call("get_weather", `{}`)}))
	if !errors.As(err, &turn) || turn.Code != assistant.CodeInvalidToolCalls {
		t.Errorf("invalid calls: %v", err)
	}
	c, err := run(at.NewScript(at.Answer{call("get_weather", `{"location":"X"}`)}))
	if !errors.Is(err, assistant.ErrRounds) || c.Messages().Len() != 6 {
		t.Errorf("endless: %v, %d messages", err, c.Messages().Len())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Run(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	for range c.Run(t.Context()) {
		break // stops after this response
	}
	wantEqual(t, "messages after a break", c.Messages().Len(), 7)
}

func TestRegistry(t *testing.T) {
	registry := &assistant.Registry{}
	fails := errors.New("down")
	up := true
	p := assistant.Provider{Name: "p", Model: at.NewScript(), Known: []assistant.ModelInfo{{ID: "p/a", Context: 10, Known: true, Source: "catalogue", PriceIn: 1}},
		List: func(context.Context) ([]assistant.ModelInfo, error) {
			if !up {
				return nil, fails
			}
			return []assistant.ModelInfo{{ID: "p/a", Source: "live"}, {ID: "p/b", Source: "live"}}, nil
		}}
	if err := registry.Add(p); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []assistant.Provider{p, {Name: "q"}, {Name: "a/b", Model: p.Model}, {Model: p.Model}} {
		var config *assistant.ConfigError
		if err := registry.Add(bad); !errors.As(err, &config) {
			t.Errorf("Add(%q) = %v", bad.Name, err)
		}
	}
	wantEqual(t, "refresh", len(registry.Refresh(t.Context())), 0)
	up = false
	wantEqual(t, "failed refresh", registry.Refresh(t.Context(), "p")["p"], fails)
	models := registry.Models()
	if len(models) != 2 || models[0].Context != 10 || models[0].PriceIn != 1 || models[0].Source != "live" {
		t.Errorf("models = %+v", models)
	}
	registry.Learn(assistant.ModelInfo{ID: "p/a", TPM: 5})
	if m := registry.Models()[0]; m.Source != "live" || m.TPM != 5 || m.Context != 10 {
		t.Errorf("after a sparse lesson: %+v", m)
	}
	if _, _, _, err := registry.Open("pp/x"); err == nil || !strings.Contains(err.Error(), "Did you mean 'p'?") {
		t.Errorf("unknown provider: %v", err)
	}
	if _, _, _, err := registry.Open("p"); err == nil {
		t.Error("a model without name opens")
	}
	if _, name, info, err := registry.Open("p/org/new"); err != nil || name != "org/new" || info.ID != "p/org/new" {
		t.Errorf("unlisted: %q, %+v, %v", name, info, err)
	}
}
