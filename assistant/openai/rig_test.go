package openai

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

const testKey = "sk-test-0123456789abcdef"

// rig is a client of a server, with a log and without real pauses.
type rig struct {
	*Client
	server *assistanttest.Server
	log    bytes.Buffer
	slept  []time.Duration
}

func newRig(t *testing.T, server *assistanttest.Server, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{server: server}
	opts := Options{
		BaseURL: server.URL, Key: testKey, Name: "test",
		Log: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Wait: func(ctx context.Context, d time.Duration) error {
			r.slept = append(r.slept, d)
			return ctx.Err()
		},
	}
	for _, f := range change {
		f(&opts)
	}
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = c
	return r
}

// ask streams one request and tells what came.
func (r *rig) ask(t *testing.T) ([]llm.Part, error) {
	t.Helper()
	parts, err := assistanttest.Parts(r.Stream(t.Context(), hello))
	if all := r.log.String(); strings.Contains(all, testKey) || err != nil && strings.Contains(err.Error(), testKey) {
		t.Errorf("the key is in the log or the error: %s %v", all, err)
	}
	return parts, err
}

var hello = llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Content: "hello"}}}

func retries(parts []llm.Part) (all []llm.Retry) {
	for _, p := range parts {
		if r, ok := p.(llm.Retry); ok {
			all = append(all, r)
		}
	}
	return all
}

// withIdle tells each time a connection is put back to be used again.
func withIdle(ctx context.Context, idle chan<- struct{}) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{PutIdleConn: func(error) { idle <- struct{}{} }})
}
