package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// turn is a turn of a session: a loop with a window, a store, checkpoints, a budget and
// events.
type turn struct {
	loop
	request
	s       *Session
	session string
	topic   string
	done    chan struct{} // closed once the session is ready for the next turn
	began   time.Time
	fresh   bool // the pair was created by this turn

	// Guarded by the session's mutex:
	seq           int64           // Seq of the pair, once it is stored
	pendingEvents []Event         // events from Queue, which must come after TurnStarted
	asks          *ConfirmRequest // the question waiting for an answer
	unstored      []outgoing      // requests sent but not stored; the last may still wait for its response
	progress      *Pair           // the pair with its new answer as far as it is stored; nil if the stored pair is up to date

	checkpoint *checkpoint.Checkpoint // made by this turn; nil before the first write
	announced  bool                   // the checkpoint was reported
	unlock     func()                 // releases the journal; nil while it is not locked
}

// request is what a turn sends: the prompt, with what it repeats, replaces or executes, and
// the pairs included with it.
type request struct {
	prompt   Prompt
	info     llm.ModelInfo
	settings Settings

	earlier          []message.Message // messages of a pair that is retried; nil for a new pair
	before           Ref               // the pair that is answered again, as it was in the view
	replaced         *Pair             // the pair in Replaces, to be restored on cancel
	replacedRequests []SentRequest     // the requests of replaced, deleted with it
	decided          *Pair             // the pair whose proposals the turn executes, without an endpoint; nil if none
	proposals        []string          // payload ids in decided

	visible   []Ref // the visible pairs without the one that is retried, answered again or replaced
	boundary  budget.Boundary
	available Available
	context   contextMemory // what the model will know about the window once it has answered
	sending
}

// sending is the state of a request that is sent with fewer pairs after each overflow.
type sending struct {
	attempt      *budget.Attempt
	outgoing     *outgoing         // the request that was sent; nil once its outcome is reported
	spans        []int             // number of messages of each included pair, oldest first
	selection    []budget.Selected // the included pairs, oldest first
	selectedSeqs []int64           // the Seqs of selection
}

// errInterrupted is the cause with which Close cancels the running turn.
var errInterrupted = errors.New("interrupted")

// run is the turn's goroutine. It always releases work and the window's lock.
func (t *turn) run() {
	end := Event(Cancelled{}) // if the turn is cancelled before it has begun
	select {
	case t.s.work <- struct{}{}:
		if t.ctx.Err() == nil {
			end = t.execute()
		}
		<-t.s.work
	case <-t.ctx.Done():
	}
	t.s.endTurn(t, end)
	close(t.done)
}

// execute runs the turn and stores how it ended. A panic becomes an Error; the pair is
// kept.
func (t *turn) execute() (end Event) {
	defer t.cancel(nil)
	defer t.s.opts.Member.Unlock()
	defer t.unlockJournal()
	if w := t.s.opts.Window; w != nil && t.s.opts.Member == nil {
		lock := LockerOf(w)
		lock.Lock()
		defer lock.Unlock()
	}
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("turn panicked", "panic", fmt.Sprint(p))
			failed := &TurnError{Code: string(llm.KindUnknown), Message: fmt.Sprintf("winnow itself failed: %v", p)}
			end = Error{Code: failed.Code, Message: failed.Message}
			defer func() { _ = recover() }() // close may panic again
			end = t.close(failed)
		}
	}()
	t.began = t.now()
	if err := t.begin(); err != nil {
		return t.close(err)
	}
	err := t.respondAll()
	if len(t.pair.ToolCalls) > 0 {
		if readErr := t.rememberOwnChanges(); readErr != nil {
			t.log.Error("window not read after the turn", "error", readErr)
		}
	}
	end = t.close(err)
	if t.s.opts.Role == RolePropose && t.pair != nil && t.pair.Seq != 0 {
		t.s.announceProposals(t.pair)
	}
	return end
}

// begin does everything that comes before the first request.
func (t *turn) begin() error {
	defer t.s.opts.Member.Section(t.session)()
	if err := errors.Join(t.s.ensureStarted(t.ctx), t.s.finishRollback(t.ctx)); err != nil {
		return err
	}
	return t.prepare()
}

// emit implements listener.
func (t *turn) emit(e Event) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.publish(e)
}

// publish reports events. The session's mutex must be locked.
func (t *turn) publish(events ...Event) {
	for _, e := range events {
		t.s.updates.add(e)
	}
}

// prepare stores the prompt and then builds the request: nothing is sent before the prompt
// is stored, and the prompt is not lost if the request cannot be built.
func (t *turn) prepare() error {
	if err := t.loadPair(); err != nil {
		return err
	}
	included := t.includedPairs()
	if err := t.storePair(); err != nil {
		return err
	}
	if j := t.s.opts.Journal; j != nil {
		if err := j.ForgetRollback(); err != nil { // from here on the last rollback can no longer be undone
			return err
		}
	}
	if err := t.assemble(included); err != nil {
		return err
	}
	t.restoreProgress()
	if t.s.Boundary().NearLimit() {
		t.log.Warn("context near its limit", "model", t.modelID)
	}
	switch {
	case !t.attempt.TooLarge() || t.decided != nil: // a proposal is executed here, not sent
		return nil
	case t.prompt.Force:
		t.attempt.Continue(t.addedTokens())
		return nil
	}
	r := t.attempt.Ended()
	why := fmt.Sprintf(
		"the message (~%d tokens) and the system prompt (~%d) exceed the limit of %d tokens for %s; nothing was sent",
		r.AUT, r.Budget.MaxContext-r.Budget.MaxUsableRaw, r.Budget.MaxContext, t.modelID)
	t.report(r, why)
	return &TurnError{Code: CodePromptTooLarge, Message: why}
}

// loadPair loads the pair to retry or to answer again, or creates a new one.
func (t *turn) loadPair() error {
	switch {
	case t.prompt.Retry != 0:
		return t.loadRetry()
	case t.prompt.Regenerate != 0:
		return t.loadRegenerate()
	}
	now := t.now()
	pair := &Pair{
		ID: cmp.Or(t.prompt.ID, NewID(now)), Session: t.session, Author: t.s.opts.Author, Topic: t.topic, Model: t.modelID, Flag: true,
		UserText: safetext.Clean(strings.TrimSpace(t.prompt.Text)), Attachments: t.prompt.Attachments,
		State: PairSending, CreatedAt: now,
	}
	if t.prompt.Replaces != 0 {
		old, err := t.storedPair(t.prompt.Replaces)
		if err != nil {
			return err
		}
		t.replaced = old
		if t.replacedRequests, err = t.s.storedRequests(t.ctx, old.Seq); err != nil {
			t.log.Warn("cannot read the requests of the replaced pair", "error", err)
		}
		pair.Topic, pair.Star, pair.Flag = old.Topic, old.Star, old.Flag
	}
	t.pair, t.fresh = pair, true
	return nil
}

// storedPair returns a pair that the turn retries, answers again or replaces. The error is a *TurnError.
func (t *turn) storedPair(seq int64) (*Pair, error) {
	p, err := t.s.uncutPair(t.ctx, seq)
	switch {
	case errors.Is(err, ErrNoPair):
		return nil, &TurnError{Code: string(llm.KindUnknown), Message: "the message no longer exists", Err: err}
	case err != nil:
		return nil, &TurnError{Code: string(llm.KindUnknown), Message: "the message could not be read: " + err.Error(), Err: err}
	}
	return p, nil
}

// loadRetry loads a failed pair with its complete responses. A pair of this session still
// in state sending also counts as failed: the end of its turn could not be stored.
func (t *turn) loadRetry() error {
	old, err := t.storedPair(t.prompt.Retry)
	if err != nil {
		return err
	}
	if stuck := old.State == PairSending && old.Session == t.session; old.State != PairError && !stuck {
		return &TurnError{Code: string(llm.KindUnknown), Message: "the message has not failed, so it cannot be retried"}
	}
	old.State = PairError // so that PairMessages treats it as failed
	t.earlier = PairMessages(old)
	if old.ErrorCode == CodeInvalidToolCalls {
		old.InvalidRounds = 0 // the limit was reached and reported; the user is retrying
	}
	old.State, old.ErrorCode, old.ErrorMessage, old.Notice = PairSending, "", "", ""
	old.Model, old.Suggested, old.AssistantText = t.modelID, nil, wholeResponses(old)
	old.Payloads = slices.DeleteFunc(old.Payloads, func(p Payload) bool { // keep only the payloads returned by calls
		return !slices.ContainsFunc(old.ToolCalls, func(c ToolCall) bool {
			return c.Result != nil && c.Result.Payload != nil && c.Result.Payload.ID == p.ID
		})
	})
	if len(old.ToolCalls) == 0 {
		old.Reasoning, old.ReasoningFor, old.Thoughts, old.Usage, old.Price = "", 0, nil, nil, nil
	}
	t.pair = old
	return nil
}

// restoreProgress sets the texts and counters of the turn from the pair. For a new pair, the
// texts are empty and the counters are zero; for a pair that is retried, they cover its
// complete responses.
func (t *turn) restoreProgress() {
	t.text.Write(t.pair.AssistantText)
	t.reasoning.Write(t.pair.Reasoning)
	t.thoughts = PairThoughts(t.pair)
	t.invalid = t.pair.InvalidRounds
	rounds, invalid := map[int]bool{}, map[int]bool{} // by response
	for _, c := range t.pair.ToolCalls {
		t.response = c.Response + 1
		rounds[c.Response] = true
		if c.Silent {
			invalid[c.Response] = true
		} else {
			t.cards++
		}
	}
	t.rounds = len(rounds) - len(invalid)
}

// storePair commits the pair and shows it. The same transaction deletes the pair being
// replaced, stores the decision on the proposals being executed, and removes the queued
// message that was sent. A pair that is answered again is already stored.
func (t *turn) storePair() error {
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	if t.prompt.Regenerate != 0 {
		b.Put = nil
	}
	if t.decided != nil {
		b.Put = append(b.Put, t.decided)
	}
	if t.replaced != nil {
		b.Delete = []int64{t.replaced.Seq}
	}
	if len(t.s.takenFromQueue()) > 0 {
		t.s.queueing.Lock()
		defer t.s.queueing.Unlock()
		b.Queued = t.s.takenFromQueue() // without messages that were queued in the meantime
	}
	if t.s.Cancelled() != nil {
		b.Forget = t.session
	}
	if len(b.Queued) > 0 || b.Forget != "" || len(b.Put) > 0 {
		if err := t.s.opts.Store.Commit(t.ctx, b); err != nil {
			return fmt.Errorf("the message could not be stored, so it was not sent: %w", err)
		}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.forgetDequeued(b.Queued...)
	t.s.current.cancelled = nil
	t.seq = t.pair.Seq
	t.noteProgress()
	t.s.updates.received = receive(t.pair)
	t.publish(append([]Event{TurnStarted{t.seq}}, t.pendingEvents...)...)
	t.pendingEvents = nil
	if t.decided != nil {
		t.s.updates.addStale(t.decided.Seq)
	}
	t.s.view.drop(b.Delete)
	t.s.view.showRunning(t.pair.Seq)
	return nil
}

// commit stores the current pair with the requests sent since the last commit.
func (t *turn) commit() error {
	t.s.mu.Lock()
	answered := t.unstored
	t.s.mu.Unlock()
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	if t.prompt.Regenerate != 0 {
		b = t.answerBatch()
	}
	for _, o := range answered {
		if sent, err := o.encode(); err == nil {
			b.Requests = append(b.Requests, PairRequest{t.pair, sent})
		} else {
			t.log.Warn("request not stored", "model", t.modelID, "error", err)
		}
	}
	ctx, cancel := t.storing()
	defer cancel()
	if err := t.s.opts.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("the answer could not be stored: %w", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.unstored = t.unstored[len(answered):]
	t.noteProgress()
	return nil
}

// cancelGrace is how long a cancelled turn waits for the store to save its work. A database
// server that does not answer must not block the turn.
const cancelGrace = 2 * time.Second

// storing returns a context for storing what the turn has done. It outlives a cancellation
// by cancelGrace.
func (t *turn) storing() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.ctx))
	stop := context.AfterFunc(t.ctx, func() {
		late := time.AfterFunc(cancelGrace, cancel)
		context.AfterFunc(ctx, func() { late.Stop() })
	})
	return ctx, func() { stop(); cancel() }
}

// noteProgress updates what Pairs returns for a pair that is being answered again; the
// store still has its old answer. The session's mutex must be locked.
func (t *turn) noteProgress() {
	if t.prompt.Regenerate != 0 {
		t.progress = new(clonePair(t.pair))
	}
}
