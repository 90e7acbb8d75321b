package assistant_test

import (
	"context"
	"iter"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// breaking is a model that panics.
type breaking struct{}

func (breaking) Stream(context.Context, llm.Request) iter.Seq2[llm.Part, error] {
	return func(func(llm.Part, error) bool) { panic("boom") }
}

// limited is a model that takes only so many bytes of history.
type limited struct {
	*at.Script
	limit int
}

func (m *limited) size(req llm.Request) int {
	n := 0
	for _, w := range req.Messages[1 : len(req.Messages)-1] {
		n += len(w.Content)
	}
	return n
}

func (m *limited) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	stream := m.Script.Stream(ctx, req)
	if m.size(req) <= m.limit {
		return stream
	}
	return func(yield func(llm.Part, error) bool) {
		for _, err := range stream { // the script keeps the request
			_ = err // its answer is not the one that counts
		}
		yield(nil, &llm.RequestError{Kind: llm.KindOverflow, Status: 400, Message: "too long"})
	}
}

// silent is a model whose stream stops without an end.
func silent() llm.Model {
	return llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Part, error] {
		return func(yield func(llm.Part, error) bool) { yield(llm.Text{Text: "half"}, nil) }
	})
}
