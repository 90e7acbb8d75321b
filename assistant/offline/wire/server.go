// Package wire is the server side of the OpenAI chat API in the process of its client: it
// reads requests and streams replies, without a network. What a reply says is up to the
// Server's Answer.
//
// A Request has the offered tools, the system text and the Exchanges: each a message of the
// user with the Calls made for it and their Results. The same request and reply give the
// same bytes.
//
// # Concurrency
//
// Everything here may be used from any goroutine. Each reply is streamed by a goroutine of
// its own, which ends with the request's context or when the body is closed.
//
// # Caveats
//
// Every reply is a stream, whatever the request asks for. Reported usage is an estimate.
package wire

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
	"strings"
	"time"
	"unicode/utf8"

	"winnow/assistant/safetext"
)

// Server is the server of one model as an http.RoundTripper, so that a client of the
// OpenAI API reaches it without a port or a file handle. It knows GET /v1/models and
// POST /v1/chat/completions, keeps nothing between requests and may be used from any
// goroutine.
type Server struct {
	Model         string        // its id
	Provider      string        // requests may also name the model "PROVIDER/MODEL"
	ContextWindow int           // in tokens
	Delay         time.Duration // between streamed chunks, so that streaming is visible; 0 for none
	// Answer works out the reply to a request, from any goroutine.
	Answer func(*Request) Reply
}

// Reply is one response.
type Reply struct {
	Reasoning string
	Text      string
	Calls     []NewCall
}

// NewCall is a tool call of a reply.
type NewCall struct {
	ID   string
	Name string
	Args string // a JSON object
}

// RoundTrip implements http.RoundTripper. A chat request is always answered as a
// stream, which ends when the request's context does.
func (s Server) RoundTrip(r *http.Request) (*http.Response, error) {
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
		card := object{"id": s.Model, "object": "model", "created": 0, "owned_by": "winnow", "context_window": s.ContextWindow}
		return jsonResponse(r, http.StatusOK, object{"object": "list", "data": []any{card}})
	case "POST /v1/chat/completions":
	default:
		return errorResponse(r, &Error{http.StatusNotFound, "not_found", "there is no " + echo(call) + " here"})
	}
	req, bad := s.Read(body)
	if bad != nil {
		return errorResponse(r, bad)
	}
	ctx := r.Context()
	in, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) }) // also while nobody reads
	go func() {
		defer stop()
		out.CloseWithError(s.stream(ctx, out, body, req.usage, s.Answer(req)))
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

// Error is why a request is not answered, as the OpenAI API returns it. It is no Go error.
type Error struct {
	Status  int    // of HTTP
	Code    string // for programs
	Message string // for people, in one line
}

func errorResponse(r *http.Request, e *Error) (*http.Response, error) {
	return jsonResponse(r, e.Status, object{"error": object{"message": e.Message, "type": "invalid_request_error", "code": e.Code, "param": nil}})
}

// maxEcho bounds what an error repeats of a request, in cells.
const maxEcho = 200

// echo is a text of a request, safe in one line of an error.
func echo(text string) string { return safetext.Line(strings.TrimSpace(text), maxEcho) }

// object is a JSON object.
type object = map[string]any

// wordsAndSpace are a word and the space after it, so that joining them gives
// the text back.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)

// stream writes a reply as server-sent events, each with a word or a part of a call,
// with a pause between them. The id is a hash of the request's body, and the time is
// 0: the same request gives the same bytes. With usage the last event has the
// estimated tokens. It ends with ctx or when the client reads no more.
func (s Server) stream(ctx context.Context, w io.Writer, body []byte, usage bool, r Reply) error {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	id := fmt.Sprintf("chatcmpl-%016x", h.Sum64())
	var err error
	pause := false // not before the first
	send := func(choices []any, used any) {
		if err == nil && pause {
			select {
			case <-time.After(s.Delay):
			case <-ctx.Done():
			}
		}
		pause = s.Delay > 0
		chunk := object{"id": id, "object": "chat.completion.chunk", "created": 0, "model": s.Model, "choices": choices, "usage": used}
		data, _ := json.Marshal(chunk) // strings and numbers
		if err = cmp.Or(err, ctx.Err()); err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
	add := func(delta object, finish any) {
		send([]any{object{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, word := range wordsAndSpace.FindAllString(r.Reasoning, -1) {
		add(object{"reasoning_content": word}, nil)
	}
	for _, word := range wordsAndSpace.FindAllString(r.Text, -1) {
		add(object{"content": word}, nil)
	}
	finish := "stop"
	for i, c := range r.Calls {
		finish = "tool_calls"
		add(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
		add(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": c.Args}}}}, nil)
	}
	add(object{}, finish)
	if usage {
		const runesPerToken = 3.5 // winnow's own estimate
		prompt := int(float64(utf8.RuneCount(body)) / runesPerToken)
		output := int(float64(utf8.RuneCountInString(r.Text+r.Reasoning)) / runesPerToken)
		send([]any{}, object{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output})
	}
	if err == nil {
		_, err = io.WriteString(w, "data: [DONE]\n\n")
	}
	return err
}
