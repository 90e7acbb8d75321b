package assistant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/assistant/safetext"
)

// What ends a turn that has no end of its own.
const (
	DefaultIterations = 5 // rounds of tool calls
	maxInvalidRounds  = 4 // in a row
)

// turn is one turn: responses joined by tool calls. The first two groups of
// fields are all that a turn of a Conversation has; s is nil there, and so is
// what needs a session: window, store, checkpoints, budget and events.
type turn struct {
	registry   *llm.Registry
	model      llm.Model
	name       string // of the model, as its endpoint knows it
	modelID    string
	sampling   llm.Sampling
	tools      *toolbox
	types      []PayloadType // the payloads a model may write
	iterations int           // the limit of rounds
	now        func() time.Time
	log        *slog.Logger
	ctx        context.Context
	cancel     context.CancelCauseFunc
	list       *message.List
	yield      func(message.Message) bool // of a Conversation: receives each message; false stops the turn after its response
	stopped    bool                       // yield returned false

	pair         *Pair // what the turn has produced so far; its texts after flushTexts
	text         strings.Builder
	reasoning    strings.Builder
	thoughts     []Thought
	callIDs      map[string]bool // of pair
	cards        int             // calls that have a card: the N of the next marker
	response     int             // whole responses so far
	newParagraph bool            // the next text starts a paragraph
	correcting   bool            // a Retrying was reported: it is valid until the next text or tool
	invalid      int             // invalid rounds in a row
	rounds       int             // rounds with tools, the invalid ones left out
	notices      int             // that note has added

	s        *Session
	prompt   Prompt
	info     llm.ModelInfo
	settings Settings
	session  string
	topic    string
	events   chan Event
	over     chan struct{} // closed when the session is ready for the next turn
	// Guarded by the session's mutex:
	seq      int64      // of the pair, once it is durable
	owed     []Event    // of Queue, to be reported with the next event
	unstored []outgoing // requests that left and are not stored; the last may wait for its answer

	began      time.Time
	fresh      bool              // the pair was made by this turn
	exchange   []message.Message // what a pair that is tried again has already
	replaced   *Pair             // what Replaces named, to be restored on cancel
	lost       []SentRequest     // of replaced, which are deleted with it
	decided    *Pair             // has the proposal that the turn executes
	proposal   string            // the id of its payload
	spans      []int             // messages of each included pair, oldest first
	selection  []budget.Selected // the included pairs, oldest first
	seqs       []int64           // of selection
	boundary   budget.Boundary
	attempt    *budget.Attempt
	out        *outgoing // the attempt's request, until its end is reported
	available  Available
	context    contextMemory // what the model knows of the window once it has answered
	checkpoint string        // id of this turn's; "" before the first write
}

// errInterrupted is the cause of a turn that the end of the program cancelled.
var errInterrupted = errors.New("interrupted")

// run is the turn's goroutine. Work and the window's lock are released on every
// way out.
func (t *turn) run() {
	end := Event(Cancelled{}) // before anything was done
	select {
	case t.s.work <- struct{}{}:
		if t.ctx.Err() == nil {
			end = t.execute()
		}
		<-t.s.work
	case <-t.ctx.Done():
	}
	t.s.endTurn(t, end)
	close(t.over)
	for _, e := range append(t.owed, end) {
		t.events <- e
	}
	close(t.events)
}

// execute runs the turn and stores its end. A panic becomes an Error, with the
// pair kept.
func (t *turn) execute() (end Event) {
	defer t.cancel(nil)
	if w := t.s.opts.Window; w != nil {
		w.Lock()
		defer w.Unlock()
	}
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("turn panicked", "panic", fmt.Sprint(p))
			f := &TurnError{Code: string(llm.KindUnknown), Message: fmt.Sprintf("winnow itself failed: %v", p)}
			end = Error{Code: f.Code, Message: f.Message}
			defer func() { _ = recover() }() // closing may repeat the panic
			end = t.close(f)
		}
	}()
	t.began = t.now()
	err := errors.Join(t.s.ensureStarted(t.ctx), t.s.finishRollback(t.ctx))
	if err == nil {
		err = t.prepare()
	}
	if err != nil {
		return t.close(err)
	}
	err = t.respondAll()
	if len(t.pair.ToolCalls) > 0 {
		if own := t.rememberOwn(); own != nil {
			t.log.Error("window not read after the turn", "error", own)
		}
	}
	return t.close(err)
}

// emit reports to the reader of the events, unless the turn was cancelled.
func (t *turn) emit(e Event) {
	if t.events == nil {
		return
	}
	t.s.mu.Lock()
	all := append(t.owed, e)
	t.owed = nil
	t.s.mu.Unlock()
	for _, e := range all {
		select {
		case t.events <- e:
		case <-t.ctx.Done():
		}
	}
}

// prepare makes the prompt durable and builds the request: no byte leaves
// before the first, and no failure of the second loses what was typed.
func (t *turn) prepare() error {
	if err := t.loadPair(); err != nil {
		return err
	}
	visible := t.visiblePairs()
	if err := t.storePair(); err != nil {
		return err
	}
	if j := t.s.opts.Journal; j != nil {
		if err := j.ForgetRollback(); err != nil { // from here on the last rollback cannot be undone
			return err
		}
	}
	if err := t.assemble(visible); err != nil {
		return err
	}
	t.resume()
	if t.s.NearLimit() {
		t.log.Warn("context near its limit", "model", t.modelID)
	}
	switch {
	case !t.attempt.TooLarge() || t.decided != nil: // a proposal is executed here, not sent
		return nil
	case t.prompt.Force:
		t.attempt.Continue(t.grown())
		return nil
	}
	r := t.attempt.Ended()
	why := fmt.Sprintf(
		"the message (~%d tokens) and the system prompt (~%d) are more than %s takes (%d); nothing was sent",
		r.AUT, r.Budget.MaxContext-r.Budget.MaxUsableRaw, t.modelID, r.Budget.MaxContext)
	t.report(r, why)
	return &TurnError{Code: CodePromptTooLarge, Message: why}
}

// loadPair loads the pair to try again, or makes a new one.
func (t *turn) loadPair() error {
	if t.prompt.Retry != 0 {
		return t.loadRetry()
	}
	now := t.now()
	pair := &Pair{
		ID: NewID(now), Session: t.session, Topic: t.topic, Model: t.modelID, Flag: true,
		UserText: safetext.Clean(strings.TrimSpace(t.prompt.Text)), Attachments: t.prompt.Attachments,
		State: PairSending, CreatedAt: now,
	}
	if t.prompt.Replaces != 0 {
		old, err := t.s.pair(t.ctx, t.prompt.Replaces)
		if err != nil {
			return &TurnError{Code: string(llm.KindUnknown), Message: "the pair to replace is gone", Err: err}
		}
		t.replaced = old
		if t.lost, err = t.s.storedRequests(t.ctx, old.Seq); err != nil {
			t.log.Warn("requests of a replaced pair", "error", err)
		}
		pair.Topic, pair.Star, pair.Flag = old.Topic, old.Star, old.Flag
	}
	t.pair, t.fresh = pair, true
	return nil
}

// loadRetry loads an error pair with the responses that were whole. One that
// is still called sending could not be stored when its turn ended.
func (t *turn) loadRetry() error {
	old, err := t.s.pair(t.ctx, t.prompt.Retry)
	stuck := err == nil && old.State == PairSending && old.Session == t.session
	if err != nil || (old.State != PairError && !stuck) {
		return &TurnError{Code: string(llm.KindUnknown), Message: "the pair to try again is gone, or has no error", Err: err}
	}
	old.State = PairError // which is what PairMessages must see
	t.exchange = PairMessages(old)
	if old.ErrorCode == CodeInvalidToolCalls {
		old.InvalidRounds = 0 // the limit was reached and reported; the user tries anew
	}
	old.State, old.ErrorCode, old.ErrorMessage, old.Notice = PairSending, "", "", ""
	old.Model, old.Suggested, old.AssistantText = t.modelID, nil, wholeResponses(old)
	old.Payloads = slices.DeleteFunc(old.Payloads, func(p Payload) bool { // only those that calls returned
		return !slices.ContainsFunc(old.ToolCalls, func(c ToolCall) bool {
			return c.Result != nil && c.Result.Payload != nil && c.Result.Payload.ID == p.ID
		})
	})
	if len(old.ToolCalls) == 0 {
		old.Reasoning, old.ReasoningFor, old.Thoughts, old.Usage = "", 0, nil, nil
	}
	t.pair = old
	return nil
}

// resume continues what the pair has already: nothing, or the whole responses
// of a turn that is tried again, whose limits go on where they were.
func (t *turn) resume() {
	t.text.WriteString(t.pair.AssistantText)
	t.reasoning.WriteString(t.pair.Reasoning)
	t.thoughts = PairThoughts(t.pair)
	t.invalid = t.pair.InvalidRounds
	rounds, invalid := map[int]bool{}, map[int]bool{} // of each response
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

// storePair commits the pair as it is and shows it. What it replaces is deleted,
// and the proposal it executes is decided, in the same transaction. A queued
// message that was taken is not needed any more.
func (t *turn) storePair() error {
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	if t.decided != nil {
		b.Put = append(b.Put, t.decided)
	}
	if t.replaced != nil {
		b.Delete = []int64{t.replaced.Seq}
	}
	ctx := context.WithoutCancel(t.ctx)
	if err := t.s.opts.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("the message could not be stored, so it was not sent: %w", err)
	}
	if err := t.s.ForgetQueued(ctx); err != nil {
		t.log.Warn("queued message not removed", "error", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.seq = t.pair.Seq
	t.events <- TurnStarted{t.seq} // does not block: it is the first event
	t.s.view.drop(b.Delete)
	t.s.view.showRunning(t.pair.Seq)
	return nil
}

// commit stores the pair as it is now, with the requests that were answered.
func (t *turn) commit() error {
	t.s.mu.Lock()
	answered := t.unstored
	t.s.mu.Unlock()
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	for _, o := range answered {
		if sent, err := o.sent(); err == nil {
			b.Requests = append(b.Requests, PairRequest{t.pair, sent})
		} else {
			t.log.Warn("request not stored", "model", t.modelID, "error", err)
		}
	}
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), b); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.unstored = t.unstored[len(answered):]
	return nil
}

// maxNotices bounds the notices of a turn: a hostile answer could cause
// thousands.
const maxNotices = 16

// note adds a notice about the turn that stays when the status line is gone.
func (t *turn) note(text string) {
	if t.notices == maxNotices || strings.Contains(t.pair.Notice, text) {
		return
	}
	t.notices++
	t.pair.Notice = strings.TrimPrefix(t.pair.Notice+"\n"+text, "\n")
}

// warn reports what went wrong with a part, now and in the pair.
func (t *turn) warn(text string) {
	t.emit(Status{text})
	t.note(text)
}
