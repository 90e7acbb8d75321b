package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
)

// hanging is a history that does not answer.
type hanging struct{ history.Store }

func (hanging) Queued(ctx context.Context, _ string) (p assistant.Prompt, found bool, err error) {
	<-ctx.Done()
	return p, false, ctx.Err()
}

func (hanging) SessionState(ctx context.Context, _ string) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) Refs(ctx context.Context, _ string, _ float64) ([]assistant.Ref, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) Touch(ctx context.Context, _ history.Session) error {
	<-ctx.Done()
	return ctx.Err()
}

// A session in a history that does not answer is refused, and names the history.
func TestASessionIsNotWaitedForForever(t *testing.T) {
	base := servetest.Start(t, servetest.Options{Model: at.NewScript(), Change: func(o *serve.Options) {
		o.History = hanging{o.History}
		o.Session.Store = o.History
	}})
	s, err := New(Options{Hub: base.Hub, Token: testToken, Address: "127.0.0.1:1", HistoryWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:1/v1/sessions", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+testToken)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	var p problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusServiceUnavailable || p.Code != codeStorage {
		t.Errorf("%d %s, %v; want 503 storage", w.Code, w.Body, err)
	}
	if n := len(base.Hub.Sessions()); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
}
