package workspace

import (
	"errors"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
)

// Why a use case is refused, in addition to the errors of package assistant.
var (
	// ErrNoHistory refuses what needs a history in a workspace without one.
	ErrNoHistory = errors.New("there is no history in this run")
	// ErrNotSaver is assistant.ErrNotSaver.
	ErrNotSaver = assistant.ErrNotSaver
	// ErrNothingUnsaved refuses to discard when there are no unsaved changes.
	ErrNothingUnsaved = errors.New("there are no unsaved changes")
	// ErrNothingToUndo is returned when no change can be undone.
	ErrNothingToUndo = errors.New("there is nothing to undo")
	// ErrNotLast refuses to regenerate an answer that is not the last one.
	ErrNotLast = errors.New("only the last answer can be regenerated")
	// ErrSettingValue is returned for a value that a setting cannot have.
	ErrSettingValue = errors.New("unknown value of the setting")
)

// Options configures a Workspace. Only the draft and the sent messages work
// without a Session; the rest may be zero.
type Options struct {
	Session *assistant.Session
	History history.Store // nil: only the session's own store is used
	Folder  string        // the draft belongs to it
	User    string        // and to this user; "" where there is only one
	Author  string        // names the user as the author of changes; "" is not known
	// Visibility is what a session without pairs shows first: "own" the pairs of the
	// user, "team" the pairs of all users, anything else nothing.
	Visibility string
	// StoreSetting stores a setting that was changed, under the key of the
	// configuration; nil sets it for this run only.
	StoreSetting func(key, value string) error
	Now          func() time.Time // nil means time.Now
}

// Workspace is what a front end drives. Make it with New.
type Workspace struct {
	session      *assistant.Session
	history      history.Store
	folder       string
	user         string
	author       string
	visibility   string
	storeSetting func(key, value string) error
	now          func() time.Time

	mu          sync.Mutex
	undoable    []transfer.Outcome // of commands that can be undone, newest last
	filterCalls int                // counts SetFilter, so that a late result is dropped
}

// New returns the workspace of a session. It does no I/O.
func New(o Options) *Workspace {
	w := &Workspace{session: o.Session, history: o.History, folder: o.Folder, user: o.User, author: o.Author, visibility: o.Visibility, storeSetting: o.StoreSetting, now: o.Now}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

// Session returns the session, for its events and for reading.
func (w *Workspace) Session() *assistant.Session { return w.session }

// Confirm describes what a use case would do once it is confirmed.
type Confirm struct {
	Kind ConfirmKind
	// Text is the user's message of the pair to delete or regenerate; "" for other
	// kinds and for several pairs.
	Text  string
	Pairs int // to delete or regenerate
}

// ConfirmKind names the question to ask.
type ConfirmKind string

// The questions.
const (
	ConfirmDelete     ConfirmKind = "delete"     // pairs, for good
	ConfirmRegenerate ConfirmKind = "regenerate" // the old answer changed the window; those changes stay
	ConfirmNewSession ConfirmKind = "new_session"
	ConfirmResume     ConfirmKind = "resume" // like ConfirmNewSession: unsaved changes stay as they are
)

// Unsaved reports whether the window has unsaved changes.
func (w *Workspace) Unsaved() bool {
	d, ok := w.session.Window().(assistant.Dirtier)
	return ok && d.Dirty()
}

// QuitCheck is what quitting now would lose or interrupt.
type QuitCheck struct {
	Unsaved bool   // changes of the window
	Running bool   // a turn
	Queued  string // the message that waits; "" for none
}

// QuitCheck reports what a front end should ask about before it ends.
func (w *Workspace) QuitCheck() QuitCheck {
	p, _ := w.session.Queued()
	return QuitCheck{Unsaved: w.Unsaved(), Running: w.session.Busy(), Queued: p.Text}
}
