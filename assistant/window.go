package assistant

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"winnow/assistant/safetext"
)

// Window is what the assistant works on. The assistant sees the window's Context and
// changes the window through its Tools; every change can be undone through State.
//
// The session calls a window from one goroutine at a time. Its own user interface may call
// it at any time, so a window must guard its own state with a mutex in a field. Do not
// embed the mutex: it would make the window a sync.Locker.
//
// A window may also implement any of these interfaces:
//
//	sync.Locker  blocks changes by the user while the assistant works; the
//	             session holds the lock during a turn and calls all other methods under it
//	Pager        has a page with tabs, each with its own tools and payloads
//	Log          records what the user did, for the model
//	Budgeter     limits the size of its Context
//	Positioned   has a position that is stored with the session
//	Placer       can be used at a position other than the one its pane shows
//	Dirtier      knows whether something is unsaved
//	Saver        saves its state outside the session, for example in a file
//	Applier      is a Saver that applies what it has saved
//	Refresher    is a Saver that can reload what is saved
//	Watcher      is a Saver that notices when another program changes what is saved
//	Rebaser      is a Saver that keeps changes by another program in a rollback
//	Describer    describes what a change did
//	Actor        carries out the user's acts
//	Snapshotter  publishes what its pane draws
//	Exporter     describes its saved state in full to programs
//
// A wrapper that embeds a Window implements none of them, whatever it wraps: see Lost.
type Window interface {
	// Describe says what the window is and how to work in it. It goes into the system
	// prompt.
	Describe() string
	// Context returns the current content of the window for the model: a value that encodes
	// to a JSON object.
	Context() (any, error)
	// Tools returns the actions the model may take.
	Tools() []Tool
	// State returns everything that a checkpoint restores, as JSON. Equal states must
	// encode to equal JSON values.
	State() (json.RawMessage, error)
	// Apply restores a state completely or not at all. The first session of a journal
	// applies the window's current State, and does not start if that changes it. An empty
	// state proves little: test Apply with a full one.
	Apply(state json.RawMessage) error
}

// LockerOf returns the lock of a window, or one that does nothing. Calls to Lock and Unlock
// are paired and not nested.
func LockerOf(w Window) sync.Locker {
	if l, ok := w.(sync.Locker); ok {
		return l
	}
	return unlockable{}
}

type unlockable struct{}

func (unlockable) Lock()   {}
func (unlockable) Unlock() {}

// optional has a test for each optional interface of a Window, by name.
var optional = map[string]func(Window) bool{
	"sync.Locker": is[sync.Locker],
	"Pager":       is[Pager],
	"Log":         is[Log],
	"Budgeter":    is[Budgeter],
	"Positioned":  is[Positioned],
	"Placer":      is[Placer],
	"Dirtier":     is[Dirtier],
	"Saver":       is[Saver],
	"Applier":     is[Applier],
	"Refresher":   is[Refresher],
	"Watcher":     is[Watcher],
	"Rebaser":     is[Rebaser],
	"Describer":   is[Describer],
	"Actor":       is[Actor],
	"Snapshotter": is[Snapshotter],
	"Exporter":    is[Exporter],
}

func is[T any](w Window) bool {
	_, ok := w.(T)
	return ok
}

// Lost returns the sorted names of the interfaces that w implements and its wrapper does
// not, among those listed in the comment of Window. A wrapper type should have a test that
// Lost returns none.
func Lost(wrapper, w Window) (names []string) {
	for name, has := range optional {
		if has(w) && !has(wrapper) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Entry is an event in a window between two messages, in the form the model receives: a
// "type", the fields of that type, and a "timestamp".
type Entry map[string]any

// NewEntry returns an entry of type kind with these fields.
func NewEntry(kind string, at time.Time, fields map[string]any) Entry {
	e := Entry{"type": kind, "timestamp": at.UTC().Format(time.RFC3339)}
	for k, v := range fields {
		e[k] = v
	}
	return e
}

// Log is a Window that records what its user did. If a window is not a Log, the model gets
// one "context_changed" entry with the paths that differ. The same happens for any window
// whose state another run changed before the session is resumed.
type Log interface {
	// Changes returns what happened after mark, oldest first, and the mark for the next
	// call. Mark 0 returns everything.
	Changes(mark int64) (changes []Entry, next int64)
}

// Act is something that a user does in a window, based on what its pane shows.
type Act interface {
	// Step describes the act as an undoable step; "" if it changes nothing that a
	// checkpoint restores.
	Step() string
}

// Actor is a Window that carries out acts.
type Actor interface {
	// Act carries out an act based on what was shown at a revision. It returns a sentence
	// that says what was done, or "". It returns ErrMoved if the object of the act has
	// changed since.
	Act(ctx context.Context, act Act, revision int64) (done safetext.Text, err error)
}

// Exporter is a Window that describes its saved state in full to other programs. Its
// Context, for a model, may be shortened.
type Exporter interface {
	// Export returns a value that encodes to a JSON object. It may wait for the disk.
	Export(ctx context.Context) (any, error)
}

// Describer is a Window that describes changes, for lists of changes.
type Describer interface {
	// DescribeChange returns a phrase in the past tense that says what changed between two
	// states, such as "dimmed to 40 %". It must be safe to show; "" means no description.
	DescribeChange(before, after json.RawMessage) string
}

// describeChange returns w's description of a change, or fallback if there is none.
func describeChange(w Window, before, after json.RawMessage, fallback string) string {
	if d, ok := w.(Describer); ok {
		if text := d.DescribeChange(before, after); text != "" {
			return text
		}
	}
	return fallback
}

// Budgeter is a Window that limits the size of its context.
type Budgeter interface {
	// SetContextBudget limits the context to about this many estimated tokens.
	SetContextBudget(tokens int)
}

// Positioned is a Window whose position, such as the open tab and provider, is
// stored with the session and restored when the session is resumed.
type Positioned interface {
	// Position returns the position as JSON. It must not do I/O.
	Position() (json.RawMessage, error)
	// SetPosition restores a position, except for parts that no longer exist.
	SetPosition(position json.RawMessage) error
}

// Placer is a Window that can be used at a separate position, such as another provider. An
// agent, which does not see the pane, must not move the pane of users who do.
type Placer interface {
	// Place returns the same window with a separate position.
	Place() Window
}

// Dirtier is a Window that knows whether its state differs from what is saved.
type Dirtier interface {
	// Dirty reports whether discarding would lose something. It must not do I/O.
	Dirty() bool
}

// Pager is a Window with a page and tabs; see Page.
type Pager interface {
	// Where returns the open page, tab and subtab.
	Where() Location
}

// Location is a page with its open tab and subtab; both may be "".
type Location struct{ Page, Tab, Subtab string }

// MaxEntries is the maximum length of Entries: more than a model needs between two messages.
const MaxEntries = 200

// Entries is the list that a Window needs to be a Log: the newest MaxEntries
// entries, numbered in their order. The zero value is empty and ready to use.
// The window must guard it with a mutex.
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

// Continue is Add for something that changes in small steps, such as a search that is being
// typed: the entry replaces the newest one if both have the same type.
func (l *Entries) Continue(entry Entry) {
	if n := len(l.entries); n > 0 && l.entries[n-1].entry["type"] == entry["type"] {
		l.entries = l.entries[:n-1]
	}
	l.Add(entry)
}

// Since returns copies of the entries after mark, oldest first, and the mark for the next
// call, as in Log. The list is never nil.
func (l *Entries) Since(mark int64) ([]Entry, int64) {
	out := []Entry{}
	for _, e := range l.entries {
		if e.number > mark {
			out = append(out, maps.Clone(e.entry))
		}
	}
	return out, l.last
}

// section begins a section of the session with this id in its window, which may be shared;
// see windowlock.
func (s *Session) section(id string, changes bool) (end func(), err error) {
	if changes {
		return s.opts.Member.ChangeSection(id)
	}
	return s.opts.Member.Section(id), nil
}
