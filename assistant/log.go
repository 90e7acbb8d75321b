package assistant

import (
	"context"
	"iter"
	"slices"
	"sync"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
)

// Update is what has changed in a Session after a version: every part that changed, as of
// one instant, and at most one event of a turn. Parts are shared by all readers, who must
// not change them.
type Update struct {
	Version int64 // for the next call of Next
	Shown   *Shown
	Turn    *TurnState
	Model   *ModelState
	Event   Event // nil: no event
	// Resync reports that events were left out, because the reader was too far behind:
	// it loads the pairs that it shows again, and forgets what it has of a running turn,
	// whose events follow from its start, as far as they are stored. All parts are set.
	Resync bool
}

// Shown is the visible pairs, and which of them the next request contains.
type Shown struct {
	Version  int64  // at which it changed
	Session  string // its id
	Filter   string // the line that made the view
	Refs     []Ref  // oldest first
	Boundary budget.Boundary
	Counter  string // see Session.Counter
}

// TurnState is the running turn and the message that waits for its end.
type TurnState struct {
	Running     bool
	Pair        int64  // of the running turn; 0 before its message is stored
	Waits       bool   // a message waits
	Queued      Prompt // that message
	QueuePaused bool   // see Session.QueuePaused
}

// ModelState is the selected model, with what is known of it.
type ModelState struct {
	ID   string // "provider/name"; "" is none
	Info llm.ModelInfo
}

// The bounds of the events that a session stores for its readers.
const (
	maxLogEntries = 16_384
	maxLogBytes   = 32 << 20 // of text
)

// sessionLog numbers what happens in a Session. The session's mutex guards it and
// publishes to it: see publishingMutex. The parts are made by the first reader.
type sessionLog struct {
	version int64
	wake    chan struct{} // closed at the next version; nil when nobody waits

	models int    // counts what the registry may have learned
	states states // at version
	shown  part[Shown]
	turn   part[TurnState]
	model  part[ModelState]

	entries []logEntry
	bytes   int   // of the texts in entries
	dropped int64 // version of the newest entry that is not stored any more
	began   int64 // version before the first event of the newest turn
}

// states is compared to see what has changed; it costs nothing to make.
type states struct {
	shown shownState
	turn  turnState
	model modelState
}

type (
	shownState struct {
		id, line string
		changes  int // of the refs and the boundary
		frozen   bool
		last     *LastSend
	}
	turnState struct {
		running *turn
		seq     int64
		queued  *Prompt
		paused  bool
	}
	modelState struct {
		id    string
		limit budget.Limit
		made  int // see sessionLog.models
	}
)

// part is a part of an Update.
type part[T any] struct {
	state   any // it was made of
	value   *T
	version int64 // at which it changed
}

// logEntry is an event, or pieces of text of one kind that followed each other, each with
// a version of its own.
type logEntry struct {
	first, last int64 // versions
	event       Event // the first one
	text        []byte
	ends        []int // in text, of each version
}

// publishingMutex is the mutex of a Session. Unlock publishes what was changed, so that no
// place can forget it. That takes the same short time however many pairs and readers there
// are; a lock that only reads publishes nothing.
type publishingMutex struct {
	sync.Mutex
	session *Session // nil in a session that is not made yet
}

// Unlock publishes and unlocks.
func (m *publishingMutex) Unlock() {
	if s := m.session; s != nil {
		if now := s.states(); now != s.updates.states {
			s.updates.states = now
			s.updates.next()
		}
	}
	m.Mutex.Unlock()
}

// The methods below are called with the session's mutex locked.

func (s *Session) states() states {
	now := states{
		shown: shownState{s.current.id, s.view.line, s.view.tracker.Changes(), s.view.frozen, s.current.lastSend},
		turn:  turnState{running: s.running, queued: s.current.queued, paused: s.current.queuePaused},
		model: modelState{s.model, s.view.tracker.Limit(), s.updates.models},
	}
	if s.running != nil {
		now.turn.seq = s.running.seq
	}
	return now
}

// next makes a new version and wakes the readers.
func (l *sessionLog) next() int64 {
	l.version++
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
	return l.version
}

// add adds an event.
func (l *sessionLog) add(e Event) {
	version := l.next()
	text, isText := textOf(e)
	if n := len(l.entries); isText && n > 0 && l.entries[n-1].last == version-1 && sameKind(l.entries[n-1].event, e) {
		last := &l.entries[n-1]
		last.last, last.text = version, append(last.text, text...)
		last.ends = append(last.ends, len(last.text))
	} else {
		entry := logEntry{first: version, last: version, event: e}
		if isText {
			entry.text, entry.ends = []byte(text), []int{len(text)}
		}
		l.entries = append(l.entries, entry)
	}
	l.bytes += len(text)
	drop := 0
	for n := len(l.entries); n-drop > 1 && (n-drop > maxLogEntries || l.bytes > maxLogBytes); drop++ {
		l.bytes -= len(l.entries[drop].text)
		l.dropped = l.entries[drop].last
		l.entries[drop] = logEntry{}
	}
	l.entries = l.entries[drop:]
}

// textOf is the piece of text or reasoning that an event is. There is always an event
// between the marker of a card and the text after it, so the marker stays by itself.
func textOf(e Event) (text string, ok bool) {
	switch e := e.(type) {
	case TextDelta:
		return e.Text, true
	case ReasoningDelta:
		return e.Text, true
	default:
		return "", false
	}
}

func sameKind(a, b Event) bool { return a.event() == b.event() }

// after is the event of an entry as a reader of a version gets it: without the pieces that
// it has read.
func (e *logEntry) after(version int64) Event {
	if e.text == nil {
		return e.event
	}
	from := 0
	if version >= e.first {
		from = e.ends[version-e.first]
	}
	if _, thought := e.event.(ReasoningDelta); thought {
		return ReasoningDelta{string(e.text[from:])}
	}
	return TextDelta{string(e.text[from:])}
}

// refresh makes the parts whose state has changed. One that is equal to before stays.
func (s *Session) refresh() {
	l, now := &s.updates, s.updates.states
	refreshPart(&l.shown, now.shown, l.version, func() Shown {
		return Shown{l.version, now.shown.id, now.shown.line, slices.Clone(s.view.refs), s.view.tracker.Boundary(), s.counter()}
	}, func(a, b Shown) bool {
		return a.Session == b.Session && a.Filter == b.Filter && a.Boundary == b.Boundary && a.Counter == b.Counter && slices.Equal(a.Refs, b.Refs)
	})
	refreshPart(&l.turn, now.turn, l.version, func() TurnState {
		t := TurnState{Running: s.running != nil, Pair: now.turn.seq}
		if q := s.current.queued; q != nil {
			t.Waits, t.Queued, t.QueuePaused = true, *q, s.current.queuePaused
		}
		return t
	}, func(a, b TurnState) bool {
		return a.Running == b.Running && a.Pair == b.Pair && !a.Waits && !b.Waits
	})
	refreshPart(&l.model, now.model, l.version, func() ModelState {
		_, _, info, _ := s.registry.Open(s.model) // the zero value for an unknown model
		return ModelState{s.model, info}
	}, func(a, b ModelState) bool { return a.ID == b.ID && a.Info == b.Info })
}

func refreshPart[T any, S comparable](p *part[T], state S, version int64, value func() T, equal func(a, b T) bool) {
	if p.value != nil && p.state == any(state) {
		return
	}
	made := value()
	p.state = state
	if p.value == nil || !equal(*p.value, made) {
		p.value, p.version = &made, version
	}
}

// updateAfter is the update after a version, or the channel that is closed when there may
// be one.
func (s *Session) updateAfter(version int64) (u Update, wait <-chan struct{}) {
	s.refresh()
	l := &s.updates
	u.Version = l.version
	u.Resync = version >= 0 && version < l.dropped || version > l.version
	if version < 0 || u.Resync {
		version = -1
	}
	if l.shown.version > version {
		u.Shown = l.shown.value
	}
	if l.turn.version > version {
		u.Turn = l.turn.value
	}
	if l.model.version > version {
		u.Model = l.model.value
	}
	switch i := s.entryAfter(version); {
	case version < 0 && s.running != nil:
		u.Version = max(l.began, l.dropped) // its events follow
	case version >= 0 && i < len(l.entries):
		u.Event, u.Version = l.entries[i].after(version), l.entries[i].last
	case version >= 0 && u.Shown == nil && u.Turn == nil && u.Model == nil:
		if l.wake == nil {
			l.wake = make(chan struct{})
		}
		return u, l.wake
	}
	return u, nil
}

// entryAfter is the first entry with something after a version.
func (s *Session) entryAfter(version int64) int {
	i, _ := slices.BinarySearchFunc(s.updates.entries, version, func(e logEntry, version int64) int {
		if e.last > version {
			return 1
		}
		return -1
	})
	return i
}

// Next returns what has changed after a version, and waits for it; -1 returns all parts as
// they are now, and the events of a running turn follow. The error is that of ctx.
func (s *Session) Next(ctx context.Context, after int64) (Update, error) {
	for {
		learned := s.registry.Changed()
		s.mu.Lock()
		s.followLimit()
		s.mu.Unlock() // publishes it
		s.mu.Lock()
		u, wait := s.updateAfter(after)
		s.mu.Unlock()
		if wait == nil {
			return u, nil
		}
		select {
		case <-wait:
		case <-learned:
			s.ModelsChanged()
		case <-ctx.Done():
			return Update{}, ctx.Err()
		}
	}
}

// Version is the newest version, for Next to return only what comes after.
func (s *Session) Version() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updates.version
}

// Follow returns what changes after a version, as Next does, until ctx ends. A part that
// the reader has got already is left out.
func (s *Session) Follow(ctx context.Context, after int64) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		var seen Update
		for {
			u, err := s.Next(ctx, after)
			if err != nil {
				return
			}
			after = u.Version
			first(&u.Shown, &seen.Shown)
			first(&u.Turn, &seen.Turn)
			first(&u.Model, &seen.Model)
			if (u.Shown != nil || u.Turn != nil || u.Model != nil || u.Event != nil || u.Resync) && !yield(u) {
				return
			}
		}
	}
}

// first removes a part that was seen.
func first[T any](p, seen **T) {
	if *p != nil && *p == *seen {
		*p = nil
	} else if *p != nil {
		*seen = *p
	}
}
