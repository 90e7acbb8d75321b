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
	"winnow/assistant/safetext"
)

// turn is one turn: responses joined by tool calls. The first group of fields
// is all that a turn of a Conversation has; s is nil there, and so is what needs
// a session: window, store, checkpoints, budget and events.
type turn struct {
	registry *Registry
	model    Model
	name     string // of the model, as its endpoint knows it
	modelID  string
	sampling Sampling
	tools    *toolbox
	types    []PayloadType // the payloads a model may write
	limits   Limits
	now      func() time.Time
	log      *slog.Logger
	ctx      context.Context
	cancel   context.CancelCauseFunc
	list     *MessageList
	yield    func(Message) bool // of a Conversation: receives each message; false stops the turn after its response
	stopped  bool               // yield returned false

	pair         *Pair // what the turn has produced so far; its texts after flushTexts
	text         strings.Builder
	reasoning    strings.Builder
	thoughts     []Thought       // the blocks of reasoning
	callIDs      map[string]bool // of pair; nil until the first call
	cards        int             // calls that have a card: the N of the next marker
	response     int             // whole responses so far
	newParagraph bool            // the next text starts a paragraph
	correcting   bool            // a Retrying was reported: it holds until the next text or tool
	invalid      int             // invalid rounds in a row
	rounds       int             // rounds with tools, the invalid ones left out
	notices      int             // that note has added

	s        *Session
	prompt   Prompt
	info     ModelInfo
	settings Settings
	session  string
	topic    string
	events   chan Event
	over     chan struct{} // closed when the session is ready for the next turn
	// Guarded by the session's mutex:
	seq    int64         // of the pair, once it is durable
	owed   *Queued       // could not be reported when it happened
	out    *outgoing     // the request that waits for its answer
	unkept []SentRequest // for the next commit

	began      time.Time
	fresh      bool          // the pair was made by this turn
	exchange   []Message     // what a pair that is tried again holds already
	replaced   *Pair         // what Replaces named, to be restored on cancel
	lost       []SentRequest // of replaced, which are deleted with it
	decided    *Pair         // holds the proposal that the turn executes
	proposal   string        // the id of its payload
	spans      []int         // messages of each included pair, oldest first
	selection  []budget.Selected
	seqs       []int64 // of selection, the included pairs, oldest first
	boundary   budget.Boundary
	attempt    *budget.Attempt
	available  Available
	told       contextMemory // what the model knows of the window once it has answered
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
			end = t.guarded()
		}
		<-t.s.work
	case <-t.ctx.Done():
	}
	t.s.endTurn(t, end)
	close(t.over)
	if t.owed != nil {
		t.events <- *t.owed
	}
	t.events <- end
	close(t.events)
}

// guarded turns a panic of the turn into an Error, with the pair kept.
func (t *turn) guarded() (end Event) {
	defer t.cancel(nil)
	if w := t.s.opts.Window; w != nil {
		w.Lock()
		defer w.Unlock()
	}
	defer func() {
		if p := recover(); p != nil {
			end = t.closeAfterPanic(p)
		}
	}()
	t.began = t.now()
	if err := t.s.ensureStarted(t.ctx); err != nil {
		return t.close(err)
	}
	if err := t.prepare(); err != nil {
		return t.close(err)
	}
	err := t.respondAll()
	if len(t.pair.ToolCalls) > 0 {
		if own := t.rememberOwn(); err == nil && own != nil {
			t.log.Error("window not read after the turn", "error", own)
		}
	}
	return t.close(err)
}

// closeAfterPanic closes the turn after a panic, which closing may repeat.
func (t *turn) closeAfterPanic(p any) (end Event) {
	f := &TurnError{Code: string(KindUnknown), Message: fmt.Sprintf("winnow itself failed: %v", p)}
	t.log.Error("turn panicked", "panic", fmt.Sprint(p))
	defer func() {
		if recover() != nil {
			end = Error{Code: f.Code, Message: f.Message}
		}
	}()
	return t.close(f)
}

// emit reports to the reader of the events, unless the turn was cancelled.
func (t *turn) emit(e Event) {
	if t.events == nil {
		return
	}
	t.s.mu.Lock()
	owed := t.owed
	t.owed = nil
	t.s.mu.Unlock()
	if owed != nil {
		t.send(*owed)
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
	visible := t.visiblePairs()
	if err := t.storePair(); err != nil {
		return err
	}
	if j := t.s.opts.Journal; j != nil {
		if err := j.Forget(); err != nil { // from here on the last rollback cannot be undone
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

// loadPair takes the pair to try again, or makes a new one.
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
		old, err := t.load(t.prompt.Replaces)
		if err != nil {
			return &TurnError{Code: string(KindUnknown), Message: "the pair to replace is gone", Err: err}
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
	if t.replaced != nil {
		t.s.view.drop(func(seq int64) bool { return seq == t.replaced.Seq })
	}
	t.s.view.showRunning(t.pair.Seq)
	return nil
}
