package assistant

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"winnow/assistant/budget"
)

// Prompt is what a user sends.
type Prompt struct {
	Text        string
	Attachments []Attachment // files whose text is part of Text
	// Replaces is the pair that the new one takes the place of, at the end of
	// the stream: an error pair asked again, or the last one regenerated. 0 is none.
	Replaces int64
	// Retry is the error pair to try again in its place. It goes on from the
	// whole responses the pair holds. 0 is none.
	Retry int64
	// Force sends a prompt that is estimated to be too large: an estimate may be
	// wrong, the endpoint has the last word.
	Force bool
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
	t, err := s.newTurn(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.start(t)
}

// newTurn prepares a turn with the selected model and everything else that it
// keeps, whatever is changed meanwhile.
func (s *Session) newTurn(ctx context.Context, p Prompt) (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model == "" {
		return nil, ErrNoModel
	}
	model, name, info, err := s.registry.Open(s.model)
	if err != nil {
		return nil, err
	}
	t := &turn{
		s: s, prompt: p, model: model, name: name, modelID: s.model, info: info,
		settings: s.opts.Settings, session: s.id, topic: s.topic, told: s.context,
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	return t, nil
}

func (s *Session) start(t *turn) (<-chan Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		t.cancel()
		return nil, ErrBusy
	}
	t.events = make(chan Event, eventBuffer)
	s.running = t
	go t.run()
	return t.events, nil
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
	if t.attempt != nil && t.decided == nil {
		s.view.trimmed, s.lastSend = t.attempt.T(), t.lastSend()
	}
	s.view.tracker.SetLimit(s.limit()) // the endpoint may have spoken of its quotas
}

// use lets one caller at a time work on window, journal and store, and no turn
// meanwhile: a turn that is started waits. While a turn runs it is ErrBusy.
func (s *Session) use() (release func(), err error) {
	s.mu.Lock()
	if s.running != nil {
		s.mu.Unlock()
		return nil, ErrBusy
	}
	s.users++
	s.mu.Unlock()
	s.desk.Lock()
	return func() {
		s.desk.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.users--; s.users == 0 {
			s.unused.Broadcast()
		}
	}, nil
}

// waitUnused waits for those who were at work when the turn was started. It
// reports false when ctx ends first.
func (s *Session) waitUnused(ctx context.Context) bool {
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock() // else it could come between the question and the wait
		defer s.mu.Unlock()
		s.unused.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.users > 0 && ctx.Err() == nil {
		s.unused.Wait()
	}
	return s.users == 0
}

// Queue keeps one message to be sent when the response that is streaming now
// is whole; a newer one takes its place. It returns ErrEmpty for no text, and
// ErrNotBusy when no turn runs: then send it.
func (s *Session) Queue(p Prompt) error {
	if p.blank() {
		return ErrEmpty
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return ErrNotBusy
	}
	s.queued = &p
	if s.running.seq == 0 { // TurnStarted comes first
		s.running.owed.Store(&Queued{p.Text})
		return nil
	}
	select {
	case s.running.events <- Queued{p.Text}: // open as long as the turn is the running one
	default:
		s.running.owed.Store(&Queued{p.Text}) // the reader is behind: told with the next event
	}
	return nil
}

// Queued returns the waiting message.
func (s *Session) Queued() (Prompt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued == nil {
		return Prompt{}, false
	}
	return *s.queued, true
}

// TakeQueued removes the waiting message and returns it: to edit it, to drop
// it, or to send it once the turn has ended.
func (s *Session) TakeQueued() (Prompt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued == nil {
		return Prompt{}, false
	}
	p := *s.queued
	s.queued = nil
	return p, true
}

// Cancel breaks off the running turn, if there is one. Its channel ends with
// Cancelled; a queued message stays where it is.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.cancel()
	}
}

// Request is the exact request that Send would make now for a text: what is
// seen is what is sent. The body is the JSON document of the selected
// endpoint when it can show one. It looks at the window, so while a turn runs
// it is ErrBusy.
func (s *Session) Request(ctx context.Context, text string) (Request, json.RawMessage, error) {
	release, err := s.use()
	if err != nil {
		return Request{}, nil, err
	}
	defer release()
	t, err := s.newTurn(ctx, Prompt{Text: text})
	if err != nil {
		return Request{}, nil, err
	}
	defer t.cancel()
	if err := t.loadPair(); err != nil {
		return Request{}, nil, err
	}
	if err := t.assemble(t.look()); err != nil {
		return Request{}, nil, err
	}
	req := t.request()
	body, err := encodeRequest(t.model, req)
	return req, body, err
}

// measure estimates the system prompt before the first turn has written one,
// so that the first boundary is right. A window that cannot be read now says
// so when a message is sent.
func (s *Session) measure(ctx context.Context) {
	t, err := s.newTurn(ctx, Prompt{})
	if err != nil {
		return
	}
	defer t.cancel()
	t.pair = &Pair{}
	system, err := t.system(nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.tracker.SetSystem(t.systemCost(system))
	s.view.tracker.Dirty(budget.PairsLoaded)
}

// costsOf are what the boundary needs to know of refs.
func costsOf(refs []Ref) []budget.Cost {
	costs := make([]budget.Cost, len(refs))
	for i, r := range refs {
		costs[i] = budget.Cost{Tokens: r.Cost, Contributes: r.Sends}
	}
	return costs
}

// without is refs with the pairs of these Seqs left out.
func without(refs []Ref, seqs ...int64) []Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool { return slices.Contains(seqs, r.Seq) })
}
