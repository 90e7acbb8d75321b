package assistant

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"winnow/assistant/budget"
)

// Update is what has changed after a version: every part that changed, as of one instant,
// and at most one event of a turn.
type Update struct {
	Version int64 // for the next call of Next
	State
	Stale *StalePairs // nil: no stored pair has changed
	Event Event       // nil: no event
	Of    *Turn       // of Event
	// Resync reports that events were left out, because the reader was too far behind.
	// All parts are set, and every pair is stale.
	Resync bool
	// Running is the pair of the running turn as it was received so far, for a reader
	// that gets all parts; the events after it follow. nil: no turn runs, or its message
	// is not stored yet.
	Running *Pair
}

// The bounds of the events that a session stores for its readers.
const (
	maxLogEntries = 16_384
	maxLogBytes   = 32 << 20 // of text
	maxStale      = 1024     // changes of stored pairs
)

// sessionLog numbers what happens in a Session. The session's mutex guards it and
// publishes to it: see publishingMutex. The parts are made by the first reader.
type sessionLog struct {
	window  *WindowLog // numbers the versions
	version int64
	wake    chan struct{} // closed at the next version; nil if there is no waiter

	models int    // counts what the registry may have learned
	states states // at version
	shown  part[Shown, *Shown]
	turn   part[TurnState, *TurnState]
	model  part[ModelState, *ModelState]

	turns    int        // started so far
	current  *Turn      // the running turn, or the last one
	received received   // of the running turn, without what is in entries
	entries  []logEntry // events
	bytes    int        // of the texts in entries
	dropped  int64      // version of the newest entry that is no longer stored

	stale        []stalePair
	staleDropped int64 // version of the newest change that is not in stale any more
}

// stalePair is a stored pair that has changed; seq 0 is any pair.
type stalePair struct{ version, seq int64 }

// states is compared to see what has changed; it costs nothing to make.
type states struct {
	shown shownState
	turn  turnState
	model modelState
}

type (
	shownState struct {
		id, line, topic string
		changes         int // of the refs and the boundary
		frozen          bool
		last            *LastSend
		cpt             float64
	}
	turnState struct {
		running   *turn
		newest    *Turn // it may have ended already
		seq       int64
		queued    *Prompt
		paused    bool
		reask     int64
		cancelled *Pair
		asks      *ConfirmRequest
		settings  Settings
		attempt   *budget.Record
	}
	modelState struct {
		id    string
		limit budget.Limit
		made  int // see sessionLog.models
	}
)

// logEntry is an event, or pieces of text of one kind that followed each other, each with
// a version of its own.
type logEntry struct {
	first, last int64 // versions
	of          *Turn
	event       Event // the first one
	text        []byte
	pieces      []piece // of text
}

type piece struct {
	version int64
	end     int // in the text
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
	c := &s.current
	now := states{
		shown: shownState{c.id, s.view.line, s.topic, s.view.tracker.Changes(), s.view.frozen, c.lastSend, s.opts.Settings.Budget.CPT()},
		turn:  turnState{running: s.running, newest: s.updates.current, queued: c.queued, paused: c.queuePaused, reask: c.reask, cancelled: c.cancelled, settings: s.opts.Settings, attempt: c.attempt},
		model: modelState{s.model, s.view.tracker.Limit(), s.updates.models},
	}
	if s.running != nil {
		now.turn.seq, now.turn.asks = s.running.seq, s.running.asks
	}
	return now
}

// next makes a new version and wakes the readers.
func (l *sessionLog) next() int64 {
	l.version = l.window.next()
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
	return l.version
}

// addStale notes that stored pairs have changed; without seqs any of them may have.
func (l *sessionLog) addStale(seqs ...int64) {
	version := l.next()
	if len(seqs) == 0 {
		seqs = []int64{0}
	}
	for _, seq := range seqs {
		l.stale = append(l.stale, stalePair{version, seq})
	}
	if drop := len(l.stale) - maxStale; drop > 0 {
		l.staleDropped = l.stale[drop-1].version
		l.stale = l.stale[drop:]
	}
}

// staleBetween is what has changed after a version, up to another one.
func (l *sessionLog) staleBetween(after, upTo int64) *StalePairs {
	end := func(version int64) int {
		i, _ := slices.BinarySearchFunc(l.stale, version+1, func(p stalePair, at int64) int { return cmp.Compare(p.version, at) })
		return i
	}
	changed := l.stale[end(after):end(upTo)]
	if after < l.staleDropped || slices.ContainsFunc(changed, func(p stalePair) bool { return p.seq == 0 }) {
		return &StalePairs{All: true}
	}
	if len(changed) == 0 {
		return nil
	}
	seqs := make([]int64, len(changed))
	for i, p := range changed {
		seqs[i] = p.seq
	}
	slices.Sort(seqs)
	return &StalePairs{Seqs: slices.Compact(seqs)}
}

// add adds an event.
func (l *sessionLog) add(e Event) {
	before := l.version
	version := l.next()
	text, isText := textOf(e)
	if n := len(l.entries); isText && n > 0 && l.entries[n-1].last == before && sameKind(l.entries[n-1].event, e) {
		last := &l.entries[n-1]
		last.last, last.text = version, append(last.text, text...)
		last.pieces = append(last.pieces, piece{version, len(last.text)})
	} else {
		entry := logEntry{first: version, last: version, of: l.current, event: e}
		if isText {
			entry.text, entry.pieces = []byte(text), []piece{{version, len(text)}}
		}
		l.entries = append(l.entries, entry)
	}
	l.bytes += len(text)
	drop := 0
	for n := len(l.entries); n-drop > 1 && (n-drop > maxLogEntries || l.bytes > maxLogBytes); drop++ {
		old := &l.entries[drop]
		l.bytes -= len(old.text)
		l.dropped = old.last
		if old.of == l.current {
			l.received.apply(old)
		}
		*old = logEntry{}
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
	if i, _ := slices.BinarySearchFunc(e.pieces, version+1, func(p piece, at int64) int { return cmp.Compare(p.version, at) }); i > 0 {
		from = e.pieces[i-1].end
	}
	if _, thought := e.event.(ReasoningDelta); thought {
		return ReasoningDelta{string(e.text[from:])}
	}
	return TextDelta{string(e.text[from:])}
}

// updateAfter is the update after a version, or the channel that is closed when there may
// be one.
func (s *Session) updateAfter(version int64) (u Update, wait <-chan struct{}) {
	s.refresh()
	l := &s.updates
	u.Version = max(l.version, l.window.made().newest)
	u.Resync = version >= 0 && version < l.dropped || version > u.Version
	if all := version < 0 || u.Resync; all {
		version, u.Running = -1, s.runningPair()
	}
	u.State = s.stateAfter(version)
	if u.Resync {
		u.Stale = &StalePairs{All: true}
	}
	if version < 0 {
		return u, nil
	}
	if i := s.entryAfter(version); i < len(l.entries) {
		e := &l.entries[i]
		u.Event, u.Of, u.Version = e.after(version), e.of, e.last
	}
	u.Stale = l.staleBetween(version, u.Version)
	if u.State == (State{}) && u.Stale == nil && u.Event == nil {
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

// Next waits for a change after a version and returns it; -1 returns all current parts at
// once, and the running pair as received so far. The error is ctx.Err().
func (s *Session) Next(ctx context.Context, after int64) (Update, error) {
	window := s.updates.window
	for {
		learned, changed, touched := s.registry.Changed(), window.windowChanged(), window.changed()
		window.refresh()
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
		case <-changed:
		case <-touched:
		case <-learned:
			s.ModelsChanged()
		case <-ctx.Done():
			return Update{}, ctx.Err()
		}
	}
}

// State returns all parts as they are now.
func (s *Session) State() State {
	s.updates.window.refresh()
	s.mu.Lock()
	s.followLimit()
	s.mu.Unlock() // publishes it
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateAfter(-1)
}

// stateAfter are the parts that have changed after a version.
func (s *Session) stateAfter(version int64) State {
	s.refresh()
	l, of := &s.updates, s.updates.window.made()
	return State{
		Shown: l.shown.after(version), Turn: l.turn.after(version), Model: l.model.after(version),
		Window: of.window.after(version), Checkpoints: of.checkpoints.after(version), Others: of.others.after(version),
	}
}

// Version is the newest version, for Next to return only what comes after.
func (s *Session) Version() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.updates.version, s.updates.window.made().newest)
}

// Follow returns what changes after a version, as Next does, until ctx ends. A part that
// the reader has got already is left out.
func (s *Session) Follow(ctx context.Context, after int64) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		var seen State
		for {
			u, err := s.Next(ctx, after)
			if err != nil {
				return
			}
			after = u.Version
			u.State = seen.Apply(u.State)
			if (u.State != State{} || u.Stale != nil || u.Event != nil || u.Resync) && !yield(u) {
				return
			}
		}
	}
}
