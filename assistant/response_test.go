package assistant_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/message"
)

// duration is the shortest of three turns with an answer.
func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		r := noteRig(t, at.NewScript(at.Answer{at.Say(text)}))
		began := time.Now()
		r.send("go")
		best = min(best, time.Since(began))
	}
	return best
}

func TestPayloadMarkersCostLinearTime(t *testing.T) {
	for _, piece := range []string{"NOTE: ", `NOTE: {"wrong": 1} `, `NOTE: {"text":"x"} `, `NOTE: {"`} {
		const n = 4000
		short, long := duration(t, strings.Repeat(piece, n)), duration(t, strings.Repeat(piece, 16*n))
		if ratio := float64(long) / float64(short); ratio > 80 { // 16 is linear, 256 quadratic
			t.Errorf("16 times as many of %q take %.0f times as long (%v, %v)", piece, ratio, short, long)
		}
	}
}

func TestPayloadsBeyondTheBoundAreText(t *testing.T) {
	r := noteRig(t, at.NewScript(at.Answer{at.Say(strings.Repeat(`NOTE: {"text":"x"} `, 100))}))
	r.send("go")
	wantEqual(t, "cards", len(r.last().Payloads), 64)
	wantEqual(t, "as text", strings.Count(string(r.last().AssistantText), "NOTE:"), 36)
}

func TestRetryingOfAnInvalidRoundHolds(t *testing.T) {
	r := newRig(t, at.NewScript(
		at.Answer{call("nobody", "{}")}, at.Answer{call("nobody", "{}")}, at.Answer{at.Say("at last")},
	))
	events := r.send("go")
	for i, e := range events {
		again, ok := e.(assistant.Retrying)
		if !ok {
			continue
		}
		wantEqual(t, "code", again.Code, assistant.CodeInvalidToolCalls)
		if next, ok := events[i+1].(assistant.TextDelta); !ok {
			t.Errorf("after %+v comes %#v, want the text", again, next)
		}
	}
	wantEqual(t, "retries", len(at.Only[assistant.Retrying](events)), 1)
}

func TestCloseLeavesThePairInterrupted(t *testing.T) {
	for name, answers := range map[string][]at.Answer{
		"in the text":  {{at.Say("half of it"), at.Stop{At: at.NewGate()}}},
		"after a tool": {{at.Say("I add."), addWord("two")}, {at.Say("half of it"), at.Stop{At: at.NewGate()}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.NewScript(answers...))
			events := r.begin(assistant.Prompt{Text: "hello"})
			for e := range events {
				if text, ok := e.(assistant.TextDelta); ok && strings.Contains(string(text.Text), "half") {
					break
				}
			}
			r.must(r.session.Close(t.Context()))
			wantError(t, at.Events(t, events), assistant.CodeInterrupted)
			wantEqual(t, "message", r.last().ErrorMessage, "the session ended before the answer was complete")
			p := r.last()
			wantEqual(t, "state", string(p.State)+" "+p.ErrorCode, "error interrupted")
			wantEqual(t, "message", p.UserText, "hello")
			wantIn(t, string(p.AssistantText), "half of it")
			r.must(r.session.Close(t.Context())) // with nothing to end
		})
	}
}

func TestAnOverflowTeachesTheLimit(t *testing.T) {
	overflow := at.Answer{at.Fail{Err: &llm.RequestError{Kind: llm.KindOverflow, Status: 400, Message: "too long", Limit: 6000}}}
	r := trimRig(t, 3, at.NewScript(overflow, at.Answer{at.Say("ok")}), assistant.Settings{})
	r.send("go")
	wantEqual(t, "limit", r.session.Boundary().ML, 6000)
}

func TestTheCounterCountsWhatIsLeftOutWhileItIsTried(t *testing.T) {
	gate := at.NewGate()
	r := trimRig(t, 3, at.NewScript(at.Overflow(), at.Overflow(), at.Answer{at.Stop{At: gate}, at.Say("ok")}), assistant.Settings{})
	events := r.begin(assistant.Prompt{Text: "go"})
	gate.Wait(t)
	wantEqual(t, "counter", r.session.Counter(), "[3-2]/3")
	gate.Open()
	at.Events(t, events)
	wantEqual(t, "counter after the send", r.session.Counter(), "[3-2]/3")
	r.session.SetView(r.session.Visible()[2:], "x")
	wantEqual(t, "counter of another view", r.session.Counter(), "2/2")
}

func TestModelsThatVanishedAreForgotten(t *testing.T) {
	list := []llm.ModelInfo{{ID: "p/a", Source: "live"}, {ID: "p/b", Source: "live"}}
	registry := &llm.Registry{}
	err := registry.Add(llm.Provider{
		Name: "p", Model: at.NewScript(), Known: []llm.ModelInfo{{ID: "p/known", Source: "cache"}},
		List: func(context.Context) ([]llm.ModelInfo, error) { return list, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := func() string {
		var out []string
		for _, m := range registry.Models() {
			out = append(out, m.ID)
		}
		return strings.Join(out, " ")
	}
	registry.Learn(llm.ModelInfo{ID: "p/mine", Source: "config"})
	registry.Refresh(t.Context())
	wantEqual(t, "models", ids(), "p/a p/b p/known p/mine")
	list = list[:1]
	registry.Refresh(t.Context())
	wantEqual(t, "models without p/b", ids(), "p/a p/known p/mine")
}

func TestAModelThatVanishedIsNotSentTo(t *testing.T) {
	list := []llm.ModelInfo{{ID: "p/a", Source: "live"}, {ID: "p/b", Source: "live"}}
	script := at.NewScript(at.Answer{at.Say("ok")})
	registry := &llm.Registry{}
	err := registry.Add(llm.Provider{
		Name: "p", Model: script, List: func(context.Context) ([]llm.ModelInfo, error) { return list, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	registry.Refresh(t.Context())
	s, err := assistant.NewSession(registry, assistant.Options{Model: "p/b"})
	if err != nil {
		t.Fatal(err)
	}
	list = list[:1]
	registry.Refresh(t.Context())
	if _, err := at.Send(t.Context(), s, assistant.Prompt{Text: "hello"}); !errors.Is(err, llm.ErrModelGone) {
		t.Errorf("Send = %v, want ErrModelGone", err)
	}
	if err := s.SetModel("p/b"); !errors.Is(err, llm.ErrModelGone) {
		t.Errorf("SetModel = %v, want ErrModelGone", err)
	}
	wantEqual(t, "requests", len(script.Requests()), 0)
	wantEqual(t, "selected model", s.Model(), "p/b")
	list = nil // the endpoint was not asked: nothing is known to be gone
	registry.Refresh(t.Context())
	if err := s.SetModel("p/a"); err != nil {
		t.Errorf("SetModel of a model that was not looked for: %v", err)
	}
	list = []llm.ModelInfo{{ID: "p/b", Source: "live"}}
	registry.Refresh(t.Context())
	if err := s.SetModel("p/b"); err != nil {
		t.Errorf("SetModel of a model that came back: %v", err)
	}
}

func TestWhatIsLogged(t *testing.T) {
	var out bytes.Buffer
	r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}), func(o *assistant.Options) {
		o.Log = slog.New(slog.NewTextHandler(&out, nil))
	})
	r.must(r.session.SetModel("test/small"))
	wantIn(t, out.String(), "model selected", "test/small")
	r.must(r.session.SetModel("test/script"))
	r.send("add")
	r.window.BreakApply = errors.New("broken window")
	if _, err := r.session.Rollback(t.Context(), r.session.Checkpoints()[0].ID, "both", newestStep(r.session)); err == nil {
		t.Fatal("the rollback of a broken window worked")
	}
	wantIn(t, out.String(), "level=ERROR", "rollback failed", "broken window")
}

func TestTextIsSanitisedWhenTheDeltaIsMade(t *testing.T) {
	c := conversation(t, providers(t, at.NewScript(), at.NewScript()), nil, assistant.Config{})
	if _, err := c.Continuation().Agent("a\x1b[31mb").Request("x\u202ey\x00z\xff").Conversation(); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "agent", (*c.Messages())[0].(*message.Agent).Text, "ab")
	wantEqual(t, "request", (*c.Messages())[1].(*message.Text).Text, "xyz\ufffd")
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.send("x\u202ey\x00z")
	wantEqual(t, "of a session", r.last().UserText, "xyz")
}

func TestRunYieldsACallWhenItIsDone(t *testing.T) {
	var order []string
	tool := assistant.NewTool("step", "Does a step.", func(context.Context, struct{}) (string, error) {
		order = append(order, "ran")
		return "ok", nil
	})
	script := at.NewScript(at.Answer{call("step", "{}"), call("step", "{}")}, at.Answer{at.Say("done")})
	c := conversation(t, providers(t, script, at.NewScript()), nil, assistant.Config{Model: "a/tools", Tools: []assistant.Tool{tool}})
	if _, err := c.Continuation().Request("go").Conversation(); err != nil {
		t.Fatal(err)
	}
	for m, err := range c.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.(*message.ToolCall); ok {
			order = append(order, "yielded")
		}
	}
	wantList(t, "order", order, "ran", "yielded", "ran", "yielded")
}

func TestSamplingReachesTheModel(t *testing.T) {
	cold, seed := 0.0, int64(7)
	sampling := llm.Sampling{Temperature: &cold, MaxTokens: 5, ReasoningEffort: "low", Seed: &seed}
	script := at.NewScript(at.Answer{at.Say("ok")}, at.Answer{at.Say("ok")})
	c := conversation(t, providers(t, script, at.NewScript()), nil, assistant.Config{Model: "a/tools"})
	for _, b := range []assistant.Builder{c.Continuation().Sampling(sampling), c.Continuation()} {
		if _, err := b.Request("go").Prompt(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "of the run", script.Requests()[0].Sampling, sampling)
	wantEqual(t, "of the next run", script.Requests()[1].Sampling, llm.Sampling{})

	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}, at.Answer{at.Say("ok")}))
	r.turn(assistant.Prompt{Text: "a", Sampling: sampling})
	r.send("b")
	wantEqual(t, "of the turn", r.script.Requests()[0].Sampling, sampling)
	wantEqual(t, "of the next turn", r.script.Requests()[1].Sampling, llm.Sampling{})
}
