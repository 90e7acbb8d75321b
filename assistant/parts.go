package assistant

import (
	"errors"
	"slices"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// State is the state of a session at one instant. A nil part is unknown; in an
// Update it is unchanged. Parts are shared by all readers, who must not change
// them.
type State struct {
	Shown       *Shown
	Turn        *TurnState
	Model       *ModelState
	Window      *WindowState // nil if the session has no window
	Checkpoints *Checkpoints
	Others      *Others // nil if the session does not share its window
}

// Apply replaces the parts of s that news has in a newer version, and returns
// only those parts. The States of a session may therefore be applied in any
// order.
func (s *State) Apply(news State) State {
	replace(&s.Shown, &news.Shown)
	replace(&s.Turn, &news.Turn)
	replace(&s.Model, &news.Model)
	replace(&s.Window, &news.Window)
	replace(&s.Checkpoints, &news.Checkpoints)
	replace(&s.Others, &news.Others)
	return news
}

// Stamp is the version in which a part last changed.
type Stamp struct{ Version int64 }

func (s *Stamp) stamp() *int64 { return &s.Version }

// stamped is implemented by every part.
type stamped[T any] interface {
	*T
	stamp() *int64
}

func replace[T any, P stamped[T]](have, news *P) {
	switch {
	case *news == nil:
	case *have != nil && *(*news).stamp() <= *(*have).stamp():
		*news = nil
	default:
		*have = *news
	}
}

// Shown holds the visible pairs, and which of them the next request contains.
type Shown struct {
	Stamp
	Session  string  // its id
	Filter   string  // the filter line
	Topic    string  // topic of new pairs
	Refs     []Ref   // oldest first
	Added    []int64 // those sent since Filter was evaluated, which it may not match
	Boundary budget.Boundary
	Counter  string    // see Session.Counter
	LastSend *LastSend // nil if nothing was sent yet
	CPT      float64   // characters per token used for the estimates
	Computed int       // number of times the boundary had been computed
}

// Turn is a turn of a session.
type Turn struct {
	Number int // counts the turns since the program started
	Prompt Prompt
	Model  string // "provider/name"
	Began  time.Time
}

// TurnState is the running turn and the message that waits for it to end.
type TurnState struct {
	Stamp
	Running bool
	Turn    *Turn // the running turn, or else the last one; nil before the first
	Pair    int64 // Seq of the running turn's pair; 0 until its message is stored
	// Asks is the question that the running turn is waiting on, or nil.
	Asks        *ConfirmRequest
	Waits       bool          // a message is queued
	Queued      Prompt        // that message
	QueuePaused bool          // see Session.QueuePaused
	ReAsk       int64         // the pair that the next message replaces; 0 if none
	Cancelled   *Pair         // see Session.Cancelled
	Quota       llm.LastQuota // quota of the selected model; the zero value if its endpoint never reported one
	Settings    Settings
	Attempt     *budget.Record // the newest attempt; nil before the first
}

// ModelState is the selected model and what is known about it.
type ModelState struct {
	Stamp
	ID   string // "provider/name"; "" if none is selected
	Info llm.ModelInfo
	Gone bool // the endpoint no longer offers the model
}

// WindowState is the state of a session's window.
type WindowState struct {
	Stamp
	Revision int64
	Value    any      // what its pane draws, see Snapshotter; nil if it publishes nothing
	Saves    bool     // the window is a Saver
	Unsaved  bool     // there are unsaved changes
	Changes  []Change // the unsaved changes, with their authors
}

// Others lists the other users of a shared window.
type Others struct {
	Stamp
	windowlock.Others
}

// Checkpoints are the checkpoints of a window.
type Checkpoints struct {
	Stamp
	All      []checkpoint.Checkpoint // newest first
	Last     *checkpoint.Checkpoint  // the newest step that can be undone; nil if none
	ReadOnly error                   // why no checkpoints can be made; nil if they can

	sessions map[string][]checkpoint.Checkpoint
}

// Of returns the checkpoints of a session, newest first.
func (c *Checkpoints) Of(session string) []checkpoint.Checkpoint {
	if c == nil {
		return nil
	}
	return c.sessions[session]
}

// Changes returns the number of a session's changes that are in effect: its
// checkpoints except the session start and undone ones.
func (c *Checkpoints) Changes(session string) (n int) {
	for i := range c.Of(session) {
		if step := &c.sessions[session][i]; !step.Undone && step.Kind != checkpoint.KindStart {
			n++
		}
	}
	return n
}

// OthersSince returns the steps of other sessions that a rollback to a
// checkpoint would undo, oldest first.
func (c *Checkpoints) OthersSince(id, session string) (others []checkpoint.Checkpoint) {
	if c == nil {
		return nil
	}
	for i := slices.IndexFunc(c.All, func(step checkpoint.Checkpoint) bool { return step.ID == id }); i >= 0; i-- {
		if step := c.All[i]; step.Session != session && step.Kind != checkpoint.KindStart && !step.Undone {
			others = append(others, step)
		}
	}
	return others
}

// Newest returns the id of the newest step that can be undone; "" if there is
// none.
func (c *Checkpoints) Newest() string {
	if c == nil || c.Last == nil {
		return ""
	}
	return c.Last.ID
}

// newCheckpoints groups the checkpoints of a journal by session.
func newCheckpoints(j *checkpoint.Journal) Checkpoints {
	c := Checkpoints{All: j.List(""), sessions: map[string][]checkpoint.Checkpoint{}}
	slices.Reverse(c.All)
	for _, step := range c.All {
		c.sessions[step.Session] = append(c.sessions[step.Session], step)
	}
	if last, ok := j.LastStep(); ok {
		c.Last = &last
	}
	if err := j.Unwritable(); err != nil {
		c.ReadOnly = err
	}
	return c
}

// StalePairs lists pairs whose stored form has changed: a reader that shows
// them must load them again.
type StalePairs struct {
	All  bool    // every pair
	Seqs []int64 // ascending
}

// Has reports whether a pair is stale. A nil StalePairs is empty.
func (p *StalePairs) Has(seq int64) bool {
	if p == nil || p.All {
		return p != nil
	}
	_, found := slices.BinarySearch(p.Seqs, seq)
	return found
}

// part caches one part of a State.
type part[T any, P stamped[T]] struct {
	state any // the state it was computed from
	value P
}

// after returns the part if it is newer than version, or nil.
func (p *part[T, P]) after(version int64) P {
	if p.value != nil && *p.value.stamp() > version {
		return p.value
	}
	return nil
}

// refresh computes the part again if its state has changed. A result equal to
// the old part is discarded.
func (p *part[T, P]) refresh(state any, next func() int64, made func() T, equal func(a, b T) bool) {
	if p.value != nil && p.state == state {
		return
	}
	value := made()
	p.state = state
	if p.value == nil || !equal(*p.value, value) {
		p.value = &value
		*p.value.stamp() = next()
	}
}

// refresh updates the parts whose state has changed. The session's mutex must
// be locked.
func (s *Session) refresh() {
	l, now := &s.updates, s.updates.states
	l.shown.refresh(now.shown, l.next, func() Shown {
		return Shown{
			Session: now.shown.id, Filter: now.shown.line, Topic: now.shown.topic, Refs: slices.Clone(s.view.refs), Added: s.view.added,
			Boundary: s.view.tracker.Boundary(), Counter: s.counter(), LastSend: now.shown.last, CPT: now.shown.cpt, Computed: s.view.tracker.Recomputes(),
		}
	}, equalShown)
	quota, _ := s.registry.LastQuota(s.model)
	l.turn.refresh(struct {
		turnState
		llm.LastQuota
	}{now.turn, quota}, l.next, func() TurnState {
		t := TurnState{Running: s.running != nil, Turn: l.current, Pair: now.turn.seq, Asks: now.turn.asks, ReAsk: now.turn.reask, Cancelled: now.turn.cancelled, Quota: quota, Settings: now.turn.settings, Attempt: now.turn.attempt}
		if q := now.turn.queued; q != nil {
			t.Waits, t.Queued, t.QueuePaused = true, *q, now.turn.paused
		}
		return t
	}, equalTurn)
	l.model.refresh(now.model, l.next, func() ModelState {
		_, _, info, err := s.registry.Open(s.model) // for an unknown model, info is the zero value
		return ModelState{ID: s.model, Info: info, Gone: errors.Is(err, llm.ErrModelGone)}
	}, func(a, b ModelState) bool { return a.ID == b.ID && a.Info == b.Info && a.Gone == b.Gone })
}

func equalShown(a, b Shown) bool {
	return a.Session == b.Session && a.Filter == b.Filter && a.Topic == b.Topic && a.Boundary == b.Boundary && a.Counter == b.Counter &&
		a.LastSend == b.LastSend && a.CPT == b.CPT && slices.Equal(a.Refs, b.Refs) && slices.Equal(a.Added, b.Added)
}

func equalTurn(a, b TurnState) bool {
	return a.Running == b.Running && a.Turn == b.Turn && a.Pair == b.Pair && a.Asks == b.Asks && !a.Waits && !b.Waits && a.ReAsk == b.ReAsk && a.Cancelled == b.Cancelled && a.Quota == b.Quota && a.Settings == b.Settings && a.Attempt == b.Attempt
}

func equalWindow(a, b WindowState) bool {
	return a.Value == nil && b.Value == nil && a.Unsaved == b.Unsaved && slices.Equal(a.Changes, b.Changes)
}

func equalCheckpoints(a, b Checkpoints) bool {
	last := a.Last == nil && b.Last == nil || a.Last != nil && b.Last != nil && a.Last.ID == b.Last.ID
	return last && slices.EqualFunc(a.All, b.All, func(a, b checkpoint.Checkpoint) bool {
		return a.ID == b.ID && a.Undone == b.Undone && a.Description == b.Description && slices.Equal(a.Tools, b.Tools)
	})
}
