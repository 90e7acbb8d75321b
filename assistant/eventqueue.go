package assistant

import "sync"

const (
	// eventBuffer is the capacity of the channel that Send returns.
	eventBuffer = 256
	// joinFrom is how many events wait for their reader before neighbouring pieces of
	// text are joined: a reader that is this far behind shows them at once anyway.
	joinFrom = 256
)

// eventQueue is the events of a turn on their way to the reader. The turn adds to it and
// never waits: a reader that is slow, or gone, holds neither the turn nor its window. What
// waits is bounded by what a turn stores, as pieces of text are joined.
type eventQueue struct {
	mu      sync.Mutex
	waiting []waitingEvent
	ended   bool
	more    chan struct{} // holds a value when waiting or ended has changed
}

// waitingEvent is an event, and the text of the pieces that were joined with it.
type waitingEvent struct {
	event  Event
	joined []byte
}

func newEventQueue() *eventQueue { return &eventQueue{more: make(chan struct{}, 1)} }

// add adds events.
func (q *eventQueue) add(events ...Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range events {
		if len(q.waiting) < joinFrom || !q.waiting[len(q.waiting)-1].join(e) {
			q.waiting = append(q.waiting, waitingEvent{event: e})
		}
	}
	q.wake()
}

// end ends the queue: nothing is added any more.
func (q *eventQueue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wake()
}

func (q *eventQueue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// forward sends all events to a reader, at its pace, and closes the channel after the end.
func (q *eventQueue) forward(to chan<- Event) {
	defer close(to)
	for range q.more {
		q.mu.Lock()
		events, ended := q.waiting, q.ended
		q.waiting = nil
		q.mu.Unlock()
		for _, w := range events {
			to <- w.whole()
		}
		if ended {
			return
		}
	}
}

// join appends a piece of text or reasoning to a piece of the same kind.
func (w *waitingEvent) join(e Event) bool {
	have, isText := textOf(w.event)
	text, alsoText := textOf(e)
	if !isText || !alsoText || !sameKind(w.event, e) {
		return false
	}
	if w.joined == nil {
		w.joined = []byte(have)
	}
	w.joined = append(w.joined, text...)
	return true
}

// whole is the event with what was joined.
func (w *waitingEvent) whole() Event {
	if w.joined == nil {
		return w.event
	}
	if _, thought := w.event.(ReasoningDelta); thought {
		return ReasoningDelta{string(w.joined)}
	}
	return TextDelta{string(w.joined)}
}
