package offline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"winnow/assistant/chatapi"
)

const (
	// ModelID is the id of the only model; winnow shows it as "offline/rules".
	ModelID = "rules"
	// ContextWindow is its context window in tokens. It bounds what a session sends; the
	// rules have no limit.
	ContextWindow = 128000
	// BaseURL is the address for an OpenAI client. Nothing listens there.
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
	calls           []call
}

// RoundTrip implements http.RoundTripper. The answer to a chat request is always a stream,
// which fails when the request's context ends.
func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	status, contentType, body := http.StatusOK, "application/json", []io.Reader(nil)
	refused := &chatapi.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no " + clean(r.Method+" "+r.URL.Path) + " here"}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/models":
		card := map[string]any{"id": ModelID, "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
		refused, body = nil, append(body, strings.NewReader(chatapi.Models(card)))
	case "POST /v1/chat/completions":
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, fmt.Errorf("offline: read the request: %w", err)
		}
		var req *request
		if req, refused = readRequest(text); refused == nil {
			contentType = "text/event-stream"
			for _, event := range s.answer(req).events() {
				body = append(body, strings.NewReader(event), pause{r.Context(), s.delay})
			}
		}
	}
	if refused != nil {
		status, body = refused.Status, []io.Reader{strings.NewReader(refused.JSON())}
	}
	return &http.Response{
		Status: fmt.Sprint(status, " ", http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(io.MultiReader(body...)), ContentLength: -1, Request: r,
	}, nil
}

// events returns the events of a reply, one for each word and each call, and the end of the
// stream.
func (r reply) events() (out []string) {
	for _, word := range chatapi.Words(r.reasoning) {
		out = append(out, chatapi.ReasoningEvent("reasoning_content", word))
	}
	for _, word := range chatapi.Words(r.text) {
		out = append(out, chatapi.TextEvent(word))
	}
	finish := "stop"
	for i, c := range r.calls {
		finish, out = "tool_calls", append(out, chatapi.CallEvent(i, c.id, c.name, c.text))
	}
	return append(out, chatapi.FinishEvent(finish), chatapi.UsageEvent(0, 0), chatapi.Done)
}

// pause is a reader that waits for d and then ends. It fails when ctx is done.
type pause struct {
	ctx context.Context
	d   time.Duration
}

// Read implements io.Reader.
func (p pause) Read([]byte) (int, error) {
	select {
	case <-p.ctx.Done():
	case <-time.After(p.d):
	}
	return 0, cmp.Or(p.ctx.Err(), io.EOF)
}
