package offline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"regexp"
	"time"
)

const (
	// ModelID is the only model; winnow shows it as "offline/rules".
	ModelID = "rules"
	// ContextWindow is its size in tokens. The rules have no limit; this one keeps
	// the context generous and bounded.
	ContextWindow = 128000
	// BaseURL is the address for an OpenAI client. Nothing listens there: the
	// client's transport is the model.
	BaseURL = "http://localhost/v1"
)

// Client returns a client whose requests reach the model. delay is the pause between
// streamed chunks, so that streaming is visible; 0 for none.
func Client(delay time.Duration) *http.Client {
	return &http.Client{Transport: server{delay, respond}}
}

// server is the chat API as an http.RoundTripper: a client reaches it without a port or a
// file handle.
type server struct {
	delay  time.Duration
	answer func(*request) reply
}

// reply is one response.
type reply struct {
	reasoning, text string
	calls           []newCall
}

// newCall is a tool call of a reply; args is a JSON object.
type newCall struct{ id, name, args string }

// problem is why a request is not answered, as the OpenAI API returns it.
type problem struct {
	status        int
	code, message string
}

// object is a JSON object.
type object = map[string]any

// RoundTrip implements http.RoundTripper. A chat request is always answered as a
// stream, which ends when the request's context does.
func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, fmt.Errorf("offline: read the request: %w", err)
		}
	}
	switch asked := r.Method + " " + r.URL.Path; asked {
	case "GET /v1/models":
		card := object{"id": ModelID, "object": "model", "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
		return jsonResponse(r, http.StatusOK, object{"object": "list", "data": []any{card}})
	case "POST /v1/chat/completions":
	default:
		return (&problem{http.StatusNotFound, "not_found", "there is no " + clean(asked) + " here"}).response(r)
	}
	req, wrong := readRequest(body)
	if wrong != nil {
		return wrong.response(r)
	}
	ctx := r.Context()
	in, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) }) // also while nobody reads
	go func() {
		defer stop()
		out.CloseWithError(s.stream(ctx, out, body, req.usage, s.answer(req)))
	}()
	return response(r, http.StatusOK, "text/event-stream", in), nil
}

func response(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: fmt.Sprint(status, " ", http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r,
	}
}

func jsonResponse(r *http.Request, status int, v any) (*http.Response, error) {
	text, err := json.Marshal(v)
	return response(r, status, "application/json", io.NopCloser(bytes.NewReader(text))), err
}

func (p *problem) response(r *http.Request) (*http.Response, error) {
	return jsonResponse(r, p.status, object{"error": object{"message": p.message, "type": "invalid_request_error", "code": p.code, "param": nil}})
}

// wordsAndSpace are a word and the space after it, so that joining them gives
// the text back.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)

// deltas are what a reply is streamed as: a word or a call each.
func (r reply) deltas() []object {
	out := []object{{"role": "assistant", "content": ""}}
	for _, part := range []struct{ key, text string }{{"reasoning_content", r.reasoning}, {"content", r.text}} {
		for _, word := range wordsAndSpace.FindAllString(part.text, -1) {
			out = append(out, object{part.key: word})
		}
	}
	for i, c := range r.calls {
		call := object{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}}
		out = append(out, object{"tool_calls": []any{call}})
	}
	return append(out, object{})
}

// stream writes a reply as server-sent events with a pause between them. The id is a hash of
// the request's body, and the time is 0: the same request gives the same bytes. It ends with ctx or when the client reads no more.
func (s server) stream(ctx context.Context, w io.Writer, body []byte, usage bool, r reply) (err error) {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	send := func(choices []any, used any) {
		data, _ := json.Marshal(object{"id": fmt.Sprintf("chatcmpl-%016x", h.Sum64()), "object": "chat.completion.chunk", "created": 0, "model": ModelID, "choices": choices, "usage": used}) // strings and numbers
		if err = cmp.Or(err, ctx.Err()); err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
	all := r.deltas()
	for i, delta := range all {
		var finish any
		switch {
		case i == len(all)-1 && len(r.calls) > 0:
			finish = "tool_calls"
		case i == len(all)-1:
			finish = "stop"
		}
		if i > 0 && s.delay > 0 && err == nil {
			select {
			case <-time.After(s.delay):
			case <-ctx.Done():
			}
		}
		send([]any{object{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	if usage { // no model ran, nothing was spent
		send([]any{}, object{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})
	}
	if err == nil {
		_, err = io.WriteString(w, "data: [DONE]\n\n")
	}
	return err
}
