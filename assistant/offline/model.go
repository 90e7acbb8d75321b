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
	"unicode/utf8"
)

const (
	// ModelID is the only model; winnow shows it as "offline/rules".
	ModelID = "rules"
	// ContextWindow is its size in tokens. The rules have no limit; this one keeps
	// the context generous and bounded.
	ContextWindow = 128000
	// BaseURL is the address for an OpenAI client. Nothing listens there: the
	// client's transport is a Model.
	BaseURL = "http://localhost/v1"
)

// Model is the offline model as an http.RoundTripper, so that a client of the
// OpenAI API reaches it without a port or a file handle. It knows GET /v1/models
// and POST /v1/chat/completions, keeps nothing between requests and may be used
// from any goroutine. The zero value streams without delay.
type Model struct {
	Delay time.Duration // between streamed chunks, so that streaming is visible
}

// Client returns a client whose requests reach the model.
func (m Model) Client() *http.Client { return &http.Client{Transport: m} }

// RoundTrip implements http.RoundTripper. A chat request is always answered as a
// stream, which ends when the request's context does.
func (m Model) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, fmt.Errorf("offline: read the request: %w", err)
		}
	}
	switch call := r.Method + " " + r.URL.Path; call {
	case "GET /v1/models":
		card := object{"id": ModelID, "object": "model", "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
		return jsonResponse(r, http.StatusOK, object{"object": "list", "data": []any{card}})
	case "POST /v1/chat/completions":
	default:
		return errorResponse(r, &requestError{http.StatusNotFound, "not_found", "there is no " + clean(call) + " here"})
	}
	req, bad := readRequest(body)
	if bad != nil {
		return errorResponse(r, bad)
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(m.stream(r.Context(), out, body, req.usage, respond(req))) }()
	return newResponse(r, http.StatusOK, "text/event-stream", in), nil
}

func newResponse(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: fmt.Sprint(status, " ", http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r,
	}
}

func jsonResponse(r *http.Request, status int, v any) (*http.Response, error) {
	text, err := json.Marshal(v)
	return newResponse(r, status, "application/json", io.NopCloser(bytes.NewReader(text))), err
}

// requestError is why a request is not answered, as the OpenAI API returns it.
type requestError struct {
	status        int
	code, message string
}

func errorResponse(r *http.Request, f *requestError) (*http.Response, error) {
	return jsonResponse(r, f.status, object{"error": object{"message": f.message, "type": "invalid_request_error", "code": f.code, "param": nil}})
}

// object is a JSON object.
type object = map[string]any

// wordsAndSpace are a word and the space after it, so that joining them gives
// the text back.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)

// stream writes a reply as server-sent events, each with a word or a part of a call,
// with a pause between them. The id is a hash of the request's body, and the time is
// 0: the same request gives the same bytes. With usage the last event has the
// estimated tokens. It ends with ctx or when the client reads no more.
func (m Model) stream(ctx context.Context, w io.Writer, body []byte, usage bool, r reply) error {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	id := fmt.Sprintf("chatcmpl-%016x", h.Sum64())
	var err error
	pause := false // not before the first
	send := func(choices []any, used any) {
		if err == nil && pause {
			select {
			case <-time.After(m.Delay):
			case <-ctx.Done():
			}
		}
		pause = m.Delay > 0
		chunk := object{"id": id, "object": "chat.completion.chunk", "created": 0, "model": ModelID, "choices": choices, "usage": used}
		data, _ := json.Marshal(chunk) // strings and numbers
		if err = cmp.Or(err, ctx.Err()); err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
	add := func(delta object, finish any) {
		send([]any{object{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, word := range wordsAndSpace.FindAllString(r.thought, -1) {
		add(object{"reasoning_content": word}, nil)
	}
	for _, word := range wordsAndSpace.FindAllString(r.text, -1) {
		add(object{"content": word}, nil)
	}
	finish := "stop"
	for i, c := range r.calls {
		finish = "tool_calls"
		add(object{"tool_calls": []any{object{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": ""}}}}, nil)
		add(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": c.args}}}}, nil)
	}
	add(object{}, finish)
	if usage {
		const runesPerToken = 3.5 // winnow's own estimate
		prompt := int(float64(utf8.RuneCount(body)) / runesPerToken)
		output := int(float64(utf8.RuneCountInString(r.text+r.thought)) / runesPerToken)
		send([]any{}, object{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output})
	}
	if err == nil {
		_, err = io.WriteString(w, "data: [DONE]\n\n")
	}
	return err
}
