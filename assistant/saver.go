package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// Saver is a Window whose state can be saved outside the session, for example
// in a file. Until a change is saved, the window differs from the saved state.
type Saver interface {
	Dirtier
	Discarder
	// PlanSave reports what Save would write. It reads the file and changes
	// nothing. If another program has changed the file, the plan is for the new
	// content; if both sides changed the same things, that is reported in
	// SavePlan.Conflict, not as an error. If only is set, the plan contains
	// only the changes made by that user and the user's assistant.
	PlanSave(ctx context.Context, only string) (SavePlan, error)
	// Save writes the plan that basis identifies, durably. It returns a
	// *PlanChanged if the plan is no longer the same, and a *Conflict if it
	// conflicts with changes made by another program; in both cases nothing
	// is written. Warnings after the write are in Saved.
	Save(ctx context.Context, basis Basis) (Saved, error)
}

// Discarder is the part of a Saver that discards unsaved changes.
type Discarder interface {
	// PlanDiscard reports what Discard would lose and do; its plan writes no
	// file. It must not do I/O.
	PlanDiscard(only string) SavePlan
	// Discard returns to the saved state and reports the changes that were
	// lost. It returns a *PlanChanged if basis identifies other changes.
	Discard(basis Basis) (lost []Change, err error)
}

// Basis identifies what the user was shown before an action. The zero value is
// for actions that show nothing: they apply to the current unsaved changes.
type Basis struct {
	Digest string // identifies the plan
	Only   string // only changes by this user and the user's assistant; "" means everyone's
}

// PlanChanged is returned when an action would do something other than what was
// shown.
type PlanChanged struct {
	By     []string                // who changed it, if known; may include OtherProgram
	Plan   SavePlan                // what a save or a discard would do now
	Steps  []checkpoint.Checkpoint // what a rollback or an undo would undo now, oldest first
	Newest string                  // id of the newest step now
}

// OtherProgram in PlanChanged.By means that the file was changed by another
// program.
const OtherProgram = "another program"

func (e *PlanChanged) Error() string { return string(e.Changed("") + ": nothing was done") }

// Changed returns a clause that says who changed the plan; user appears in it as "you".
func (e *PlanChanged) Changed(user string) safetext.Text {
	by := make([]safetext.Text, len(e.By))
	for i, name := range e.By {
		if by[i] = safetext.Visible(name); name == user {
			by[i] = "you"
		}
	}
	if len(by) == 0 {
		by = []safetext.Text{"someone"}
	}
	return safetext.Join(by, " and ") + " changed this after it was shown"
}

// Refresher is a Saver that can reload the saved state after another program has changed it.
type Refresher interface {
	// RefreshSaved reloads the saved state. Unsaved changes are applied on top
	// of it, even if both sides changed the same things; with dropUnsaved they
	// are dropped.
	RefreshSaved(ctx context.Context, dropUnsaved bool) (Refreshed, error)
}

// Watcher is a Saver that notices when another program changes the saved state.
type Watcher interface {
	// Watch refreshes the window after each such change until ctx ends, and then
	// closes the channel. Unsaved changes are applied on top of the new state.
	// It fails if the saved state cannot be watched.
	Watch(ctx context.Context) (<-chan SavedChange, error)
}

// Rebaser is a Saver whose earlier states can be combined with what another program has saved
// since, so that a rollback does not undo that program's change.
type Rebaser interface {
	// Rebase returns state with the change from before to after applied to it. All three are
	// results of State. Rebase does not change the window.
	Rebase(state, before, after json.RawMessage) (json.RawMessage, error)
}

// SavedChange reports that another program changed the saved state. With a
// Conflict, both sides changed the same things and the window is unchanged.
type SavedChange struct {
	Refreshed
	Conflict *Conflict `json:"conflict"` // nil if the window has loaded the change
}

// Saved reports a durable save.
type Saved struct {
	Path    string        `json:"path"`
	Written bool          `json:"written"` // false if there was nothing to write
	Changes []Change      `json:"changes"`
	Message safetext.Text `json:"message"` // one line for the user: what was saved, and how to apply it
	// Warning says what failed after the file was written, in sentences. Every front end
	// shows it.
	Warning safetext.Text `json:"warning,omitempty"`
	// Applied is the progress so far of applying the save; nil if the user has to apply it. See
	// Applier.
	Applied *Applied `json:"applied,omitempty"`
}

// Applier is a Saver that applies what it has saved, in the background: it restarts the
// program that reads the file, and checks whether the change has taken effect.
type Applier interface {
	// Applied returns the result of applying the newest save; the zero value if none was
	// applied.
	Applied() Applied
	// WaitApplied waits until nothing is being applied, or until ctx ends.
	WaitApplied(ctx context.Context) Applied
	// CancelApplied stops applying a save, if one is being applied, and does not wait until
	// it has stopped. The file stays saved.
	CancelApplied()
}

// AppliedState is the progress of applying a save.
type AppliedState string

// The states of applying a save.
const (
	AppliedRunning    AppliedState = "running"    // the command is running, or the program is being asked
	AppliedLive       AppliedState = "live"       // the program uses the saved state
	AppliedDiffers    AppliedState = "differs"    // the command has run, but the program uses a different state
	AppliedUnanswered AppliedState = "unanswered" // the command has run, but the program does not answer
	AppliedFailed     AppliedState = "failed"     // the command has failed
	AppliedCancelled  AppliedState = "cancelled"  // the user cancelled the command or the check
	AppliedUnknown    AppliedState = "unknown"    // winnow ended before the result was known
)

// Applied is the result of applying a save. The zero value means that nothing was applied.
type Applied struct {
	State   AppliedState  `json:"state"`
	Message safetext.Text `json:"message"` // a sentence for the user
	Began   time.Time     `json:"began"`
	Ended   time.Time     `json:"ended,omitzero"` // zero while it is running
}

// Refreshed is the result of reloading the saved state.
type Refreshed struct {
	Path    string   `json:"path"`
	Changed bool     `json:"changed"` // the file differs from the one read before
	Deleted bool     `json:"deleted"` // the file no longer exists; the window's part of its content is unsaved now
	Changes []Change `json:"changes"` // changes to the saved state
	Dropped []Change `json:"dropped"` // unsaved changes that are lost
}

// Outcome says in a sentence what happened to the file.
func (r Refreshed) Outcome() string {
	if r.Deleted {
		return filepath.Base(r.Path) + " was deleted: what is shown here is unsaved now"
	}
	return "another program changed the file"
}

// Conflict reports a file that another program has changed since it was read.
type Conflict struct {
	Path    string   `json:"path"`
	Missing bool     `json:"missing"`        // the file was removed
	Busy    bool     `json:"busy"`           // another program has it open for writing
	Theirs  []Change `json:"theirs"`         // changes by the other program
	Both    []Change `json:"both"`           // unsaved changes that conflict with Theirs; empty if they can be merged
	Kept    string   `json:"kept,omitempty"` // path of the other program's version, if the save moved it
}

// Error names the file and says what happened to it.
func (c *Conflict) Error() string {
	switch {
	case c.Kept != "":
		return fmt.Sprintf("%s was changed by another program during the save; that program's version is in %s", c.Path, c.Kept)
	case c.Missing:
		return fmt.Sprintf("%s was removed by another program", c.Path)
	case c.Busy:
		return fmt.Sprintf("%s is being written by another program", c.Path)
	}
	return fmt.Sprintf("%s was changed by another program", c.Path)
}
