package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/checkpoint"
)

// Saver is a Window whose state differs from what is saved outside the session,
// for example in a file, until it is saved. The zero values of the types below
// mean "nothing"; all of them encode to JSON.
type Saver interface {
	Dirtier
	Discarder
	// PlanSave reports what Save would write. It reads the file and changes
	// nothing. If another program has changed the file, the plan is for its current content;
	// where both sides changed the same things it is SavePlan.Conflict, not an error.
	// With only, the plan has the changes of that user and the user's assistant.
	PlanSave(ctx context.Context, only string) (SavePlan, error)
	// Save writes the plan that basis names, durably. When the plan is another one
	// by now the error is a *PlanChanged, when it cannot be written over what another
	// program has changed a *Conflict; nothing was written then. Warnings after the
	// write are in Saved.
	Save(ctx context.Context, basis Basis) (Saved, error)
}

// Discarder is the part of a Saver that gives up unsaved changes.
type Discarder interface {
	// PlanDiscard reports what Discard would lose and do; its plan writes no file. It
	// answers from memory.
	PlanDiscard(only string) SavePlan
	// Discard returns to the saved state and reports the changes that were lost. The
	// error is a *PlanChanged when they are not those that basis names.
	Discard(basis Basis) (lost []Change, err error)
}

// Basis is what the user was shown before an act. The zero value is for an act that
// shows nothing: it takes the unsaved changes as they are.
type Basis struct {
	Digest string // of the plan
	Only   string // only changes by this user and the user's assistant; "" means all changes
}

// PlanChanged refuses an act because it would do something else than what was shown.
type PlanChanged struct {
	By     []string                // who changed it, where that is known; OtherProgram too
	Plan   SavePlan                // what a save or a discard would do now
	Steps  []checkpoint.Checkpoint // what a rollback or an undo would undo now, oldest first
	Newest string                  // id of the newest step now
}

// OtherProgram stands for a change of the file in PlanChanged.By.
const OtherProgram = "another program"

// Error names who changed it.
func (e *PlanChanged) Error() string { return e.Changed("") + ": nothing was done" }

// Changed says in a clause who changed it, to a user.
func (e *PlanChanged) Changed(user string) string {
	by := slices.Clone(e.By)
	for i, name := range by {
		if name == user {
			by[i] = "you"
		}
	}
	if by == nil {
		by = []string{"someone"}
	}
	return strings.Join(by, " and ") + " changed this after it was shown"
}

// Refresher is a Saver that can reload the saved state after another program has changed it.
type Refresher interface {
	// RefreshSaved reloads the saved state. Unsaved changes are applied to the new
	// state, even if both sides changed the same things; with dropUnsaved they are
	// dropped.
	RefreshSaved(ctx context.Context, dropUnsaved bool) (Refreshed, error)
}

// Watcher is a Saver that notices when another program changes the saved state.
type Watcher interface {
	// Watch refreshes the window after such changes until ctx ends; then the
	// channel is closed. Unsaved changes are applied to the new state. It fails if
	// the saved state cannot be watched.
	Watch(ctx context.Context) (<-chan SavedChange, error)
}

// SavedChange is a change of the saved state by another program. With a Conflict, both sides
// changed the same things and the window is unchanged.
type SavedChange struct {
	Refreshed
	Conflict *Conflict `json:"conflict"` // nil: the window has loaded the change
}

// Saved reports a save that is durable.
type Saved struct {
	Path    string   `json:"path"`
	Written bool     `json:"written"` // false: there was nothing to write
	Changes []Change `json:"changes"`
	Message string   `json:"message"` // one line for the user: what was saved, and how to apply it
	// Warning says what failed after the file was written, in sentences. Every front end
	// shows it.
	Warning string `json:"warning,omitempty"`
}

// Refreshed is the result of reloading the saved state.
type Refreshed struct {
	Path    string   `json:"path"`
	Changed bool     `json:"changed"` // the file differs from the one read before
	Changes []Change `json:"changes"` // of the saved state
	Dropped []Change `json:"dropped"` // unsaved changes that are lost
}

// Conflict is a file that another program has changed since it was read.
type Conflict struct {
	Path    string   `json:"path"`
	Missing bool     `json:"missing"`        // the file was removed
	Busy    bool     `json:"busy"`           // another program has it open for writing
	Theirs  []Change `json:"theirs"`         // changes by the other program
	Both    []Change `json:"both"`           // unsaved changes that conflict with Theirs; empty if they can be merged
	Kept    string   `json:"kept,omitempty"` // path of the other program's version, if the save moved it
}

// Error names the file and what happened to it.
func (c *Conflict) Error() string {
	switch {
	case c.Kept != "":
		return fmt.Sprintf("%s was changed by another program during the save; its version is in %s", c.Path, c.Kept)
	case c.Missing:
		return fmt.Sprintf("%s was removed by another program", c.Path)
	case c.Busy:
		return fmt.Sprintf("%s is being written by another program", c.Path)
	}
	return fmt.Sprintf("%s was changed by another program", c.Path)
}
