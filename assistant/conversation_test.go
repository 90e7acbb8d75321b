package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/message"
)

func conversation(t testing.TB, registry *llm.Registry, list *message.List, config assistant.Config) *assistant.Conversation {
	t.Helper()
	c, err := assistant.NewConversation(registry, list, config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var weather = assistant.NewTool("get_weather", "Tells the weather.", func(_ context.Context, a struct {
	Location string `json:"location"`
},
) (string, error) {
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
	wantEqual(t, "before", len(*c.Messages()), 0)
	got, err := one.Conversation()
	if err != nil || got != c {
		t.Fatalf("conversation %p, %v, want %p", got, err, c)
	}
	wantEqual(t, "after one", len(*c.Messages()), 2)
	wantEqual(t, "trimmed", (*c.Messages())[0].(*message.Agent).Text, "be brief")
	wantEqual(t, "model", c.Config().Model, "")
	if _, err := two.Conversation(); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "after two", len(*c.Messages()), 6)
	wantEqual(t, "config", fmt.Sprint(c.Config().Provider, c.Config().Model, len(c.Config().Tools)), "atools1")
	roles := ""
	for _, m := range *c.Messages() {
		if m, ok := m.(*message.Text); ok {
			roles += string(m.Role[0])
		}
	}
	wantEqual(t, "roles", roles, "uuau")
}

func TestBranchesOfABuilderDoNotMeet(t *testing.T) {
	for n := range 9 { // whatever room is left behind the deltas
		c := conversation(t, providers(t, at.NewScript(), at.NewScript()), nil, assistant.Config{})
		base := c.Continuation()
		for range n {
			base = base.Context("shared")
		}
		left, right := base.Request("left"), base.Request("right")
		for want, b := range map[string]assistant.Builder{"left": left, "right": right} {
			if _, err := b.Conversation(); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "last", (*c.Messages())[len(*c.Messages())-1].(*message.Text).Text, want)
		}
	}
}

func TestAFailedCallThatWasReadBackTellsItsError(t *testing.T) {
	list, err := message.Read([]byte(`{"messages":[{"type":"TextMessage","text":"go","role":"user"},
		{"type":"ToolCallMessage","message":"","tool_name":"t","tool_call_id":"c","arguments":null,"result":null,"error":"no such place","role":"assistant"}],"version":"1.0"}`))
	if err != nil {
		t.Fatal(err)
	}
	script := at.NewScript(at.Answer{at.Say("ok")})
	c := conversation(t, providers(t, script, at.NewScript()), &list, assistant.Config{Model: "a/tools"})
	if _, err := c.Continuation().Request("and?").Prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := results(t, script.Requests()[0])
	if len(got) != 1 || got[0].Success || got[0].Message != "no such place" {
		t.Errorf("results = %+v", got)
	}
	wantEqual(t, "arguments", script.Requests()[0].Messages[1].Calls[0].Arguments, "{}")
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
			var config *llm.ConfigError
			if !errors.As(err, &config) {
				t.Errorf("%s: %v is no *ConfigError", name, err)
			}
		}
		if len(*c.Messages()) != 0 || c.Config().Provider != "a" || len(c.Config().Tools) != 1 {
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
		case *message.ToolCall:
			got = append(got, fmt.Sprintf("%s|%s|%v", m.Message, m.ToolName, m.Error == nil))
		case *message.Text:
			got = append(got, m.Text)
		case *message.Agent:
		}
		if last := (*c.Messages())[len(*c.Messages())-1]; m != last && got[0] != "I look.|get_weather|true" {
			t.Errorf("%v was yielded before it was appended", m)
		}
	}
	wantList(t, "messages", got, "I look.|get_weather|true", "|get_weather|false", "|get_wether|false", "It is sunny.")
	wantEqual(t, "in the list", len(*c.Messages()), 6)
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
	wantEqual(t, "calls in one message", len(script.Requests()[1].Messages[1].Calls), 2)
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
	list, err := message.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	restored := conversation(t, registry, &list, assistant.Config{})
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

func TestHowARunFails(t *testing.T) {
	refused := &llm.RequestError{Kind: llm.KindAuth, Status: 401, Message: "no key"}
	run := func(script *at.Script) (*assistant.Conversation, error) {
		c := conversation(t, providers(t, script, at.NewScript()), nil, assistant.Config{Model: "a/tools", Tools: []assistant.Tool{weather}})
		_, err := c.Continuation().Request("x").Prompt(t.Context())
		return c, err
	}
	_, err := run(at.NewScript(at.Answer{at.Fail{Err: refused}}))
	var turn *assistant.TurnError
	var re *llm.RequestError
	if !errors.As(err, &turn) || turn.Code != "auth" || !errors.As(err, &re) || re.Status != 401 {
		t.Errorf("refused: %v", err)
	}
	_, err = run(at.NewScript(at.Answer{call("get_weather", `{}`)}))
	if !errors.As(err, &turn) || turn.Code != assistant.CodeInvalidToolCalls {
		t.Errorf("invalid calls: %v", err)
	}
	c, err := run(at.NewScript(at.Answer{call("get_weather", `{"location":"X"}`)}))
	if !errors.Is(err, assistant.ErrRounds) || len(*c.Messages()) != 6 {
		t.Errorf("endless: %v, %d messages", err, len(*c.Messages()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Run(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	for _, err := range c.Run(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		break // stops after this response
	}
	wantEqual(t, "messages after a break", len(*c.Messages()), 7)
}
