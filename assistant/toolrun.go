package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
)

// graceAfterCancel is how long a cancelled tool may take to notice. It keeps
// Esc under a tenth of a second whatever the tool does.
const graceAfterCancel = 50 * time.Millisecond

// run carries out a valid call: with its timeout, and with a panic turned into
// a result. A tool that does not heed its ctx is left behind.
func (t Tool) run(ctx context.Context, args json.RawMessage, report func(Progress)) ToolResult {
	timeout := t.Timeout
	if timeout == 0 {
		timeout = DefaultToolTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan ToolResult, 1)
	progress := make(chan Progress)
	go func() { done <- t.guarded(withProgress(bounded, relay(bounded, progress)), args) }()
	var grace <-chan time.Time
	over := bounded.Done()
	for {
		select {
		case r := <-done:
			if r.Success || bounded.Err() == nil {
				return r
			}
			return t.ended(ctx, timeout)
		case p := <-progress:
			report(p)
		case <-over:
			over, grace = nil, time.After(graceAfterCancel)
		case <-grace:
			return t.ended(ctx, timeout)
		}
	}
}

// ended is the result of a call whose time was over before it was done.
func (t Tool) ended(ctx context.Context, timeout time.Duration) ToolResult {
	if ctx.Err() != nil {
		return Fail(CodeCancelled, "%s was cancelled while it ran", t.Name)
	}
	return Fail(CodeTimeout, "%s took longer than %s and was given up", t.Name, timeout)
}

// relay hands progress to the one who waits for the tool, and drops it once
// nobody waits any more.
func relay(ctx context.Context, to chan<- Progress) func(Progress) {
	return func(p Progress) {
		p.Data, _ = frozen(p.Data) // what cannot be encoded is left out
		select {
		case to <- p:
		case <-ctx.Done():
		}
	}
}

// guarded runs the tool's function and turns a panic into a result. The data
// becomes JSON here: from now on it belongs to the turn and not to the tool.
func (t Tool) guarded(ctx context.Context, args json.RawMessage) (r ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			r = Fail(CodePanic, "%s broke down: %v", t.Name, p)
			r.stack = string(debug.Stack())
		}
	}()
	r = t.Run(ctx, args)
	data, err := frozen(r.Data)
	if err != nil {
		r.Hint = "The data of this result could not be encoded and was left out."
	}
	r.Data = data
	return r
}

// frozen is a value as JSON, a json.RawMessage, or nil.
func frozen(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := PlainJSON(v)
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return raw, nil
}

// preview asks the tool what a call would do; a panic is an error.
func (t Tool) preview(ctx context.Context, args json.RawMessage) (diff string, ask bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s broke down: %v", t.Name, p)
		}
	}()
	if t.Preview == nil {
		return string(args), true, nil
	}
	return t.Preview(ctx, args)
}
