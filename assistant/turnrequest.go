package assistant

import (
	"fmt"
	"time"

	"winnow/assistant/budget"
)

// look takes what is visible and the boundary, as the user sees them at this
// moment. The pair that is tried again or replaced is not history.
func (t *turn) look() []Ref {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	v := &t.s.view
	t.boundary = v.tracker.Boundary()
	refs := without(v.refs, t.prompt.Retry, t.prompt.Replaces)
	if len(refs) != len(v.refs) {
		t.boundary = budget.Predict(costsOf(refs), t.s.limit(), t.boundary.SYS, t.settings.Budget)
	}
	var out []Ref
	for _, r := range refs[t.boundary.First:] {
		if r.Sends {
			out = append(out, r)
		}
	}
	return out
}

// assemble builds the request from the pairs that were seen, and nothing else.
func (t *turn) assemble(seen []Ref) error {
	seqs := make([]int64, len(seen))
	for i, r := range seen {
		seqs[i] = r.Seq
	}
	pairs, err := t.s.opts.Store.Load(t.ctx, seqs)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	system, err := t.system(pairs)
	if err != nil {
		return err
	}
	t.list = NewMessageList(&AgentMessage{system})
	var costs []budget.Cost
	history := 0
	for i := range pairs {
		messages := PairMessages(&pairs[i])
		if len(messages) == 0 {
			continue // changed by another process since it was looked at
		}
		cost := PairCost(&pairs[i], t.settings.Budget.CPT())
		t.list.Append(messages...)
		t.spans = append(t.spans, len(messages))
		costs = append(costs, budget.Cost{Tokens: cost, Contributes: true})
		history += cost
		t.seqs = append(t.seqs, pairs[i].Seq)
		t.selection = append(t.selection, budget.Selected{ID: pairs[i].ID, Model: pairs[i].Model, Tokens: cost})
	}
	if t.exchange != nil {
		t.list.Append(t.exchange...)
	} else {
		t.list.Append(&TextMessage{t.pair.UserText, RoleUser})
	}
	sys := t.systemCost(system)
	within := t.boundary // as it was seen, of the pairs as they were loaded
	within.First, within.SYS, within.Usable, within.HistoryTokens = 0, sys, within.ML-sys, history
	t.attempt = budget.NewAttempt(within, costs, t.settings.Budget.Estimate(t.pair.UserText), sys, t.settings.Budget)
	if t.exchange != nil && !t.attempt.TooLarge() {
		t.attempt.Continue(t.grown())
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.tracker.SetSystem(sys)
	return nil
}

// systemCost is SYS: the system prompt and the tool schemas.
func (t *turn) systemCost(system string) int {
	sum := t.settings.Budget.Estimate(system)
	for _, spec := range t.tools.specs {
		sum += t.settings.Budget.Estimate(spec.Name + spec.Description + string(spec.Parameters))
	}
	return sum
}

// next is the request that leaves now.
func (t *turn) next() Request {
	req := t.request()
	t.leaves(req)
	if t.decided == nil {
		r := t.attempt.Record()
		t.s.registry.spend(t.modelID, r.AttemptTotalTokens+r.Budget.MaxContext-r.Budget.MaxUsableRaw, t.s.now())
	}
	return req
}

// heard remembers what the endpoint said of its quotas. They count from the
// next send on.
func (t *turn) heard(limits *RateLimits, wait time.Duration) {
	t.s.registry.Heard(t.modelID, limits, wait, t.s.now())
}

// request is the next request: the system prompt, the included pairs that were
// not trimmed, and the whole running turn.
func (t *turn) request() Request {
	skip := 0
	for _, n := range t.spans[:t.attempt.T()] {
		skip += n
	}
	messages := append([]Message{t.list.At(0)}, t.list.messages[1+skip:]...)
	return Request{Model: t.name, Messages: wireMessages(messages), Tools: t.tools.specs}
}

// overflow drops the oldest included pair.
func (t *turn) overflow(re *RequestError) error {
	more := t.attempt.Overflow()
	t.report(t.attempt.Ended(), re.words())
	if !more {
		return &TurnError{Code: CodeOverflowTrimmed, Err: re, Message: fmt.Sprintf(
			"the request is too long for %s even without %d of %d pairs: %s",
			t.modelID, t.attempt.T(), t.attempt.X(), re.words())}
	}
	out, tokens := t.leftOut()
	t.emit(ContextTrimmed{
		Sent: t.attempt.X() - t.attempt.T(), Trimmed: t.attempt.T(),
		Visible: t.boundary.Y, Attempt: t.attempt.T() + 1, Tokens: tokens, Pairs: out,
	})
	return nil
}
