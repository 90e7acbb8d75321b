package assistant

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// Window is what the assistant works on: it sees the window's Context, changes it
// through its Tools, and every change can be undone through its State.
//
// The session calls a window from one goroutine at a time. Its own user
// interface may call it at any moment: a window guards its own state with a mutex in
// a field. Do not embed the mutex: it would make the window a sync.Locker.
//
// A window may have any of these interfaces too:
//
//	sync.Locker  keeps the user from changing it while the assistant works; the
//	             session locks it for a turn and calls all other methods meanwhile
//	Pager        is a page with tabs, each with tools and payloads of its own
//	Log          remembers what the user did, for the model
//	Budgeter     cuts its Context to a size
//	Positioned   has a position that is stored with the session
//	Dirtier      knows whether something is unsaved
//	Saver        saves its state outside the session, such as in a file
//	Refresher    is a Saver that can reload what is saved
//	Watcher      is a Saver that notices when another program changes what is saved
//	Describer    says in words what a change did
//	Actor        carries out acts of the user
//	Snapshotter  publishes what its pane draws
//
// A wrapper that embeds a Window has none of them, whatever it wraps: see Lost.
type Window interface {
	// Describe says what the window is and how to work in it, for the system prompt.
	Describe() string
	// Context is what is in the window now, for the model: a value that encodes to a
	// JSON object.
	Context() (any, error)
	// Tools are the actions the model may take.
	Tools() []Tool
	// State is everything that a checkpoint restores, as JSON. Equal states are equal
	// JSON values.
	State() (json.RawMessage, error)
	// Apply restores a state, all of it or nothing. The first session of a journal applies
	// the State that the window has, and does not start if that changes it. That an empty
	// state survives proves little: test Apply with a full one.
	Apply(state json.RawMessage) error
}

// LockerOf returns the lock of a window, or one that does nothing. Lock and Unlock of a
// window come in pairs and do not nest.
func LockerOf(w Window) sync.Locker {
	if l, ok := w.(sync.Locker); ok {
		return l
	}
	return unlockable{}
}

type unlockable struct{}

func (unlockable) Lock()   {}
func (unlockable) Unlock() {}

// optional has a test for each interface that a Window may have, by its name.
var optional = map[string]func(Window) bool{
	"sync.Locker": is[sync.Locker],
	"Pager":       is[Pager],
	"Log":         is[Log],
	"Budgeter":    is[Budgeter],
	"Positioned":  is[Positioned],
	"Dirtier":     is[Dirtier],
	"Saver":       is[Saver],
	"Refresher":   is[Refresher],
	"Watcher":     is[Watcher],
	"Describer":   is[Describer],
	"Actor":       is[Actor],
	"Snapshotter": is[Snapshotter],
}

func is[T any](w Window) bool {
	_, ok := w.(T)
	return ok
}

// Lost names the interfaces of the list in the comment of Window that w has and its
// wrapper has not, sorted. A wrapper type should have a test that Lost is empty.
func Lost(wrapper, w Window) (names []string) {
	for name, has := range optional {
		if has(w) && !has(wrapper) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Entry is an event in a window between two messages, as the model receives it: a "type",
// fields of that type, and a "timestamp".
type Entry map[string]any

// NewEntry returns an entry of type kind with these fields.
func NewEntry(kind string, at time.Time, fields map[string]any) Entry {
	e := Entry{"type": kind, "timestamp": at.UTC().Format(time.RFC3339)}
	for k, v := range fields {
		e[k] = v
	}
	return e
}

// Log is a Window that remembers what its user did. A window without it
// gets one "context_changed" entry with the paths that differ; so does every
// window whose state another run has changed before a session is resumed.
type Log interface {
	// Changes returns what happened after mark, oldest first, and the mark to
	// ask with next time. Mark 0 asks for everything.
	Changes(mark int64) (changes []Entry, next int64)
}

// Act is something that a user does in a window, based on what its pane shows.
type Act interface {
	// Step describes the act as a step that can be undone; "" if it changes nothing that
	// a checkpoint restores.
	Step() string
}

// Actor is a Window that carries out acts.
type Actor interface {
	// Act carries out an act on what was shown at a revision, and returns what was done
	// as a sentence, "" for nothing to tell. The error is ErrMoved when what the act is
	// about has changed since.
	Act(ctx context.Context, act Act, revision int64) (done string, err error)
}

// Describer is a Window that says what a change has done, for lists of changes.
type Describer interface {
	// DescribeChange describes the difference between two states in the past tense, safe
	// to show: "dimmed to 40 %". It returns "" if it cannot.
	DescribeChange(before, after json.RawMessage) string
}

// describeChange returns the description of a change by w, or otherwise if w has none.
func describeChange(w Window, before, after json.RawMessage, otherwise string) string {
	if d, ok := w.(Describer); ok {
		if text := d.DescribeChange(before, after); text != "" {
			return text
		}
	}
	return otherwise
}

// Budgeter is a Window that cuts its context to a size.
type Budgeter interface {
	// SetContextBudget bounds the context to about so many estimated tokens.
	SetContextBudget(tokens int)
}

// Positioned is a Window whose position, such as the open tab and provider, is
// stored with the session and restored when the session is resumed.
type Positioned interface {
	// Position is the position as JSON. It answers from memory.
	Position() (json.RawMessage, error)
	// SetPosition restores a position, without the parts that no longer exist.
	SetPosition(position json.RawMessage) error
}

// Dirtier is a Window that knows whether its state differs from what is saved.
type Dirtier interface {
	// Dirty reports whether discarding would lose something. It answers from
	// memory.
	Dirty() bool
}

// Pager is a Window that is a page with tabs; see Page.
type Pager interface {
	// Where names the page, tab and subtab that are open.
	Where() Location
}

// Location is a page with its open tab and subtab; both may be "".
type Location struct{ Page, Tab, Subtab string }

// MaxEntries bounds Entries, at more than a model needs between two messages.
const MaxEntries = 200

// Entries is the list that a Window needs to be a Log: the newest MaxEntries
// entries, numbered in their order. The zero value is empty and ready; it is
// guarded by its owner.
type Entries struct {
	last    int64 // number of the newest entry
	entries []numberedEntry
}

type numberedEntry struct {
	number int64
	entry  Entry
}

// Add adds an entry, which belongs to the list from then on.
func (l *Entries) Add(entry Entry) {
	l.last++
	if len(l.entries) == MaxEntries {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, numberedEntry{l.last, entry})
}

// Continue is Add for what changes in small steps, such as a search that is
// being typed: it replaces the newest entry when that has the same type.
func (l *Entries) Continue(entry Entry) {
	if n := len(l.entries); n > 0 && l.entries[n-1].entry["type"] == entry["type"] {
		l.entries = l.entries[:n-1]
	}
	l.Add(entry)
}

// Since returns copies of what came after mark, oldest first, and the mark to
// ask with next time, as in Log. The list is never nil.
func (l *Entries) Since(mark int64) ([]Entry, int64) {
	out := []Entry{}
	for _, e := range l.entries {
		if e.number > mark {
			out = append(out, maps.Clone(e.entry))
		}
	}
	return out, l.last
}
