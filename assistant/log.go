package assistant

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"winnow/assistant/budget"
	"winnow/assistant/safetext"
)

// Update is what changed after a version: every changed part as of one instant,
// and at most one turn event.
type Update struct {
	Version int64 // the version to pass to the next call to Next
	State
	Stale *StalePairs // nil if no stored pair changed
	Event Event       // nil if there is no event
	Of    *Turn       // the turn that Event belongs to
	// Resync reports that events were dropped because the reader was too far
	// behind. All parts are set, and every pair is stale.
	Resync bool
	// Running is set for a reader that gets all parts: the pair of the running
	// turn as received so far; later events continue it. It is nil if no turn
	// is running, or if its message is not stored yet.
	Running *Pair
}

// Limits on what a session stores for its readers.
const (
	maxLogEntries = 16_384   // events; consecutive pieces of text count as one
	maxLogBytes   = 32 << 20 // bytes of text; the default of Options.LogBytes
	maxStale      = 1024     // changes to stored pairs
)

// sessionLog numbers the changes to a Session. The session's mutex guards it
// and publishes to it: see publishingMutex. Parts are computed when the first
// reader asks for them.
type sessionLog struct {
	window  *WindowLog // assigns the versions
	version int64
	wake    chan struct{} // closed at the next version; nil if no reader waits

	models int    // counts changes to what the registry knows
	states states // the states as of version
	shown  part[Shown, *Shown]
	turn   part[TurnState, *TurnState]
	model  part[ModelState, *ModelState]

	turns    int        // number of turns started
	current  *Turn      // the running turn, or else the last one
	received received   // the running turn's pair as it was before entries[0]
	entries  []logEntry // events
	bytes    int        // bytes of text in entries
	maxBytes int        // limit on bytes
	dropped  int64      // version of the newest entry that was dropped

	stale        []stalePair
	staleDropped int64 // version of the newest change that was dropped from stale
}

// stalePair is a stored pair that has changed; seq 0 means any pair.
type stalePair struct{ version, seq int64 }

// states holds the values from which the parts are computed: a part has changed
// if its values have. It is cheap to compute.
type states struct {
	shown shownState
	turn  turnState
	model modelState
}

type (
	shownState struct {
		id, line, topic string
		changes         int // counts changes to the refs and the boundary
		frozen          bool
		last            *LastSend
		cpt             float64
	}
	turnState struct {
		running   *turn
		newest    *Turn // may already have ended
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

// logEntry is an event, or consecutive pieces of text of one kind, each with
// its own version.
type logEntry struct {
	first, last int64 // versions
	of          *Turn
	event       Event // for pieces of text, the event of the first piece
	text        safetext.Builder
	pieces      []piece // the pieces of text
}

type piece struct {
	version int64
	end     int // offset in the text
}

// publishingMutex is the mutex of a Session. Unlock publishes what changed, so
// that no caller can forget to publish. Publishing takes the same short time
// however many pairs and readers there are. If nothing changed while the mutex
// was locked, nothing is published.
type publishingMutex struct {
	sync.Mutex
	session *Session // nil until the session is complete
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

// The methods below must be called with the session's mutex locked.

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

// next starts a new version and wakes the readers.
func (l *sessionLog) next() int64 {
	l.version = l.window.next()
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
	return l.version
}

// addStale records that stored pairs have changed; without seqs, any pair may
// have.
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

// staleBetween returns the pairs that changed after one version, up to and
// including another.
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

// add adds an event of the current turn as a new version. Text is joined with
// the entry before it if that is text of the same kind. If a limit is exceeded,
// the oldest entries are dropped.
func (l *sessionLog) add(e Event) {
	before := l.version
	version := l.next()
	text, isText := textOf(e)
	if n := len(l.entries); isText && n > 0 && l.entries[n-1].last == before && sameKind(l.entries[n-1].event, e) {
		last := &l.entries[n-1]
		last.last = version
		last.text.Write(text)
		last.pieces = append(last.pieces, piece{version, last.text.Len()})
	} else {
		entry := logEntry{first: version, last: version, of: l.current, event: e}
		if isText {
			entry.text.Write(text)
			entry.pieces = []piece{{version, len(text)}}
		}
		l.entries = append(l.entries, entry)
	}
	l.bytes += len(text)
	drop := 0
	for n := len(l.entries); n-drop > 1 && (n-drop > maxLogEntries || l.bytes > l.maxBytes); drop++ {
		old := &l.entries[drop]
		l.bytes -= old.text.Len()
		l.dropped = old.last
		if old.of == l.current {
			l.received.apply(old)
		}
		*old = logEntry{}
	}
	l.entries = l.entries[drop:]
}

// textOf returns the text or reasoning in an event. There is always an event
// between a card marker and the text after it, so a marker is never joined with
// text.
func textOf(e Event) (text safetext.Text, ok bool) {
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

// after returns the entry's event for a reader at a version, without the pieces
// that the reader already has.
func (e *logEntry) after(version int64) Event {
	if e.pieces == nil {
		return e.event
	}
	from := 0
	if i, _ := slices.BinarySearchFunc(e.pieces, version+1, func(p piece, at int64) int { return cmp.Compare(p.version, at) }); i > 0 {
		from = e.pieces[i-1].end
	}
	if _, thought := e.event.(ReasoningDelta); thought {
		return ReasoningDelta{e.text.From(from)}
	}
	return TextDelta{e.text.From(from)}
}

// updateAfter returns the update after a version, or a channel that is closed
// when there may be one.
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

// entryAfter returns the index of the first entry that contains an event newer
// than version.
func (s *Session) entryAfter(version int64) int {
	i, _ := slices.BinarySearchFunc(s.updates.entries, version, func(e logEntry, version int64) int {
		if e.last > version {
			return 1
		}
		return -1
	})
	return i
}

// Next waits for a change after a version and returns it. If after is -1, it
// returns all current parts at once, and the running pair as received so far.
// Its only error is ctx.Err().
func (s *Session) Next(ctx context.Context, after int64) (Update, error) {
	window := s.updates.window
	for {
		learned, changed, touched := s.registry.Changed(), window.windowChanged(), window.changed()
		window.refresh()
		s.mu.Lock()
		s.followLimit()
		s.mu.Unlock() // this publishes the change
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

// State returns all parts as of now.
func (s *Session) State() State {
	s.updates.window.refresh()
	s.mu.Lock()
	s.followLimit()
	s.mu.Unlock() // this publishes the change
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateAfter(-1)
}

// stateAfter returns the parts that changed after a version.
func (s *Session) stateAfter(version int64) State {
	s.refresh()
	l, of := &s.updates, s.updates.window.made()
	return State{
		Shown: l.shown.after(version), Turn: l.turn.after(version), Model: l.model.after(version),
		Window: of.window.after(version), Checkpoints: of.checkpoints.after(version), Others: of.others.after(version),
	}
}

// Version returns the newest version. Pass it to Next to get only what comes
// later.
func (s *Session) Version() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.updates.version, s.updates.window.made().newest)
}

// Follow calls Next in a loop until ctx ends. Parts that the reader already has
// are left out.
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

// LogSize returns the number of bytes of text in the events stored for readers.
func (s *Session) LogSize() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updates.bytes
}
