package assistanttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// Step is one step of a scripted answer: Say, Think, Call, Fail, Cut, Stop, Emit or Finish.
// An answer without Fail, Cut or Finish finishes after its last step.
type Step interface{ step() }

type (
	// Say is text of the answer.
	Say string
	// Think is reasoning.
	Think string
	// Call is a tool call. An empty ID becomes "call_N", with N counting from 1 over the
	// whole script.
	Call struct{ ID, Name, Arguments string }
	// Fail ends the answer with an error.
	Fail struct{ Err error }
	// Cut ends the answer like a lost connection.
	Cut struct{}
	// Stop blocks at a gate until it is opened or the request ends.
	Stop struct{ At *Gate }
	// Emit yields any part.
	Emit struct{ Part llm.Part }
	// Finish ends the answer with this reason; "" means "stop" or "tool_calls".
	Finish struct {
		Reason  string
		Damaged string
		Usage   *llm.Usage
		Limits  *llm.RateLimits
	}
)

func (Say) step()    {}
func (Think) step()  {}
func (Call) step()   {}
func (Fail) step()   {}
func (Cut) step()    {}
func (Stop) step()   {}
func (Emit) step()   {}
func (Finish) step() {}

// Answer is one answer of a Script. It is unrelated to Session.Answer, which answers a
// question.
type Answer []Step

// Overflow returns an answer that rejects the request as too long, in OpenAI's wording.
func Overflow() Answer {
	return Answer{Fail{&llm.RequestError{
		Kind: llm.KindOverflow, Status: 400, Matched: "context_length_exceeded",
		Message: "This model's maximum context length is 8192 tokens.",
	}}}
}

// Script is a model in memory that gives its answers in order and then repeats the last
// one. Create it with NewScript.
type Script struct {
	mu        sync.Mutex
	answers   []Answer
	next      int
	requests  []llm.Request
	calls     int
	cancelled int
}

var (
	_ llm.Model   = (*Script)(nil)
	_ llm.Encoder = (*Script)(nil)
)

// NewScript returns a model with these answers. Without answers every request fails.
func NewScript(answers ...Answer) *Script { return &Script{answers: answers} }

// Then adds answers at the end.
func (s *Script) Then(answers ...Answer) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
	return s
}

// Requests returns the requests so far, in order.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Cancelled returns the number of answers that ended early because their context ended or
// the consumer left the range loop.
func (s *Script) Cancelled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancelled
}

// Encode returns req as JSON.
func (s *Script) Encode(req llm.Request) (json.RawMessage, error) { return json.Marshal(req) }

// Stream plays the next answer.
func (s *Script) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		answer, err := s.choose(req)
		if err == nil {
			err = s.play(ctx, answer, func(p llm.Part) bool { return yield(p, nil) })
		}
		switch {
		case errors.Is(err, errBroken):
			s.cancel()
		case err != nil:
			if ctx.Err() != nil {
				s.cancel()
			}
			yield(nil, err)
		}
	}
}

// errBroken ends an answer whose consumer has left the range loop.
var errBroken = errors.New("the consumer has stopped")

func (s *Script) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled++
}

// choose stores a copy of the request and returns its answer.
func (s *Script) choose(req llm.Request) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Messages, req.Tools = slices.Clone(req.Messages), slices.Clone(req.Tools)
	s.requests = append(s.requests, req)
	if len(s.answers) == 0 {
		return nil, &llm.RequestError{Kind: llm.KindUnknown, Message: "the script has no answer"}
	}
	answer := s.answers[min(s.next, len(s.answers)-1)]
	s.next++
	return answer, nil
}

// play executes the steps of an answer.
func (s *Script) play(ctx context.Context, answer Answer, yield func(llm.Part) bool) error {
	var calls []llm.Call
	var text, reasoning safetext.Cleaner // steps may be divided within a character
	for _, step := range answer {
		if err := ctx.Err(); err != nil {
			return err
		}
		var part llm.Part
		switch step := step.(type) {
		case Say:
			part = llm.Text{Text: text.Write(string(step))}
		case Think:
			part = llm.Reasoning{Text: reasoning.Write(string(step))}
		case Emit:
			part = step.Part
		case Call:
			calls = append(calls, s.call(step))
			continue
		case Stop:
			if err := step.At.Pass(ctx); err != nil {
				return err
			}
			continue
		case Fail:
			return step.Err
		case Cut:
			return &llm.RequestError{Kind: llm.KindInterrupted, Message: "the connection ended before the answer did"}
		case Finish:
			return finish(step, calls, yield)
		}
		if !yield(part) {
			return errBroken
		}
	}
	return finish(Finish{}, calls, yield)
}

func finish(f Finish, calls []llm.Call, yield func(llm.Part) bool) error {
	switch {
	case f.Reason == "" && len(calls) > 0:
		f.Reason = "tool_calls"
	case f.Reason == "":
		f.Reason = "stop"
	}
	yield(llm.End{Calls: calls, Finish: f.Reason, Damaged: f.Damaged, Usage: f.Usage, Limits: f.Limits})
	return nil
}

func (s *Script) call(c Call) llm.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d", s.calls)
	}
	return llm.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
}
