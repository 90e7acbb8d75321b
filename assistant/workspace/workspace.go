package workspace

import (
	"context"
	"errors"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
	"winnow/checkpoint"
)

// Errors returned by the use cases, in addition to the errors of package assistant.
var (
	// ErrNoHistory is returned by methods that need a history if the workspace has none.
	ErrNoHistory = errors.New("there is no history in this run")
	// ErrNotSaver is assistant.ErrNotSaver.
	ErrNotSaver = assistant.ErrNotSaver
	// ErrNothingUnsaved is returned by Discard if there are no unsaved changes.
	ErrNothingUnsaved = errors.New("there are no unsaved changes")
	// ErrNothingToUndo is returned when no change can be undone.
	ErrNothingToUndo = errors.New("there is nothing to undo")
	// ErrOtherEffects is returned by Decide if accepting a proposal would no longer do what was shown.
	ErrOtherEffects = errors.New("what this proposal would do has changed since it was shown")
	// ErrNotLast is returned for an attempt to regenerate an answer that is not the last one.
	ErrNotLast = errors.New("only the last answer can be regenerated")
	// ErrSettingValue is returned for an invalid value of a setting.
	ErrSettingValue = errors.New("invalid value for the setting")
)

// Options configures a Workspace. Without a Session, only the draft and the sent messages can be used. All other
// fields are optional.
type Options struct {
	Session *assistant.Session
	History history.Store // nil means that only the store of the session is used
	Folder  string        // the folder that the draft belongs to
	User    string        // the user that the draft belongs to; "" if there is only one user
	Author  string        // the name of the user as the author of changes; "" means unknown
	// Visibility selects the pairs that a session without pairs shows first: "own" means the pairs of the user,
	// "team" the pairs of all users, and any other value no pairs.
	Visibility string
	// StoreSetting stores a changed setting under its key in the configuration. nil means that settings are changed
	// only for this run.
	StoreSetting func(key, value string) error
	// ModelPicked is called after PickModel has selected a model, so that the program can start with it next time.
	ModelPicked func(ctx context.Context, id string) error
	Now         func() time.Time // nil means time.Now
}

// Workspace provides the use cases to a front end. Create it with New.
type Workspace struct {
	session      *assistant.Session
	history      history.Store
	folder       string
	user         string
	author       string
	visibility   string
	storeSetting func(key, value string) error
	modelPicked  func(ctx context.Context, id string) error
	now          func() time.Time

	mu          sync.Mutex
	undoable    []transfer.Outcome // commands that can be undone, newest last
	filterCalls int                // the number of SetFilter calls, used to ignore late results
	draftUnread bool               // the stored draft could not be read, so SaveDraft must not replace it
}

// New returns the workspace of a session. It does no I/O.
func New(o Options) *Workspace {
	w := &Workspace{session: o.Session, history: o.History, folder: o.Folder, user: o.User, author: o.Author, visibility: o.Visibility, storeSetting: o.StoreSetting, modelPicked: o.ModelPicked, now: o.Now}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

// Session returns the session. Front ends use it for reading and for events.
func (w *Workspace) Session() *assistant.Session { return w.session }

// Confirm describes what a use case would do once it is confirmed.
type Confirm struct {
	Kind ConfirmKind
	// Text is the user's message of the pair to delete or regenerate; "" for other kinds and for several pairs.
	Text  string
	Pairs int // the number of pairs to delete or regenerate
	// Answers is the number of answers that are deleted with the pairs, and Lines the number of their lines.
	Answers, Lines int
	// By and Drops are only for ConfirmUndoRollback. By says who rolled back; "" means this session. Drops are the
	// steps that undoing the rollback would lose, oldest first.
	By    string
	Drops []checkpoint.Checkpoint
	// Changed reports that the user has confirmed this before, but that something else would be done now.
	Changed bool

	shown string // identifies what would be done
}

// ConfirmKind identifies the question to ask.
type ConfirmKind string

// Kinds of questions.
const (
	ConfirmDelete     ConfirmKind = "delete"     // the pairs are deleted permanently
	ConfirmRegenerate ConfirmKind = "regenerate" // the old answer changed the window; its changes stay
	ConfirmNewSession ConfirmKind = "new_session"
	// ConfirmUndoRollback: the rollback was made in another session, or steps made since are lost.
	ConfirmUndoRollback ConfirmKind = "undo_rollback"
)

// after returns c, or nil if the user has confirmed exactly that.
func (c Confirm) after(confirmed *Confirm) *Confirm {
	if confirmed != nil && confirmed.Kind == c.Kind && confirmed.shown == c.shown {
		return nil
	}
	c.Changed = confirmed != nil
	return &c
}

// Unsaved reports whether the window has unsaved changes.
func (w *Workspace) Unsaved() bool {
	d, ok := w.session.Window().(assistant.Dirtier)
	return ok && d.Dirty()
}

// QuitCheck describes what quitting now would lose or interrupt.
type QuitCheck struct {
	Unsaved bool   // the window has unsaved changes
	Running bool   // a turn is running
	Queued  string // the queued message; "" if there is none
}

// QuitCheck returns what a front end should ask about before it quits.
func (w *Workspace) QuitCheck() QuitCheck {
	p, _ := w.session.Queued()
	return QuitCheck{Unsaved: w.Unsaved(), Running: w.session.Busy(), Queued: p.Text}
}
