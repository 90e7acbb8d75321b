package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"winnow/assistant/budget"
)

// Prompt is what a user sends.
type Prompt struct {
	Text        string
	Attachments []Attachment // files whose text is part of Text
	// Replaces is the pair that the new one takes the place of, at the end of
	// the stream: an error pair asked again, or the last one regenerated. 0 is none.
	Replaces int64
	// Retry is the error pair to try again in its place. 0 is none.
	Retry int64
}

func (p Prompt) blank() bool { return p.Retry == 0 && strings.TrimSpace(p.Text) == "" }

// eventBuffer holds a burst of events while the reader draws: enough for a
// frame at the fastest stream measured, 1,000 chunks a second at 30 frames.
const eventBuffer = 256

// Send begins a turn and returns its events. The channel ends with exactly one
// of Complete, Error and Cancelled and is then closed; it must be read to its
// end. Send itself waits for nothing. ErrBusy: a turn runs already, see Queue.
func (s *Session) Send(ctx context.Context, p Prompt) (<-chan Event, error) {
	if p.blank() {
		return nil, ErrEmpty
	}
	model, name, info, err := s.openModel()
	if err != nil {
		return nil, err
	}
	return s.start(ctx, &turn{s: s, prompt: p, model: model, name: name, info: info})
}

func (s *Session) openModel() (Model, string, ModelInfo, error) {
	id := s.Model()
	if id == "" {
		return nil, "", ModelInfo{}, ErrNoModel
	}
	return s.registry.Open(id)
}

func (s *Session) start(ctx context.Context, t *turn) (<-chan Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return nil, ErrBusy
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.events = make(chan Event, eventBuffer)
	t.settings, t.modelID, t.session, t.topic = s.opts.Settings, s.model, s.id, s.topic
	s.running = t
	go t.run()
	return t.events, nil
}

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
	seq    int64 // of the pair once it is durable; guarded by the session's lock

	pair        *Pair
	fresh       bool  // the pair was made by this turn
	replaced    *Pair // what Replaces named, to be brought back on cancel
	list        *MessageList
	spans       []int // messages of each included pair, oldest first
	boundary    budget.Boundary
	includedIDs []budget.Selected
	attempt     *budget.Attempt
	tools       *toolbox
	place       Available
	checkpoint  string // id of this turn's; "" before the first write
}

// run is the turn's goroutine. The lock is released on every way out.
func (t *turn) run() {
	end := t.guarded()
	t.s.end(t)
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
			t.s.log.Error("turn broke down", "panic", fmt.Sprint(p))
			end = t.close(&failure{string(KindUnknown), fmt.Sprintf("winnow itself broke down: %v", p)})
		}
	}()
	if err := t.prepare(); err != nil {
		return t.close(err)
	}
	return t.close(t.engine().run(t.ctx))
}

// end makes the session ready for the next turn.
func (s *Session) end(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
	for id, answer := range s.answers {
		close(answer)
		delete(s.answers, id)
	}
	if t.attempt != nil {
		s.view.trimmed = t.attempt.T()
	}
	for _, p := range t.payloads() {
		s.offered[p.ID] = p
	}
}

func (t *turn) payloads() []Payload {
	if t.pair == nil {
		return nil
	}
	return t.pair.Payloads
}

// emit tells the reader, unless the turn was cancelled.
func (t *turn) emit(e Event) {
	select {
	case t.events <- e:
	case <-t.ctx.Done():
	}
}

// prepare builds the request and makes the prompt durable: no byte leaves
// before that.
func (t *turn) prepare() error {
	if err := t.loadPair(); err != nil {
		return err
	}
	system, err := t.system()
	if err != nil {
		return err
	}
	sys := t.systemCost(system)
	if err := t.include(system, sys); err != nil {
		return err
	}
	if t.attempt.TooLarge() {
		t.pair.State, t.pair.ErrorCode = PairError, CodePromptTooLarge
	}
	if err := t.keepPair(); err != nil {
		return err
	}
	if j := t.s.opts.Journal; j != nil {
		if err := j.Forget(); err != nil { // the last rollback stands from here on
			return err
		}
	}
	t.telemetry("")
	if t.attempt.TooLarge() {
		return &failure{CodePromptTooLarge, fmt.Sprintf(
			"the message (~%d tokens) and the system prompt (~%d) are more than %s takes (%d); nothing was sent",
			t.attempt.Record().AUT, sys, t.modelID, t.attempt.Record().Budget.MaxContext)}
	}
	return nil
}

// systemCost is SYS: the system prompt and the tool schemas.
func (t *turn) systemCost(system string) int {
	sum := t.settings.Budget.Estimate(system)
	for _, spec := range t.tools.specs() {
		sum += t.settings.Budget.Estimate(spec.Name + spec.Description + string(spec.Parameters))
	}
	return sum
}

// loadPair takes the pair to try again, or makes a new one.
func (t *turn) loadPair() error {
	now := t.s.now()
	if t.prompt.Retry == 0 {
		t.fresh = true
		t.pair = &Pair{
			ID: NewID(now), Session: t.session, Topic: t.topic, Model: t.modelID, Flag: true,
			UserText: strings.TrimSpace(t.prompt.Text), Attachments: t.prompt.Attachments,
			State: PairSending, CreatedAt: now,
		}
	} else {
		old, err := t.load(t.prompt.Retry)
		if err != nil || old.State != PairError {
			return &failure{string(KindUnknown), "the pair to try again is gone, or has no error"}
		}
		t.pair = old
		t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage, t.pair.Notice = PairSending, "", "", ""
		t.pair.AssistantText, t.pair.Reasoning, t.pair.ToolCalls, t.pair.Payloads = "", "", nil, nil
		t.pair.Suggested, t.pair.Usage, t.pair.Model = nil, nil, t.modelID
	}
	if t.prompt.Replaces != 0 {
		old, err := t.load(t.prompt.Replaces)
		if err != nil {
			return &failure{string(KindUnknown), "the pair to replace is gone"}
		}
		t.replaced = old
		t.pair.Topic, t.pair.Star, t.pair.Flag = old.Topic, old.Star, old.Flag
	}
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

// include takes what the boundary includes at this moment, and nothing else.
func (t *turn) include(system string, sys int) error {
	refs, costs, at := t.s.included(sys, t.prompt.Replaces)
	t.boundary = at
	t.attempt = budget.NewAttempt(at, costs, t.settings.Budget.Estimate(t.pair.UserText), sys, t.settings.Budget)
	seqs := make([]int64, 0, len(refs))
	for _, i := range t.attempt.Included() {
		if refs[i].Seq != t.pair.Seq {
			seqs = append(seqs, refs[i].Seq)
		}
	}
	pairs, err := t.s.opts.Store.Load(t.ctx, seqs)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	t.list = NewMessageList(&AgentMessage{system})
	for i := range pairs {
		messages := PairMessages(&pairs[i])
		t.list.Append(messages...)
		t.spans = append(t.spans, len(messages))
		t.includedIDs = append(t.includedIDs, budget.Selected{
			ID: pairs[i].ID, Model: pairs[i].Model, Tokens: PairCost(&pairs[i], t.settings.Budget.CPT()),
		})
	}
	t.list.Append(&TextMessage{t.pair.UserText, RoleUser})
	return nil
}

// included is the view as the boundary divides it now, without the pair that is replaced.
func (s *Session) included(sys int, replaces int64) ([]Ref, []budget.Cost, budget.Boundary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if replaces != 0 {
		s.view.drop(budget.PairDeleted, func(seq int64) bool { return seq == replaces })
	}
	s.view.tracker.SetSystem(sys)
	at := s.view.tracker.Boundary()
	return append([]Ref(nil), s.view.refs...), append([]budget.Cost(nil), s.view.tracker.Costs()...), at
}

// keepPair commits the pair as it is and shows it.
func (t *turn) keepPair() error {
	b := &Batch{Put: []*Pair{t.pair}}
	if t.replaced != nil && t.pair.Seq == 0 {
		b.Delete = []int64{t.replaced.Seq}
	}
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), b); err != nil {
		return fmt.Errorf("the message could not be stored, so it was not sent: %w", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.seq = t.pair.Seq
	t.s.view.put(Ref{Seq: t.pair.Seq}, budget.PairAppended)
	return nil
}

// engine carries the turn out under the session's rules.
func (t *turn) engine() *engine {
	e := &engine{
		model: t.model, tools: t.tools, types: t.place.llmPayloads(), limits: t.settings.Limits.orDefault(),
		now: t.s.now, pair: t.pair, invalid: t.pair.InvalidRounds,
	}
	e.hooks = hooks{
		emit: t.emit, request: t.request, overflow: t.overflow, record: t.record, approve: t.approve,
		before: t.before, after: t.after,
		stop: func() bool { _, waiting := t.s.Queued(); return waiting },
	}
	return e
}

// request is the next request: the system prompt, the included pairs that were
// not trimmed, and the whole running turn.
func (t *turn) request() Request {
	skip := 0
	for _, n := range t.spans[:t.attempt.T()] {
		skip += n
	}
	messages := append([]Message{t.list.At(0)}, t.list.messages[1+skip:]...)
	return Request{Model: t.name, Messages: wireMessages(messages), Tools: t.tools.specs()}
}

// overflow drops the oldest included pair.
func (t *turn) overflow(re *RequestError) error {
	more := t.attempt.Overflow()
	t.telemetryEnded(re)
	if !more {
		return &failure{CodeOverflowTrimmed, fmt.Sprintf(
			"the request is too long for %s even without %d of %d pairs: %s",
			t.modelID, t.attempt.T(), t.attempt.X(), re.Message)}
	}
	t.emit(ContextTrimmed{
		Sent: t.attempt.X() - t.attempt.T(), Trimmed: t.attempt.T(),
		Visible: t.boundary.Y, Attempt: t.attempt.T() + 1,
	})
	t.telemetry("")
	return nil
}

// record keeps the messages of a whole response.
func (t *turn) record(messages []Message) error {
	t.list.Append(messages...)
	t.attempt.Complete()
	t.telemetryEnded(nil)
	if _, final := messages[0].(*TextMessage); final {
		return nil // close commits it
	}
	grown := 0
	for _, part := range PairParts(&Pair{State: PairComplete, AssistantText: t.pair.AssistantText, ToolCalls: t.pair.ToolCalls}) {
		grown += t.settings.Budget.Estimate(part)
	}
	t.attempt.Continue(grown)
	return t.commit()
}

func (t *turn) commit() error {
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), &Batch{Put: []*Pair{t.pair}}); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// close writes down how the turn ended and returns the event that says so.
// What it says is on disk before it is said.
func (t *turn) close(err error) Event {
	if t.pair == nil || t.pair.Seq == 0 {
		return notStarted(t.ctx, err)
	}
	t.pair.Took = t.s.now().Sub(t.pair.CreatedAt).Round(time.Millisecond)
	var f *failure
	switch {
	case err == nil:
		t.pair.State = PairComplete
		return t.settle(t.complete())
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return t.cancelled()
	case !errors.As(err, &f):
		f = &failure{string(KindUnknown), err.Error()}
	}
	t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, f.code, f.message
	if t.attempt != nil {
		t.attempt.Fail()
	}
	t.s.log.Error("turn failed", "code", f.code, "model", t.modelID)
	return t.settle(Error{Code: f.code, Message: f.message})
}

func notStarted(ctx context.Context, err error) Event {
	var f *failure
	switch {
	case ctx.Err() != nil:
		return Cancelled{}
	case errors.As(err, &f):
		return Error{Code: f.code, Message: f.message}
	}
	return Error{Code: string(KindUnknown), Message: err.Error()}
}

func (t *turn) complete() Event {
	payload := ResponsePayload{Message: t.pair.AssistantText, Notice: t.pair.Notice}
	if t.pair.Suggested != nil {
		payload.Suggested = *t.pair.Suggested
	}
	if history := toolHistoryOf(t.pair); len(history) > 0 {
		payload.Custom = &CustomPayload{Type: PayloadTools, Data: history}
	}
	return Complete{payload}
}

// toolHistoryOf lists the calls of a pair that have cards.
func toolHistoryOf(p *Pair) []ToolHistoryEntry {
	var out []ToolHistoryEntry
	for _, c := range p.ToolCalls {
		if c.Silent || c.Result == nil {
			continue
		}
		out = append(out, ToolHistoryEntry{ToolName: c.Name, Input: c.Arguments, Output: c.Result.Message, Success: c.Result.Success})
	}
	return out
}

// cancelled lets the pair vanish when no tool has run, and keeps it otherwise.
func (t *turn) cancelled() Event {
	ran := false
	for _, c := range t.pair.ToolCalls {
		ran = ran || (!c.Silent && c.Result != nil)
	}
	if ran || !t.fresh {
		t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, CodeCancelled, "cancelled"
		t.pair.AssistantText = wholeResponses(t.pair)
		return t.settle(Cancelled{Kept: true})
	}
	b := &Batch{Delete: []int64{t.pair.Seq}}
	if t.replaced != nil {
		t.replaced.Seq = 0
		b.Put = []*Pair{t.replaced}
	}
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), b); err != nil {
		return Error{Code: string(KindUnknown), Message: fmt.Sprintf("cancelled, but the store failed: %v", err)}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.drop(budget.PairDeleted, func(seq int64) bool { return seq == t.pair.Seq })
	if t.replaced != nil {
		t.s.view.put(PairRef(t.replaced, t.settings.Budget.CPT()), budget.PairAppended)
	}
	return Cancelled{}
}

// wholeResponses is the text up to the last tool result: what came after it
// was not whole.
func wholeResponses(p *Pair) string {
	at := markerForm.FindAllStringIndex(p.AssistantText, -1)
	if len(at) == 0 {
		return ""
	}
	return p.AssistantText[:at[len(at)-1][1]]
}

// settle commits the final pair and gives its cost to the boundary.
func (t *turn) settle(end Event) Event {
	if err := t.commit(); err != nil {
		t.s.log.Error("pair not stored", "error", err)
		return Error{Code: string(KindUnknown), Message: fmt.Sprintf("the answer could not be stored: %v", err)}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.put(PairRef(t.pair, t.settings.Budget.CPT()), budget.ReplyArrived)
	return end
}
