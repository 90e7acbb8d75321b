package assistant

import (
	"context"
	"encoding/json"
	"time"
)

// How many requests a Store keeps. They are looked at soon after they were sent
// or not at all, and every one repeats the history before it: without a bound
// they would soon be the largest part of what is kept.
const (
	// KeptRequestPairs is of how many pairs, those sent last.
	KeptRequestPairs = 500
	// KeptRequestBytes is how many bytes of all together, as they are kept.
	KeptRequestBytes = 64 << 20
)

// SentRequest is one request of a turn as it went to the endpoint.
type SentRequest struct {
	Response int             `json:"response"` // of the turn, from 0
	Attempt  int             `json:"attempt"`  // of the response, from 1; more than one when pairs were trimmed
	Model    string          `json:"model"`    // "provider/name"
	At       time.Time       `json:"at"`
	Trimmed  int             `json:"trimmed"` // T of that attempt
	Body     json.RawMessage `json:"body"`    // the JSON document, byte for byte; headers are no part of it
}

// PairRequest is a request of a pair that a Batch keeps with it.
type PairRequest struct {
	Pair *Pair // by its Seq, which Put of the same batch may give
	SentRequest
}

// requestKeeper is the part of a Store that keeps requests; not every Store does.
type requestKeeper interface {
	// Requests returns what is kept of a pair, oldest first; none is nil, nil.
	// With an error it returns those that are whole.
	Requests(ctx context.Context, seq int64) ([]SentRequest, error)
}

// SentRequests returns the requests of a pair as they were sent, oldest first,
// those of a running turn too. None kept is nil, nil. With an error it returns
// the ones that could be read.
func (s *Session) SentRequests(ctx context.Context, seq int64) ([]SentRequest, error) {
	s.keeping.Lock() // so that none is on its way from the turn to the store
	defer s.keeping.Unlock()
	kept, err := s.storedRequests(ctx, seq)
	s.mu.Lock()
	var out *outgoing
	if t := s.running; t != nil && t.seq == seq && seq != 0 {
		kept, out = append(kept, t.unkept...), t.out
	}
	s.mu.Unlock()
	if out == nil {
		return kept, err
	}
	sent, failed := out.sent()
	if failed != nil {
		return kept, failed
	}
	return append(kept, sent), err
}

func (s *Session) storedRequests(ctx context.Context, seq int64) ([]SentRequest, error) {
	if k, ok := s.opts.Store.(requestKeeper); ok {
		return k.Requests(ctx, seq)
	}
	return nil, nil
}

// outgoing is a request that waits for its answer. It is not changed.
type outgoing struct {
	model Model
	req   Request
	head  SentRequest // all but the body
}

// sent is the request with its body. The body is asked for after the request
// has left: the first byte does not wait for it, and a field that the endpoint
// refused and our client then left out is not in it.
func (o *outgoing) sent() (SentRequest, error) {
	body, err := encodeRequest(o.model, o.req)
	sent := o.head
	sent.Body = body
	return sent, err
}

// encodeRequest is the JSON document of a request: the endpoint's own when it
// can show one.
func encodeRequest(m Model, req Request) (json.RawMessage, error) {
	if e, ok := m.(Encoder); ok {
		return e.Encode(req)
	}
	return PlainJSON(req)
}

// leaves notes a request that is about to leave.
func (t *turn) leaves(req Request) {
	out := &outgoing{model: t.model, req: req, head: SentRequest{
		Response: t.response, Attempt: t.attempt.Record().AttemptsUsed + 1,
		Model: t.modelID, At: t.s.now(), Trimmed: t.attempt.T(),
	}}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.out = out
}

// answered puts the request that was out to those that the next commit keeps
// and returns its body; nil when none was out. What carries out a proposal went
// to no endpoint and is not kept.
func (t *turn) answered() json.RawMessage {
	if t.out == nil {
		return nil
	}
	var sent SentRequest
	var done []SentRequest
	if t.decided == nil {
		var err error
		if sent, err = t.out.sent(); err == nil {
			done = append(done, sent)
		} else {
			t.s.log.Warn("request not kept", "model", t.modelID, "error", err)
		}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.out, t.unkept = nil, append(t.unkept, done...)
	return sent.Body
}
