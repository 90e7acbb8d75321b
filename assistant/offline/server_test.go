package offline

import (
	"bufio"
	"bytes"
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
)

// echoing answers with the user's words and, where a tool is offered, a call of it.
func echoing(delay time.Duration) server {
	return server{delay, func(r *request) reply {
		var said []string
		out := reply{reasoning: "reading what was said"}
		for _, x := range append(r.past, r.now) {
			said = append(said, x.user)
			for _, c := range x.calls {
				said = append(said, fmt.Sprintf("%s(%s) is %v", c.name, c.text, c.result != nil && c.result.success))
			}
		}
		for name := range r.tools {
			out.calls = append(out.calls, call{id: "c1", name: name, text: `{"a":1}`})
		}
		out.text = strings.TrimSpace(r.system) + "|" + strings.Join(said, "|")
		return out
	}}
}

func chatBody(tb testing.TB, messages []map[string]any, more map[string]any) []byte {
	tb.Helper()
	m := map[string]any{"model": "rules", "messages": messages}
	for k, v := range more {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// said is a message of the user.
func said(text string) []map[string]any {
	return []map[string]any{{"role": "system", "content": "be brief"}, {"role": "user", "content": text}}
}

func sendTo(t testing.TB, method, path string, b []byte) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, BaseURL+path, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: echoing(0)}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// streamed puts a stream's chunks together again.
type streamed struct {
	text, thought, finish string
	calls                 []call
	usage                 bool
	done                  bool
	chunks                int
}

func readStream(tb testing.TB, text string) streamed {
	tb.Helper()
	var s streamed
	sc := bufio.NewScanner(strings.NewReader(text))
	sc.Buffer(nil, 1<<22)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			s.done = true
			continue
		}
		var c struct {
			Usage   map[string]int `json:"usage"`
			Choices []struct {
				Delta struct {
					Role, Content string
					Reasoning     string `json:"reasoning_content"`
					Calls         []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				Finish *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			tb.Fatalf("chunk %q: %v", data, err)
		}
		s.chunks++
		s.usage = s.usage || c.Usage != nil && c.Usage["total_tokens"] == 0 && len(c.Choices) == 0
		for _, ch := range c.Choices {
			s.text += ch.Delta.Content
			s.thought += ch.Delta.Reasoning
			if ch.Finish != nil {
				s.finish = *ch.Finish
			}
			for _, k := range ch.Delta.Calls {
				for len(s.calls) <= k.Index {
					s.calls = append(s.calls, call{})
				}
				p := &s.calls[k.Index]
				p.id += k.ID
				p.name += k.Function.Name
				p.text += k.Function.Arguments
			}
		}
	}
	return s
}

func TestAReplyIsStreamed(t *testing.T) {
	res, text := sendTo(t, "GET", "/models", nil)
	for _, part := range []string{`"id":"rules"`, `"owned_by":"winnow"`, `"context_window":128000`} {
		if !strings.Contains(text, part) || res.StatusCode != http.StatusOK {
			t.Errorf("models: %s, without %s: %s", res.Status, part, text)
		}
	}
	request := chatBody(t, said("one two three four five"), map[string]any{
		"stream": true, "stream_options": map[string]any{"include_usage": true},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "look", "parameters": map[string]any{"properties": map[string]any{}}}}},
	})
	res, text = sendTo(t, "POST", "/chat/completions", request)
	got := readStream(t, text)
	if ct := res.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("content type %q", ct)
	}
	if fmt.Sprint(got.calls) != `[{c1 look {"a":1} <nil>}]` || got.finish != "tool_calls" || !got.done || !got.usage {
		t.Errorf("streamed %v, finish %q, done %t, usage %t", got.calls, got.finish, got.done, got.usage)
	}
	if got.chunks < 11 || got.thought != "reading what was said" || got.text != "be brief|one two three four five" {
		t.Errorf("%d chunks, reasoning %q, text %q", got.chunks, got.thought, got.text)
	}
	if _, again := sendTo(t, "POST", "/chat/completions", request); again != text {
		t.Error("the same request gave another answer")
	}
}

func TestCallsAndTheirResultsAreRead(t *testing.T) {
	messages := append(said("go"), map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
		map[string]any{"id": "1", "function": map[string]any{"name": "look", "arguments": `{"b":2,"a":1}`}},
		map[string]any{"id": "2", "function": map[string]any{"name": "change", "arguments": "damaged"}},
		map[string]any{"id": "3", "function": map[string]any{"name": "wait", "arguments": "{}"}},
	}}, map[string]any{"role": "tool", "tool_call_id": "1", "content": `{"success":true}`},
		map[string]any{"role": "tool", "tool_call_id": "2", "content": `{"success":false,"message":"no"}`})
	_, text := sendTo(t, "POST", "/chat/completions", chatBody(t, messages, nil))
	if got := readStream(t, text).text; got != `be brief|go|look({"a":1,"b":2}) is true|change({}) is false|wait({}) is false` {
		t.Errorf("read: %s", got)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		body         []byte
		status       int
		code         string
	}{
		"no such path":  {"GET", "/embeddings", nil, 404, "not_found"},
		"no such model": {"POST", "/chat/completions", []byte(`{"model":"gpt","messages":[{"role":"user"}]}`), 404, "model_not_found"},
		"not JSON":      {"POST", "/chat/completions", []byte(`{"model"`), 400, "invalid_json"},
		"wrong types":   {"POST", "/chat/completions", []byte(`{"model":"rules","messages":[{"role":"user","content":7}]}`), 400, "invalid_request"},
		"no messages":   {"POST", "/chat/completions", []byte(`{"model":"rules","messages":[]}`), 400, "invalid_request"},
		"unknown role":  {"POST", "/chat/completions", []byte(`{"model":"rules","messages":[{"role":"\u001b[31m"}]}`), 400, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			res, text := sendTo(t, c.method, c.path, c.body)
			var e struct {
				Error struct{ Message, Type, Code string }
			}
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if res.StatusCode != c.status || e.Error.Code != c.code || e.Error.Message == "" || e.Error.Type == "" {
				t.Errorf("%d %+v, want %d %s", res.StatusCode, e.Error, c.status, c.code)
			}
		})
	}
}

func TestContentParts(t *testing.T) {
	_, text := sendTo(t, "POST", "/chat/completions",
		[]byte(`{"model":"offline/rules","messages":[{"role":"user","content":[{"type":"text","text":"hel"},{"type":"text","text":"lo"}]},{"role":"assistant","content":null}]}`))
	if got := readStream(t, text).text; got != "|hello" {
		t.Errorf("the parts are read as %q", got)
	}
}

// readUntil reads chunks of an answer, cancels its request after some of them,
// and says how many came and how it ended.
func readUntil(t *testing.T, ctx context.Context, delay time.Duration, after int, cancel func()) (chunks int, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", BaseURL+"/chat/completions", bytes.NewReader(chatBody(t, said("stop me"), nil)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := echoing(delay).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			if chunks++; chunks == after {
				cancel()
			}
		}
	}
	return chunks, lines.Err()
}

func TestStreamStopsWithItsClient(t *testing.T) {
	const after = 3
	t.Run("at a chunk", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		if n, err := readUntil(t, ctx, 0, after, cancel); n > after+1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d chunks came, %v; the client went after %d", n, err, after)
		}
	})
	t.Run("in a pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const limit = 2*time.Hour + time.Minute // in the pause after the third chunk
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			begin := time.Now()
			n, err := readUntil(t, ctx, time.Hour, 0, nil)
			if d := time.Since(begin); d != limit || n != after || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d chunks came, %v, %s after the client went", n, err, d-limit)
			}
		})
	})
	t.Run("not read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // which fails when a goroutine is left
			req, _ := http.NewRequestWithContext(t.Context(), "POST", BaseURL+"/chat/completions", bytes.NewReader(chatBody(t, said("stop me"), nil)))
			res, err := echoing(0).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		})
	})
	t.Run("neither read nor closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			req, _ := http.NewRequestWithContext(ctx, "POST", BaseURL+"/chat/completions", bytes.NewReader(chatBody(t, said("stop me"), nil)))
			if _, err := echoing(0).RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the first chunk waits for a reader
			cancel()
		})
	})
}

func TestProvidersAreCounted(t *testing.T) {
	for context, want := range map[string]string{
		contextOf("openai"):               "1 provider: `openai`. `openai` is shown now.",
		contextOf("openai", "gemini"):     "2 providers: `openai`, `gemini`. `openai` is shown now.",
		`{"window_type": "model_filter"}`: "There are no providers.",
	} {
		r := answer(t, []any{system(context), user("which providers do I have?")}, filterTools)
		if text, _, _ := strings.Cut(r.text, "\n\nSUGGESTED_VALUES"); text != want {
			t.Errorf("with the context %s: %q, want %q", context, text, want)
		}
	}
}
