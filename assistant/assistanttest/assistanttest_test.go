package assistanttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"
)

func ask(t *testing.T, s *Server, content string) (*http.Response, string) {
	t.Helper()
	body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, content)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res, string(text) + " cut"
	}
	return res, string(text)
}

func TestScript(t *testing.T) {
	lost := errors.New("lost")
	s := NewScript(
		Answer{Think("hm"), Say("a"), Say("b"), Call{Name: "f", Arguments: "{}"}, Call{ID: "x", Name: "g"}},
		Answer{Say("c"), Fail{lost}},
		Answer{Say("d"), Cut{}},
	).Then(Answer{Emit{llm.Wait{For: time.Second}}, Finish{Reason: "length", Usage: &llm.Usage{Prompt: 3}}})
	req := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}
	parts, err := Parts(s.Stream(t.Context(), req))
	text, reasoning, end := JoinParts(parts)
	if text != "ab" || reasoning != "hm" || err != nil || end.Finish != "tool_calls" || fmt.Sprint(end.Calls) != "[{call_1 f {}} {x g }]" {
		t.Errorf("got %q %q %+v %v", text, reasoning, end, err)
	}
	if parts, err := Parts(s.Stream(t.Context(), req)); len(parts) != 1 || !errors.Is(err, lost) {
		t.Errorf("a failure gives %v %v", parts, err)
	}
	if parts, err := Parts(s.Stream(t.Context(), req)); len(parts) != 1 || llm.KindOf(err) != llm.KindInterrupted {
		t.Errorf("a cut gives %v %v", parts, err)
	}
	for range 2 { // the last answer repeats
		parts, err := Parts(s.Stream(t.Context(), req))
		if _, _, end := JoinParts(parts); err != nil || len(parts) != 2 || !end.Cut() || end.Usage.Prompt != 3 {
			t.Errorf("got %v %v", parts, err)
		}
	}
	req.Messages[0].Content = "changed"
	if asked := s.Requests(); len(asked) != 5 || asked[0].Messages[0].Content != "hi" || s.Cancelled() != 0 {
		t.Errorf("%d requests, the first %+v", len(asked), asked[0])
	}
	if _, err := Parts(NewScript().Stream(t.Context(), req)); err == nil {
		t.Error("an empty script answers")
	}
	if _, err := Parts(NewScript(Overflow()).Stream(t.Context(), req)); llm.KindOf(err) != llm.KindOverflow {
		t.Errorf("an overflow gives %v", err)
	}
}

func TestScriptStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := NewGate()
		s := NewScript(Answer{Say("a"), Stop{gate}, Say("b")}, Answer{Stop{NewGate()}})
		go func() {
			<-gate.Reached()
			gate.Open()
			gate.Open()
		}()
		parts, err := Parts(s.Stream(t.Context(), llm.Request{}))
		if text, _, _ := JoinParts(parts); text != "ab" || err != nil {
			t.Errorf("got %q %v", text, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := Parts(s.Stream(ctx, llm.Request{})); !errors.Is(err, context.DeadlineExceeded) || s.Cancelled() != 1 {
			t.Errorf("got %v, %d cancelled", err, s.Cancelled())
		}
	})
}

func TestServer(t *testing.T) {
	s := NewServer(t, Text("hello you"), Pieces(Stream("x"), 1), Respond(429, `{"error":"slow"}`, "Retry-After", "3"), CutAfter("data: x")).
		Then(Calls(Call{Name: "g", Arguments: `{"a":1}`}), TokenLimit(10, Text("first")))
	expect := func(content string, status int, contentType, want string) {
		t.Helper()
		res, body := ask(t, s, content)
		if res == nil || res.StatusCode != status || !strings.HasPrefix(res.Header.Get("Content-Type"), contentType) || !strings.Contains(body, want) {
			t.Fatalf("got %v %q; want %d %s %q", res, body, status, contentType, want)
		}
	}
	expect("a", 200, eventStream, `{"content":"hello "}`)
	expect("a", 200, eventStream, "data: [DONE]\n\n")
	expect("a", 429, "application/json", "slow")
	expect("a", 200, eventStream, "data: x cut")
	expect("a", 200, eventStream, `"name":"g"`)
	expect(strings.Repeat("é", 36), 400, "application/json", "context_length_exceeded")
	expect(strings.Repeat("é", 35), 200, eventStream, "first")
	if asked := s.Asked(); len(asked) != 7 || asked[0].Chat.Messages[0].Content != "a" {
		t.Errorf("%d requests, the first %+v", len(asked), asked[0].Chat)
	}
}

func TestServerNoticesThatTheClientIsGone(t *testing.T) {
	gate := NewGate()
	s := NewServer(t, Stalled("data: a\n\n", gate, "data: b\n\n"))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	gate.Wait(t)
	cancel()
	res.Body.Close()
	if x := s.Gone(t); !x.Gone() {
		t.Error("the exchange is not gone")
	}
}

func TestWindow(t *testing.T) {
	w := NewWindow("cat")
	state, err := w.State()
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]assistant.Tool{}
	for _, tool := range w.Tools() {
		tools[tool.Name] = tool
	}
	run := func(name, args string) assistant.ToolResult {
		return tools[name].Run(t.Context(), json.RawMessage(args))
	}
	if r := run("add_word", `{"word":"dog"}`); !r.Success || len(w.Words()) != 2 || !tools["add_word"].Write {
		t.Errorf("add_word gives %+v", r)
	}
	if r := run("add_word", `{"word":"dog"}`); r.Success {
		t.Errorf("a double gives %+v", r)
	}
	if shown, err := tools["save_words"].Preview(t.Context(), nil); shown.Text != "-cat\n+cat dog" || !shown.Ask || err != nil {
		t.Errorf("preview %+v %v", shown, err)
	}
	run("save_words", `{}`)
	if fmt.Sprint(w.Words(), w.Saved(), w.Runs()) != "[cat dog] [cat dog] [add_word dog add_word dog save_words]" {
		t.Errorf("got %v %v %v", w.Words(), w.Saved(), w.Runs())
	}
	if err := w.Apply(state); err != nil || len(w.Words()) != 1 {
		t.Errorf("the state is not back: %v, %v", w.Words(), err)
	}
	if r := run("fail", `{}`); r.Success || r.ErrorCode != assistant.CodeFailed {
		t.Errorf("fail gives %+v", r)
	}
	if r := run("count_words", `{}`); r.Message != "1" {
		t.Errorf("count_words gives %+v", r)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("panic does not panic")
			}
		}()
		run("panic", `{}`)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := tools["slow"].Run(ctx, json.RawMessage(`{}`)); r.Success {
		t.Errorf("slow gives %+v", r)
	}
	w.Lock()
	if err := w.Type("bird"); err == nil || w.Fault() != nil || !w.Locked() {
		t.Error("a locked window takes words")
	}
	w.Unlock()
	if err := w.Type("bird"); err != nil {
		t.Error(err)
	}
	if changes, next := w.Changes(0); len(changes) != 1 || next != 1 || changes[0]["word"] != "bird" {
		t.Errorf("changes %v, %d", changes, next)
	}
	w.Unlock()
	if w.Fault() == nil || w.Locks() != 1 {
		t.Error("a lost unlock is not noticed")
	}
}

func TestReadersOfEvents(t *testing.T) {
	events := make(chan assistant.Event, 5)
	events <- assistant.TextDelta{Text: "a"}
	events <- assistant.Status{Message: "x"}
	events <- assistant.TextDelta{Text: "b"}
	events <- assistant.Complete{}
	close(events)
	first, status := Until[assistant.Status](t, events)
	rest := Events(t, events)
	if len(first) != 2 || status.Message != "x" || EventText(append(first, rest...)) != "ab" || len(Only[assistant.Complete](rest)) != 1 {
		t.Errorf("got %v and %v", first, rest)
	}
}
