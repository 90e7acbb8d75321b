package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

// problem is the reason why a request is not answered, in the form of the OpenAI API.
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
	var req *request
	wrong := &problem{http.StatusNotFound, "not_found", "there is no " + clean(r.Method+" "+r.URL.Path) + " here"}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/models":
		card := object{"id": ModelID, "object": "model", "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
		return jsonResponse(r, http.StatusOK, object{"object": "list", "data": []any{card}})
	case "POST /v1/chat/completions":
		req, wrong = readRequest(body)
	}
	if wrong != nil {
		of := object{"message": wrong.message, "type": "invalid_request_error", "code": wrong.code, "param": nil}
		return jsonResponse(r, wrong.status, object{"error": of})
	}
	ctx := r.Context()
	in, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) }) // even if the body is not being read
	go func() {
		defer stop()
		out.CloseWithError(s.stream(ctx, out, s.answer(req).chunks(req.usage)))
	}()
	return response(r, http.StatusOK, "text/event-stream", in), nil
}

func response(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: fmt.Sprint(status, " ", http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r,
	}
}

func jsonResponse(r *http.Request, status int, v any) (*http.Response, error) {
	text, err := json.Marshal(v)
	return response(r, status, "application/json", io.NopCloser(bytes.NewReader(text))), err
}

// wordsAndSpace matches a word and the space after it, so that the joined matches are the
// text.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)

// chunks returns the pieces in which a reply is streamed: a word or a call each and, if
// requested, the tokens used, which are 0. Their id and time are fixed, so that the same
// request gives the same bytes.
func (r reply) chunks(usage bool) (out []object) {
	add := func(delta object, finish any) {
		out = append(out, object{"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, part := range []struct{ key, text string }{{"reasoning_content", r.reasoning}, {"content", r.text}} {
		for _, word := range wordsAndSpace.FindAllString(part.text, -1) {
			add(object{part.key: word}, nil)
		}
	}
	finish := "stop"
	for i, c := range r.calls {
		finish = "tool_calls"
		function := object{"name": c.name, "arguments": c.args}
		add(object{finish: []any{object{"index": i, "id": c.id, "type": "function", "function": function}}}, nil)
	}
	add(object{}, finish)
	if usage {
		used := object{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
		out = append(out, object{"choices": []any{}, "usage": used})
	}
	return out
}

// stream writes chunks as server-sent events with a pause between them. It ends with ctx,
// or when the client stops reading.
func (s server) stream(ctx context.Context, w io.Writer, chunks []object) error {
	for i, chunk := range chunks {
		if i > 0 && s.delay > 0 {
			select {
			case <-time.After(s.delay):
			case <-ctx.Done():
			}
		}
		chunk["id"], chunk["object"] = "chatcmpl-offline", "chat.completion.chunk"
		chunk["created"], chunk["model"] = 0, ModelID
		data, err := json.Marshal(chunk)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		}
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "data: [DONE]\n\n")
	return err
}
