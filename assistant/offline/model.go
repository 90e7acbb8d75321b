package offline

import (
	"bytes"
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
		card := map[string]any{"id": ModelID, "object": "model", "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
		return jsonResponse(r, http.StatusOK, map[string]any{"object": "list", "data": []any{card}})
	case "POST /v1/chat/completions":
	default:
		return errorResponse(r, &requestError{http.StatusNotFound, "not_found", "there is no " + clean(call) + " here"})
	}
	req, bad := readRequest(body)
	if bad != nil {
		return errorResponse(r, bad)
	}
	in, out := io.Pipe()
	go func() {
		out.CloseWithError(stream(r.Context(), out, chunks(body, req.usage, respond(req)), m.Delay))
	}()
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
	return jsonResponse(r, f.status, map[string]any{"error": map[string]any{"message": f.message, "type": "invalid_request_error", "code": f.code, "param": nil}})
}

// wordsAndSpace are a word and the space after it, so that joining them gives
// the text back.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)

// chunks are the JSON documents that stream a reply, each with a word or a part of a
// call. The id is a hash of the request's body, and the time is 0: the same request
// gives the same bytes. With usage the last one has the estimated tokens.
func chunks(body []byte, usage bool, r reply) []map[string]any {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	id := fmt.Sprintf("chatcmpl-%016x", h.Sum64())
	chunk := func(choices ...any) map[string]any {
		return map[string]any{"id": id, "object": "chat.completion.chunk", "created": 0, "model": ModelID, "choices": append([]any{}, choices...)}
	}
	var out []map[string]any
	add := func(delta map[string]any, finish any) {
		out = append(out, chunk(map[string]any{"index": 0, "delta": delta, "finish_reason": finish}))
	}
	add(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, w := range wordsAndSpace.FindAllString(r.thought, -1) {
		add(map[string]any{"reasoning_content": w}, nil)
	}
	for _, w := range wordsAndSpace.FindAllString(r.text, -1) {
		add(map[string]any{"content": w}, nil)
	}
	finish := "stop"
	for i, p := range r.calls {
		finish = "tool_calls"
		add(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": p.id, "type": "function", "function": map[string]any{"name": p.name, "arguments": ""}}}}, nil)
		add(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": p.args}}}}, nil)
	}
	add(map[string]any{}, finish)
	if usage {
		prompt, output := tokens(utf8.RuneCount(body)), tokens(utf8.RuneCountInString(r.text+r.thought))
		last := chunk()
		last["usage"] = map[string]any{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
		out = append(out, last)
	}
	return out
}

// tokens is winnow's estimate of a text's size.
func tokens(runes int) int {
	const runesPerToken = 3.5
	return int((float64(runes) + runesPerToken - 1) / runesPerToken)
}

// stream writes chunks as server-sent events, with a pause between them. It ends
// with ctx or when the client reads no more.
func stream(ctx context.Context, w io.Writer, chunks []map[string]any, delay time.Duration) error {
	for i, chunk := range chunks {
		if i > 0 && delay > 0 {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
			}
		}
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
