package assistant

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"winnow/assistant/attachment"
	"winnow/assistant/llm"
)

// Prompt is a message that a user sends.
type Prompt struct {
	ID          string // ID of the new pair, so that a prompt sent twice is stored once; "" generates one
	Text        string
	Typed       string       `json:",omitempty"` // as the user typed it, without the texts of files; "" means Text
	Attachments []Attachment // pictures, and files whose text is part of Text
	// Replaces is the failed pair that the new pair replaces; the new pair
	// comes last. 0 means none.
	Replaces int64
	// Regenerate is the pair whose message is answered again. The new answer
	// becomes the chosen one when it is complete; until then, and after an
	// error, the old one stays chosen. 0 means none.
	Regenerate int64
	// Retry is the failed pair to retry in place, after its complete responses.
	// 0 means none.
	Retry int64
	// Sampling sets the sampling parameters of this turn.
	Sampling llm.Sampling `json:",omitzero"`
	// Force sends a prompt whose estimate is too large: the estimate may be
	// wrong, and the endpoint decides.
	Force bool
	// Confirmed runs tools without asking the user.
	Confirmed bool `json:"-"`
}

func (p Prompt) blank() bool { return !p.Again() && strings.TrimSpace(p.Text) == "" }

// Again reports whether the prompt repeats the message of an existing pair.
func (p Prompt) Again() bool { return p.Retry != 0 || p.Regenerate != 0 }

// Begin starts a turn and returns at once. Cancelling ctx cancels the turn.
// Pass after to Events, Next or Follow to read the turn's events, up to
// Complete, Error or Cancelled. The turn does not wait for readers. ErrBusy
// means that a turn is already running; see Queue.
func (s *Session) Begin(ctx context.Context, p Prompt) (after int64, err error) {
	if p.blank() {
		return 0, ErrEmpty
	}
	if err := s.checkOwner(ctx, nonzero(p.Replaces, p.Regenerate, p.Retry)...); err != nil {
		return 0, err
	}
	t, err := s.newTurn(ctx, p)
	if err != nil {
		return 0, err
	}
	if q := s.opts.Quota; q != nil && !s.Busy() { // a busy session rejects the turn anyway
		if err := q.Admit(ctx); err != nil {
			t.cancel(err)
			return 0, err
		}
	}
	return s.startTurn(t)
}

// Events returns the events of the first turn after a version of the log, such
// as the version from Begin, ending with Complete, Error or Cancelled. It waits
// for a turn if there is none yet, and stops early when ctx ends. Each call
// serves one reader. If the reader is so far behind that the log has dropped
// events, it gets a Status in their place.
func (s *Session) Events(ctx context.Context, after int64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for ctx.Err() == nil {
			e, version, wait := s.eventAfter(after)
			if e == nil {
				select {
				case <-wait:
				case <-ctx.Done():
				}
				continue
			}
			after = version
			if !yield(e) || ends(e) {
				return
			}
		}
	}
}

func ends(e Event) bool {
	switch e.(type) {
	case Complete, Error, Cancelled:
		return true
	default:
		return false
	}
}

// eventAfter returns the first event after a version, with its own version. If there is
// none yet, wait is closed as soon as there may be one.
func (s *Session) eventAfter(after int64) (e Event, version int64, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.updates
	if after < l.dropped {
		return Status{"part of the answer is missing here: it arrived faster than it was read"}, l.dropped, nil
	}
	if i := s.entryAfter(after); i < len(l.entries) {
		return l.entries[i].after(after), l.entries[i].last, nil
	}
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return nil, 0, l.wake
}

// Turn returns the running turn, or else the last one; nil before the first.
func (s *Session) Turn() *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updates.current
}

// newTurn prepares a turn. The selected model and everything else that the
// turn uses stay the same until it ends.
func (s *Session) newTurn(ctx context.Context, p Prompt) (*turn, error) {
	if err := s.Needs(RolePropose); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model == "" {
		return nil, ErrNoModel
	}
	model, name, info, err := s.registry.Open(s.model)
	if err != nil {
		return nil, err
	}
	if info.Vision == llm.Unable && len(attachment.Pictures(p.Attachments)) > 0 {
		return nil, fmt.Errorf("%w: %s", llm.ErrNoVision, s.model)
	}
	return s.turnWith(ctx, p, model, name, info), nil
}

// turnWith returns a turn that a model answers. The caller holds s.mu.
func (s *Session) turnWith(ctx context.Context, p Prompt, model llm.Model, name string, info llm.ModelInfo) *turn {
	t := &turn{
		loop: loop{
			registry: s.registry, model: model, name: name, modelID: s.model, sampling: p.Sampling, now: s.now, log: s.log,
			iterations: cmp.Or(max(s.opts.Settings.Iterations, 0), DefaultIterations),
		},
		s: s, session: s.current.id, topic: s.topic, done: make(chan struct{}),
		request: request{prompt: p, info: info, settings: s.opts.Settings, context: s.current.context},
	}
	t.host = t
	if q := s.opts.Quota; q != nil {
		t.spent = q.Spent
	}
	t.ctx, t.cancel = context.WithCancelCause(s.ToolContext(ctx))
	return t
}

type sessionKey struct{}

// ToolContext returns a ctx for tool calls in the session.
func (s *Session) ToolContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionOf returns the session in which a tool was called; nil if ctx is not
// from a tool call.
func SessionOf(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}

// startTurn starts a turn and returns the version before its first event.
func (s *Session) startTurn(t *turn) (after int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		t.cancel(nil)
		return 0, ErrBusy
	}
	l := &s.updates
	s.running, after = t, l.version
	l.turns++
	l.current, l.received = &Turn{Number: l.turns, Prompt: t.prompt, Model: t.modelID, Began: s.now()}, received{}
	close(s.turnStarted)
	go t.run()
	return after, nil
}

// endTurn makes the session ready for the next turn.
func (s *Session) endTurn(t *turn, end Event) {
	if t.attempt != nil {
		t.noteSend(false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
	s.turnStarted = make(chan struct{})
	clear(s.answers)
	if _, complete := end.(Complete); !complete {
		s.current.queuePaused = true // a queued message is never sent automatically after an error
	}
	s.view.tracker.SetLimit(s.limit()) // the endpoint may have reported its limits
	t.publish(append(t.pendingEvents, end)...)
}

// Cancel ends the running turn, if any, with Cancelled. A queued message stays
// queued.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.cancel(nil)
	}
}

// Answer answers a ConfirmRequest.
func (s *Session) Answer(id string, yes bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, open := s.answers[id]
	if !open {
		return ErrNotAsked
	}
	delete(s.answers, id)
	answer <- yes
	return nil
}
