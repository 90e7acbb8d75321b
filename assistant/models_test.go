package assistant_test

import (
	"context"
	"iter"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// breaking is a model that panics.
type breaking struct{}

func (breaking) Stream(context.Context, assistant.Request) iter.Seq2[assistant.Part, error] {
	return func(func(assistant.Part, error) bool) { panic("boom") }
}

// limited is a model that takes only so many bytes of history.
type limited struct {
	*at.Script
	limit int
}

func (m *limited) size(req assistant.Request) int {
	n := 0
	for _, w := range req.Messages[1 : len(req.Messages)-1] {
		n += len(w.Content)
	}
	return n
}

func (m *limited) Stream(ctx context.Context, req assistant.Request) iter.Seq2[assistant.Part, error] {
	stream := m.Script.Stream(ctx, req)
	if m.size(req) <= m.limit {
		return stream
	}
	return func(yield func(assistant.Part, error) bool) {
		for _, err := range stream { // the script keeps the request
			_ = err // its answer is not the one that counts
		}
		yield(nil, &assistant.RequestError{Kind: assistant.KindOverflow, Status: 400, Message: "too long"})
	}
}

// silent is a model whose stream stops without an end.
func silent() assistant.Model {
	return assistant.ModelFunc(func(context.Context, assistant.Request) iter.Seq2[assistant.Part, error] {
		return func(yield func(assistant.Part, error) bool) { yield(assistant.Text{Text: "half"}, nil) }
	})
}
