package windowlock

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
)

// Lock is the lock that the sessions of a shared window use. Create it with New.
type Lock struct {
	lock     sync.Locker
	onChange func(Change)
	now      func() time.Time
	wait     time.Duration // how long a section waits for the window to be unlocked

	section   sync.Mutex // locked before announces and mu
	announces sync.Mutex // serialises the calls of onChange

	mu      sync.Mutex // guards the fields below
	acting  Holder     // the member in the current section; zero outside of sections
	holder  *Member
	hold    Holder
	waiting []Holder      // turns that wait for an answer from their user, longest wait first
	queue   []*ticket     // who waits for the window, longest wait first
	freed   chan struct{} // closed when holder unlocks the window or the first in queue stops waiting
}

// New returns the Lock of a window. A turn that locks the window also locks lock, so that the user interface of the
// window refuses changes. onChange is called for every change, in order and within the section of the change; it must
// not block or call methods of the Lock. now returns the current time. wait is how long a change waits for the turn of
// another user.
func New(lock sync.Locker, onChange func(Change), now func() time.Time, wait time.Duration) *Lock {
	return &Lock{lock: lock, onChange: onChange, now: now, wait: wait, freed: make(chan struct{})}
}

// Holder identifies the user and session that have locked the window, or that are in a section.
type Holder struct {
	User    string    `json:"user"`
	Session string    `json:"session"`
	Since   time.Time `json:"since"`
	Doing   string    `json:"doing"` // the first write tool of the turn
}

// LockedError is returned for a change that gave up waiting for the turn of another user.
type LockedError struct{ Holder }

// Error names the holder.
func (e *LockedError) Error() string { return AssistantOf(e.User) + " is working" }

// AgentSuffix is the suffix of the user name of a client of winnow mcp. Such a client is itself an agent that changes
// the window.
const AgentSuffix = " (mcp)"

// AssistantOf returns the name to display for the agent that runs the turns of a user: "anna's assistant", or the
// name of a client of winnow mcp, which has no assistant.
func AssistantOf(user string) string {
	if strings.HasSuffix(user, AgentSuffix) {
		return user
	}
	return user + "'s assistant"
}

// Kind is the kind of a Change.
type Kind string

// The kinds of changes.
const (
	Held       Kind = "held"        // a turn locked the window
	Released   Kind = "released"    // the turn unlocked the window at its end
	Waiting    Kind = "waiting"     // the turn waits for its user, and others may change the window; What is the tool
	Edited     Kind = "edited"      // a user edited the window; What describes the edit
	ToolRan    Kind = "tool_ran"    // a turn ran a write tool; What is the tool
	Saved      Kind = "saved"       // a file was saved; What is the file, or the tool that saved it
	RolledBack Kind = "rolled_back" // What is the checkpoint, or "" if a rollback was undone
	Reloaded   Kind = "reloaded"    // another program changed the saved state
	Joined     Kind = "joined"      // a session was opened
	Left       Kind = "left"        // a session was closed
	Proposed   Kind = "proposed"    // a user proposed a change; What describes it, and Pair contains it
	Decided    Kind = "decided"     // proposals of Pair were accepted or rejected
	Applied    Kind = "applied"     // a save was applied, or could not be applied; What is the assistant.AppliedState, Effect a sentence
)

// Change is an event in a shared window.
type Change struct {
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	User    string    `json:"user"` // "" for a change by another program
	Session string    `json:"session"`
	What    string    `json:"what"`
	Pair    int64     `json:"pair,omitempty"`   // the seq of the pair with proposals; 0 for other kinds
	Effect  string    `json:"effect,omitempty"` // a description by assistant.Describer, or a sentence for Applied; "" if unknown
	// Before and After are the states of the window before and after the change; nil if the window did not change.
	Before, After json.RawMessage `json:"-"`
}

// Announce reports a change to all members.
func (w *Lock) Announce(c Change) {
	w.announces.Lock()
	defer w.announces.Unlock()
	c.Time = w.now()
	w.onChange(c)
}

// Holder returns the user and session that have locked the window. ok is false if it is not locked.
func (w *Lock) Holder() (h Holder, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hold, w.holder != nil
}

// Waiting returns the turns that wait for an answer from their user, longest wait first. They have unlocked the window.
func (w *Lock) Waiting() []Holder {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.waiting)
}

// Author returns the user and session that are writing to the window and its journal: the holder of the lock, else
// the member in a section, else "". It is meant for checkpoint.Options.
func (w *Lock) Author() (user, session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	by := w.acting
	if w.holder != nil {
		by = w.hold
	}
	return by.User, by.Session
}

// Member represents one session in a shared window.
type Member struct {
	window *Lock
	user   string
}

// Join returns a new member. Members need not be closed; a member that has not locked the window only uses memory.
func (w *Lock) Join(user string) *Member { return &Member{w, user} }

// Section begins a section that does not change the window, and returns a function that ends it.
func (m *Member) Section(session string) (end func()) {
	if m == nil {
		return func() {}
	}
	m.window.section.Lock()
	return m.begin(session)
}

// ChangeSection begins a section that may change the window, and returns a function that ends it. If the turn of
// another member has locked the window, ChangeSection waits, behind those who are already waiting. After the time
// given to New, it returns a *LockedError.
func (m *Member) ChangeSection(session string) (end func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	m.window.section.Lock()
	if m.lockedByAnother() {
		m.window.section.Unlock()
		if err := m.waitForTurn(); err != nil {
			return nil, err
		}
	}
	return m.begin(session), nil
}

// begin records that the session is acting. The section is locked; end unlocks it.
func (m *Member) begin(session string) (end func()) {
	m.window.act(Holder{User: m.user, Session: session})
	return func() { m.window.act(Holder{}); m.window.section.Unlock() }
}

// waitForTurn waits until no other member has locked the window, and returns with the section locked.
func (m *Member) waitForTurn() error {
	ctx, cancel := context.WithTimeout(context.Background(), m.window.wait)
	defer cancel()
	var last Holder
	if m.enter(ctx, func() {}, func(h Holder) { last = h }) != nil {
		return &LockedError{last}
	}
	return nil
}

// enter waits until no other member has locked the window, behind those who are already waiting. It then calls entered
// with mu locked, and returns with the section locked. busy is called with the holder before each wait. If ctx ends
// first, enter returns ctx.Err().
func (m *Member) enter(ctx context.Context, entered func(), busy func(Holder)) error {
	w, own := m.window, &ticket{}
	defer w.leave(own)
	for {
		w.section.Lock()
		w.mu.Lock()
		hold, freed, taken := w.hold, w.freed, w.holder != nil && w.holder != m
		free := w.next(own) && !taken
		if free {
			entered()
		}
		w.mu.Unlock()
		if free {
			return nil
		}
		w.section.Unlock()
		if taken {
			busy(hold)
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ticket is a place in the queue for the window. It must not have size 0, because its address identifies it.
type ticket struct{ _ byte }

// next reports whether own is next in line for the window, which may still be locked. While it is locked or others
// wait, own is put in the queue. The caller has locked w.mu.
func (w *Lock) next(own *ticket) bool {
	if w.holder != nil || len(w.queue) > 0 {
		if !slices.Contains(w.queue, own) {
			w.queue = append(w.queue, own)
		}
		return w.queue[0] == own
	}
	return true
}

// leave removes own from the queue.
func (w *Lock) leave(own *ticket) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := slices.Index(w.queue, own); at >= 0 {
		w.queue = slices.Delete(w.queue, at, at+1)
		w.wake()
	}
}

// wake wakes those who wait for the window. The caller has locked w.mu.
func (w *Lock) wake() {
	close(w.freed)
	w.freed = make(chan struct{})
}

// lockedByAnother reports whether another member has locked the window.
func (m *Member) lockedByAnother() bool {
	m.window.mu.Lock()
	defer m.window.mu.Unlock()
	return m.window.holder != nil && m.window.holder != m
}

// act records who is in the section; the zero value means nobody.
func (w *Lock) act(by Holder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acting = by
}

func (m *Member) isHolder() bool {
	m.window.mu.Lock()
	defer m.window.mu.Unlock()
	return m.window.holder == m
}

// Only returns the session to which a rollback must limit its changes to conversations: the given session, or "" if
// the window is not shared, which means all sessions.
func (m *Member) Only(session string) string {
	if m == nil {
		return ""
	}
	return session
}

// Locked reports whether any member has locked the window.
func (m *Member) Locked() bool {
	if m == nil {
		return false
	}
	_, locked := m.window.Holder()
	return locked
}

// Lock locks the window for the member until Unlock. It does nothing if the member has already locked the window. If
// another member has locked it, Lock calls waiting once and waits until the window is unlocked or ctx ends, behind
// those who are already waiting.
func (m *Member) Lock(ctx context.Context, session, doing string, waiting func(*LockedError)) error {
	if m == nil || m.isHolder() {
		return nil
	}
	w := m.window
	take := func() { w.holder, w.hold = m, Holder{m.user, session, w.now(), doing} }
	wait := func(h Holder) {
		if waiting != nil {
			waiting(&LockedError{h})
			waiting = nil
		}
	}
	if err := m.enter(ctx, take, wait); err != nil {
		return err
	}
	defer w.section.Unlock()
	w.lock.Lock()
	w.Announce(Change{Kind: Held, User: m.user, Session: session, What: doing})
	return nil
}

// Unlock unlocks the window if the member has locked it.
func (m *Member) Unlock() {
	if m != nil && m.isHolder() {
		m.unlock(Released)
	}
}

// unlock unlocks the window and announces that as a change of the given kind.
func (m *Member) unlock(kind Kind) {
	w := m.window
	w.section.Lock()
	defer w.section.Unlock()
	w.lock.Unlock()
	w.mu.Lock()
	last := w.hold
	w.holder, w.hold = nil, Holder{}
	w.wake()
	w.mu.Unlock()
	w.Announce(Change{Kind: kind, User: m.user, Session: last.Session, What: last.Doing})
}

// Wait unlocks the window, if the member has locked it, while the turn of a session waits for an answer from its
// user. end locks the window again, as Lock does, unless its ctx has ended.
func (m *Member) Wait(session, doing string) (end func(ctx context.Context, waiting func(*LockedError)) error) {
	if m == nil || !m.isHolder() {
		return func(context.Context, func(*LockedError)) error { return nil }
	}
	w := m.window
	w.mu.Lock()
	asked := Holder{m.user, session, w.now(), doing}
	w.waiting = append(w.waiting, asked)
	w.mu.Unlock()
	m.unlock(Waiting)
	return func(ctx context.Context, waiting func(*LockedError)) error {
		w.mu.Lock()
		w.waiting = slices.DeleteFunc(w.waiting, func(h Holder) bool { return h == asked })
		w.mu.Unlock()
		if err := ctx.Err(); err != nil {
			w.Announce(Change{Kind: Released, User: m.user, Session: session, What: doing})
			return err
		}
		return m.Lock(ctx, session, doing, waiting)
	}
}

// Announce reports a change that a session has made in its section or while it has locked the window.
func (m *Member) Announce(kind Kind, session, what string, before, after json.RawMessage) {
	if m != nil {
		m.window.Announce(Change{Kind: kind, User: m.user, Session: session, What: what, Before: before, After: after})
	}
}

// AnnouncePair reports what a user did with the proposals of a pair; session is the session of the pair.
func (m *Member) AnnouncePair(kind Kind, session string, pair int64, what string) {
	if m != nil {
		m.window.Announce(Change{Kind: kind, User: m.user, Session: session, What: what, Pair: pair})
	}
}

// Present is a session that is open in a shared window.
type Present struct {
	User    string `json:"user"`
	Session string `json:"session"`
}

// Others describes the sessions in a shared window. Each session also finds itself in Present.
type Others struct {
	Present []Present // in the order in which they were opened
	Holder  *Holder   // the user and session that have locked the window; nil if it is not locked
	Waiting []Holder  // turns that wait for an answer from their user, longest wait first
	Changes int64     // the number of the newest Change; see serve.Hub.Changes
}

// Equal reports whether o and p are equal.
func (o Others) Equal(p Others) bool {
	held := o.Holder == nil && p.Holder == nil || o.Holder != nil && p.Holder != nil && *o.Holder == *p.Holder
	return held && o.Changes == p.Changes && slices.Equal(o.Present, p.Present) && slices.Equal(o.Waiting, p.Waiting)
}
