package windowlock

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
)

// Lock is the lock that sessions share. Make it with New.
type Lock struct {
	lock     sync.Locker
	onChange func(Change)
	now      func() time.Time

	section   sync.Mutex // locked before the two below
	announces sync.Mutex // keeps calls of onChange apart

	mu      sync.Mutex // guards the fields below
	acting  Holder     // in the section; zero outside of one
	holder  *Member
	hold    Holder
	waiting []Holder      // turns that wait for an answer of their user, longest first
	freed   chan struct{} // closed when holder releases
}

// New returns the lock of a window. lock is locked while a turn has the window, so
// that its user interface refuses changes; onChange is called for every change, in
// order and within the section of the change: it must not block and not call back.
// now tells the time.
func New(lock sync.Locker, onChange func(Change), now func() time.Time) *Lock {
	return &Lock{lock: lock, onChange: onChange, now: now, freed: make(chan struct{})}
}

// Holder is who changes the window now.
type Holder struct {
	User    string    `json:"user"`
	Session string    `json:"session"`
	Since   time.Time `json:"since"`
	Doing   string    `json:"doing"` // the tool that the turn called first
}

// HeldError refuses a change while the turn of another user changes the window.
type HeldError struct{ Holder }

// Error names the holder.
func (e *HeldError) Error() string { return AssistantOf(e.User) + " is working" }

// AgentSuffix ends the name of a client of winnow mcp: another agent, which changes the
// window itself.
const AgentSuffix = " (mcp)"

// AssistantOf names who works in a turn of a user: "anna's assistant", or the client of
// winnow mcp itself, which has no assistant.
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
	Held       Kind = "held"        // a turn has the window from now on
	Released   Kind = "released"    // the turn has ended
	Waiting    Kind = "waiting"     // the turn asks its user, and others may change the window; What names the tool
	Edited     Kind = "edited"      // by hand; What describes it
	ToolRan    Kind = "tool_ran"    // a write tool of a turn; What names it
	Saved      Kind = "saved"       // What names the file
	RolledBack Kind = "rolled_back" // What is the checkpoint, "" for the undo of a rollback
	Reloaded   Kind = "reloaded"    // someone outside has changed what is saved
	Joined     Kind = "joined"      // a session was opened
	Left       Kind = "left"        // a session was closed
)

// Change is something that happened in a shared window.
type Change struct {
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	User    string    `json:"user"` // "" is someone outside
	Session string    `json:"session"`
	What    string    `json:"what"`
	Effect  string    `json:"effect,omitempty"` // what it did, as assistant.Describer says it; "" when that is not known
	// Before and After are the states of the window around a change of it; nil for
	// other kinds.
	Before, After json.RawMessage `json:"-"`
}

// Announce reports a change to all members.
func (w *Lock) Announce(c Change) {
	w.announces.Lock()
	defer w.announces.Unlock()
	c.Time = w.now()
	w.onChange(c)
}

// Holder is who changes the window now; ok is false when nobody does.
func (w *Lock) Holder() (h Holder, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hold, w.holder != nil
}

// Waiting are the turns that wait for an answer of their user, the longest first. They
// do not have the window.
func (w *Lock) Waiting() []Holder {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.waiting)
}

// Author is who writes to the window and its journal now: the holder, else who is in a
// section; "" is nobody. It is meant for checkpoint.Options.
func (w *Lock) Author() (user, session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	by := w.acting
	if w.holder != nil {
		by = w.hold
	}
	return by.User, by.Session
}

// Member is the part of one session in a shared window.
type Member struct {
	window *Lock
	user   string
}

// Join returns a new member. It needs no end: a member without a hold is only memory.
func (w *Lock) Join(user string) *Member { return &Member{w, user} }

// Section begins a section of a session and returns what ends it. A change of the
// window is refused with a *HeldError while another member has the window.
func (m *Member) Section(session string, changes bool) (end func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	w := m.window
	w.section.Lock()
	if h, held := w.Holder(); changes && held && !m.holds() {
		w.section.Unlock()
		return nil, &HeldError{h}
	}
	w.act(Holder{User: m.user, Session: session})
	return func() { w.act(Holder{}); w.section.Unlock() }, nil
}

// act sets who is in the section; the zero value is nobody.
func (w *Lock) act(by Holder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acting = by
}

func (m *Member) holds() bool {
	m.window.mu.Lock()
	defer m.window.mu.Unlock()
	return m.window.holder == m
}

// Only is the session whose conversation a rollback may cut: the member's own; "" is
// every one that was active since.
func (m *Member) Only(session string) string {
	if m == nil {
		return ""
	}
	return session
}

// Held reports whether any member has the window.
func (m *Member) Held() bool {
	if m == nil {
		return false
	}
	_, held := m.window.Holder()
	return held
}

// Hold gives the window to the member until Release; one that has it keeps it. While
// another member has it, Hold waits, until ctx ends, and calls waiting once.
func (m *Member) Hold(ctx context.Context, session, doing string, waiting func(*HeldError)) error {
	if m == nil || m.holds() {
		return nil
	}
	w := m.window
	for {
		w.section.Lock()
		w.mu.Lock()
		other, freed, free := w.hold, w.freed, w.holder == nil
		if free {
			w.holder, w.hold = m, Holder{m.user, session, w.now(), doing}
		}
		w.mu.Unlock()
		if free {
			w.lock.Lock()
			w.Announce(Change{Kind: Held, User: m.user, Session: session, What: doing})
		}
		w.section.Unlock()
		if free {
			return nil
		}
		if waiting != nil {
			waiting(&HeldError{other})
			waiting = nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Release gives up the window, if the member has it.
func (m *Member) Release() {
	if m != nil && m.holds() {
		m.release(Released)
	}
}

// release gives up the window and announces it as kind.
func (m *Member) release(kind Kind) {
	w := m.window
	w.section.Lock()
	defer w.section.Unlock()
	w.lock.Unlock()
	w.mu.Lock()
	last := w.hold
	w.holder, w.hold = nil, Holder{}
	close(w.freed)
	w.freed = make(chan struct{})
	w.mu.Unlock()
	w.Announce(Change{Kind: kind, User: m.user, Session: last.Session, What: last.Doing})
}

// Wait gives the window up while the turn of a session waits for the answer of its user.
// end takes it back, if the member had it, as Hold does.
func (m *Member) Wait(session, doing string) (end func(ctx context.Context, waiting func(*HeldError)) error) {
	if m == nil || !m.holds() {
		return func(context.Context, func(*HeldError)) error { return nil }
	}
	w := m.window
	w.mu.Lock()
	asked := Holder{m.user, session, w.now(), doing}
	w.waiting = append(w.waiting, asked)
	w.mu.Unlock()
	m.release(Waiting)
	return func(ctx context.Context, waiting func(*HeldError)) error {
		w.mu.Lock()
		w.waiting = slices.DeleteFunc(w.waiting, func(h Holder) bool { return h == asked })
		w.mu.Unlock()
		if err := ctx.Err(); err != nil {
			w.Announce(Change{Kind: Released, User: m.user, Session: session, What: doing})
			return err
		}
		return m.Hold(ctx, session, doing, waiting)
	}
}

// Announce reports a change that a session has made in its section or hold.
func (m *Member) Announce(kind Kind, session, what string, before, after json.RawMessage) {
	if m != nil {
		m.window.Announce(Change{Kind: kind, User: m.user, Session: session, What: what, Before: before, After: after})
	}
}

// Present is a session that is open in a window.
type Present struct {
	User    string `json:"user"`
	Session string `json:"session"`
}

// Others is who is in a shared window. Each session finds itself there, too.
type Others struct {
	Present []Present // in the order they were opened
	Holder  *Holder   // whose turn has the window; nil: nobody's
	Waiting []Holder  // turns that wait for an answer of their user, longest first
	Changes int64     // the number of the newest Change, see serve.Hub.Changes
}

// Equal reports whether both say the same.
func (o Others) Equal(p Others) bool {
	held := o.Holder == nil && p.Holder == nil || o.Holder != nil && p.Holder != nil && *o.Holder == *p.Holder
	return held && o.Changes == p.Changes && slices.Equal(o.Present, p.Present) && slices.Equal(o.Waiting, p.Waiting)
}
