package assistant

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// MessageQueue holds the message of a Session that is sent when the current response is
// complete, and the pair that the next message replaces.
type MessageQueue struct{ session *Session }

// Queue stores a message to be sent when the current response is complete. One
// message waits at a time: a second one is added to its text, and they are sent
// together. If the store is a SessionStore, the message is durable when Queue
// returns. Queue returns ErrEmpty if there is no text, and ErrNotBusy if no
// turn is running, because the message can be sent directly.
func (q MessageQueue) Queue(p Prompt) error {
	s := q.session
	if p.blank() {
		return ErrEmpty
	}
	s.queueing.Lock()
	defer s.queueing.Unlock()
	for {
		s.mu.Lock()
		t, id, before := s.running, s.current.id, s.current.queued
		s.mu.Unlock()
		if t == nil {
			return ErrNotBusy
		}
		joined := p
		if before != nil {
			joined = before.and(p)
		}
		if err := q.save(id, joined); err != nil {
			return err
		}
		if done, err := q.wait(t, id, before, joined); done {
			return err
		}
	}
}

// wait queues joined in place of before, the message queued until now. done is false
// if another call has changed the queue in the meantime.
func (q MessageQueue) wait(t *turn, id string, before *Prompt, joined Prompt) (done bool, err error) {
	s := q.session
	s.mu.Lock()
	c := &s.current
	switch {
	case s.running != t && before != nil && c.queued == before:
		s.mu.Unlock()
		return true, errors.Join(ErrNotBusy, q.save(id, *before)) // the earlier message still waits, without the new one
	case s.running != t:
		s.noteDequeued(id) // Begin or ForgetQueued removes it
		s.mu.Unlock()
		return true, ErrNotBusy
	}
	defer s.mu.Unlock()
	if c.queued != before {
		return false, nil
	}
	c.queued, c.queuePaused = &joined, false
	s.forgetDequeued(id)
	if t.seq == 0 { // TurnStarted comes first
		t.pendingEvents = append(t.pendingEvents, Queued{joined.Text})
	} else {
		t.publish(Queued{joined.Text})
	}
	return true, nil
}

// save stores the queued message if the store is a SessionStore.
func (q MessageQueue) save(id string, p Prompt) error {
	if store, ok := q.session.opts.Store.(SessionStore); ok {
		return store.SaveQueued(context.Background(), id, p)
	}
	return nil
}

// Queued returns the waiting message.
func (q MessageQueue) Queued() (Prompt, bool) {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.queued == nil {
		return Prompt{}, false
	}
	return *s.current.queued, true
}

// QueuePaused reports that the queued message is not sent automatically,
// because the turn before it failed or was cancelled, or because it was stored
// by an earlier run.
func (q MessageQueue) QueuePaused() bool {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.queued != nil && s.current.queuePaused
}

// Dequeue removes the queued message and returns it, for the user to edit, drop
// or send. It stays in the store until a message is sent or ForgetQueued is
// called.
func (q MessageQueue) Dequeue() (Prompt, bool) {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.current.queued
	if p == nil {
		return Prompt{}, false
	}
	s.current.queued = nil
	s.noteDequeued(s.current.id)
	return *p, true
}

// noteDequeued records that the stored message of a session is no longer queued.
// The session's mutex must be locked.
func (s *Session) noteDequeued(id string) {
	if _, durable := s.opts.Store.(SessionStore); durable && !slices.Contains(s.dequeued, id) {
		s.dequeued = append(s.dequeued, id)
	}
}

// forgetDequeued records that the stored messages of these sessions have been
// removed or replaced. The session's mutex must be locked.
func (s *Session) forgetDequeued(ids ...string) {
	s.dequeued = slices.DeleteFunc(s.dequeued, func(id string) bool { return slices.Contains(ids, id) })
}

// takenFromQueue returns the sessions whose message, returned by Dequeue, is
// still stored as queued.
func (s *Session) takenFromQueue() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.dequeued)
}

// ForgetQueued removes from the store the messages that Dequeue returned, in
// this session and in those open before it, once the caller has stored them
// elsewhere or dropped them.
func (q MessageQueue) ForgetQueued(ctx context.Context) error {
	s := q.session
	s.queueing.Lock()
	defer s.queueing.Unlock()
	for _, id := range s.takenFromQueue() {
		if err := s.opts.Store.(SessionStore).ClearQueued(ctx, id); err != nil {
			return err
		}
		s.mu.Lock()
		s.forgetDequeued(id)
		s.mu.Unlock()
	}
	return nil
}

// ReAsk records the failed pair whose message the user is editing: the next
// message replaces it, see Prompt.Replaces. 0 clears it.
func (q MessageQueue) ReAsk(seq int64) {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.reask = seq
}

// ReAsked returns the pair set by ReAsk.
func (q MessageQueue) ReAsked() int64 {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.reask
}

// and returns p followed by next, as one prompt.
func (p Prompt) and(next Prompt) Prompt {
	join := func(a, b string) string { return a + "\n\n" + b }
	joined := next
	joined.Text = join(p.Text, next.Text)
	if p.Typed != "" || next.Typed != "" {
		joined.Typed = join(cmp.Or(p.Typed, p.Text), cmp.Or(next.Typed, next.Text))
	}
	joined.Attachments = slices.Concat(p.Attachments, next.Attachments)
	joined.Replaces = cmp.Or(next.Replaces, p.Replaces)
	joined.Force = p.Force || next.Force
	return joined
}
