package assistant

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"winnow/assistant/budget"
)

// turn is one running turn.
type turn struct {
	s      *Session
	prompt Prompt

	// The snapshot that the turn keeps, whatever is changed meanwhile.
	model    Model
	name     string // of the model, as its endpoint knows it
	modelID  string
	info     ModelInfo
	settings Settings
	session  string
	topic    string

	ctx    context.Context
	cancel context.CancelFunc
	events chan Event
	owed   atomic.Pointer[Queued] // could not be told when it happened
	seq    int64                  // of the pair once it is durable; guarded by the session's lock

	began    time.Time
	pair     *Pair
	fresh    bool          // the pair was made by this turn
	exchange []Message     // what a pair that is tried again holds already
	replaced *Pair         // what Replaces named, to be brought back on cancel
	lost     []SentRequest // of replaced, which go with it
	decided  *Pair         // holds the proposal that the turn carries out
	proposal string        // the id of its payload

	list       *MessageList
	spans      []int             // messages of each included pair, oldest first
	selection  []budget.Selected // the included pairs, oldest first
	seqs       []int64           // of selection
	boundary   budget.Boundary
	attempt    *budget.Attempt
	response   int           // whole responses so far
	out        *outgoing     // of the running attempt; guarded by the session's lock
	unkept     []SentRequest // for the next commit; guarded by the session's lock
	tools      *toolbox
	place      Available
	told       contextMemory // what the model knows of the window once it has answered
	checkpoint string        // id of this turn's; "" before the first write
}

// run is the turn's goroutine. The lock is released on every way out.
func (t *turn) run() {
	end := Event(Cancelled{}) // before anything was done
	if t.s.waitUnused(t.ctx) {
		t.s.desk.Lock()
		end = t.guarded()
		t.s.desk.Unlock()
	}
	t.s.end(t)
	if q := t.owed.Swap(nil); q != nil {
		t.events <- *q
	}
	t.events <- end
	close(t.events)
}

// guarded turns a breakdown of our own into an Error, with the pair kept.
func (t *turn) guarded() (end Event) {
	defer t.cancel()
	if w := t.s.opts.Window; w != nil {
		w.Lock()
		defer w.Unlock()
	}
	defer func() {
		if p := recover(); p != nil {
			end = t.brokenDown(p)
		}
	}()
	t.began = t.s.now()
	if err := t.s.begun(t.ctx); err != nil {
		return t.close(err)
	}
	if err := t.prepare(); err != nil {
		return t.close(err)
	}
	err := t.engine().run(t.ctx)
	if len(t.pair.ToolCalls) > 0 {
		if own := t.rememberOwn(); err == nil && own != nil {
			t.s.log.Error("window not read after the turn", "error", own)
		}
	}
	return t.close(err)
}

// brokenDown closes the turn after a panic, which closing may repeat.
func (t *turn) brokenDown(p any) (end Event) {
	f := &TurnError{Code: string(KindUnknown), Message: fmt.Sprintf("winnow itself broke down: %v", p)}
	t.s.log.Error("turn broke down", "panic", fmt.Sprint(p))
	defer func() {
		if recover() != nil {
			end = Error{Code: f.Code, Message: f.Message}
		}
	}()
	return t.close(f)
}

// emit tells the reader, unless the turn was cancelled.
func (t *turn) emit(e Event) {
	if q := t.owed.Swap(nil); q != nil {
		t.send(*q)
	}
	t.send(e)
}

func (t *turn) send(e Event) {
	select {
	case t.events <- e:
	case <-t.ctx.Done():
	}
}

// prepare makes the prompt durable and builds the request: no byte leaves
// before the first, and no failure of the second loses what was typed.
func (t *turn) prepare() error {
	if err := t.loadPair(); err != nil {
		return err
	}
	seen := t.look()
	if err := t.keepPair(); err != nil {
		return err
	}
	if j := t.s.opts.Journal; j != nil {
		if err := j.Forget(); err != nil { // the last rollback stands from here on
			return err
		}
	}
	if err := t.assemble(seen); err != nil {
		return err
	}
	if t.s.NearLimit() {
		t.s.log.Warn("context near its limit", "model", t.modelID)
	}
	if t.prompt.Force && t.attempt.TooLarge() {
		t.attempt.Continue(t.grown())
		return nil
	}
	if !t.attempt.TooLarge() || t.decided != nil { // a proposal is carried out here, not sent
		return nil
	}
	r := t.attempt.Ended()
	why := fmt.Sprintf(
		"the message (~%d tokens) and the system prompt (~%d) are more than %s takes (%d); nothing was sent",
		r.AUT, r.Budget.MaxContext-r.Budget.MaxUsableRaw, t.modelID, r.Budget.MaxContext)
	t.report(r, why)
	return &TurnError{Code: CodePromptTooLarge, Message: why}
}

// loadPair takes the pair to try again, or makes a new one.
func (t *turn) loadPair() error {
	if t.prompt.Retry != 0 {
		return t.loadRetry()
	}
	now := t.s.now()
	pair := &Pair{
		ID: NewID(now), Session: t.session, Topic: t.topic, Model: t.modelID, Flag: true,
		UserText: strings.TrimSpace(t.prompt.Text), Attachments: t.prompt.Attachments,
		State: PairSending, CreatedAt: now,
	}
	if t.prompt.Replaces != 0 {
		old, err := t.load(t.prompt.Replaces)
		if err != nil {
			return &TurnError{Code: string(KindUnknown), Message: "the pair to replace is gone", Err: err}
		}
		t.replaced = old
		if t.lost, err = t.s.storedRequests(t.ctx, old.Seq); err != nil {
			t.s.log.Warn("requests of a replaced pair", "error", err)
		}
		pair.Topic, pair.Star, pair.Flag = old.Topic, old.Star, old.Flag
	}
	t.pair, t.fresh = pair, true
	return nil
}

// loadRetry takes an error pair with the responses that were whole. One that
// is still called sending could not be stored when its turn ended.
func (t *turn) loadRetry() error {
	old, err := t.load(t.prompt.Retry)
	stuck := err == nil && old.State == PairSending && old.Session == t.session
	if err != nil || (old.State != PairError && !stuck) {
		return &TurnError{Code: string(KindUnknown), Message: "the pair to try again is gone, or has no error", Err: err}
	}
	old.State = PairError // which is what PairMessages must see
	t.exchange = PairMessages(old)
	if old.ErrorCode == CodeInvalidToolCalls {
		old.InvalidRounds = 0 // the limit was reached and said; the user tries anew
	}
	old.State, old.ErrorCode, old.ErrorMessage, old.Notice = PairSending, "", "", ""
	old.Model, old.Suggested, old.AssistantText = t.modelID, nil, wholeResponses(old)
	old.Payloads = toolPayloads(old)
	if n := len(old.ToolCalls); n > 0 {
		t.response = old.ToolCalls[n-1].Response + 1
	} else {
		old.Reasoning, old.ReasoningFor, old.Thoughts, old.Usage = "", 0, nil, nil
	}
	t.pair = old
	return nil
}

// toolPayloads are the payloads that the calls of a pair brought.
func toolPayloads(p *Pair) []Payload {
	var out []Payload
	for _, have := range p.Payloads {
		for _, c := range p.ToolCalls {
			if c.Result != nil && c.Result.Payload != nil && c.Result.Payload.ID == have.ID {
				out = append(out, have)
			}
		}
	}
	return out
}

func (t *turn) load(seq int64) (*Pair, error) {
	pairs, err := t.s.opts.Store.Load(t.ctx, []int64{seq})
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, ErrNoPair
	}
	return &pairs[0], nil
}

// keepPair commits the pair as it is and shows it. What it replaces goes, and
// the proposal it carries out is decided, in the same transaction.
func (t *turn) keepPair() error {
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	if t.decided != nil {
		b.Put = append(b.Put, t.decided)
	}
	if t.replaced != nil {
		b.Delete = []int64{t.replaced.Seq}
	}
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), b); err != nil {
		return fmt.Errorf("the message could not be stored, so it was not sent: %w", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.seq = t.pair.Seq
	t.events <- TurnStarted{t.seq} // does not block: it is the first event
	if t.replaced != nil {
		t.s.view.drop(budget.PairDeleted, func(seq int64) bool { return seq == t.replaced.Seq })
	}
	t.s.view.run(t.pair.Seq)
	return nil
}

// engine carries the turn out under the session's rules.
func (t *turn) engine() *engine {
	e := &engine{
		model: t.model, tools: t.tools, types: t.place.Payloads, limits: t.settings.Limits.orDefault(),
		now: t.s.now, pair: t.pair,
	}
	e.hooks = hooks{
		emit: t.emit, request: t.next, overflow: t.overflow, heard: t.heard, record: t.record, approve: t.approve,
		before: t.before, after: t.after, made: t.log,
		stop: func() bool { _, waiting := t.s.Queued(); return waiting },
	}
	e.resume()
	return e
}

// record keeps the messages of a whole response.
func (t *turn) record(messages []Message, final bool) error {
	t.list.Append(messages...)
	t.response++
	t.attempt.Complete()
	t.report(t.attempt.Ended(), "")
	t.remember()
	if final {
		return nil // close commits it
	}
	t.attempt.Continue(t.grown())
	return t.commit()
}

// grown is the size of what the turn has added since the user's message.
func (t *turn) grown() int {
	added := Pair{State: PairComplete, AssistantText: t.pair.AssistantText, ToolCalls: t.pair.ToolCalls}
	return PairCost(&added, t.settings.Budget.CPT())
}

// commit keeps the pair as it is now, with the requests that were answered.
func (t *turn) commit() error {
	t.s.keeping.Lock()
	defer t.s.keeping.Unlock()
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	for _, r := range t.unkept {
		b.Requests = append(b.Requests, PairRequest{t.pair, r})
	}
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), b); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.unkept = nil
	return nil
}

// log writes down a call that did not go well, without what was said.
func (t *turn) log(c ToolCall) {
	switch r := c.Result; {
	case c.Silent:
		t.s.log.Warn("invalid tool call", "tool", c.Name, "code", r.ErrorCode)
	case r.ErrorCode == CodeTimeout:
		t.s.log.Warn("tool timed out", "tool", c.Name)
	case r.ErrorCode == CodePanic:
		t.s.log.Error("tool panicked", "tool", c.Name, "stack", r.stack)
	case !r.Success && r.ErrorCode != CodeDeclined && r.ErrorCode != CodeCancelled:
		t.s.log.Error("tool failed", "tool", c.Name, "code", r.ErrorCode)
	}
}
