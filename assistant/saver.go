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
	// Dirty reports whether there are unsaved changes. It answers from memory.
	Dirty() bool
	// PlanSave reports what Save would write. It reads the file and changes
	// nothing. A file that another program has changed is planned for as it is now;
	// where both sides changed the same things it is SavePlan.Conflict, not an error.
	// With only, the plan has the changes of that user and the user's assistant.
	PlanSave(ctx context.Context, only string) (SavePlan, error)
	// Save writes the plan that basis names, durably. When the plan is another one
	// by now the error is a *PlanChanged, when it cannot be written over what another
	// program has changed a *Conflict; nothing was written then. Warnings after the
	// write are in Saved.
	Save(ctx context.Context, basis Basis) (Saved, error)
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
	Only   string // the user whose changes it has, with those of the user's assistant; "" is all
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

// Refresher is a Saver that reads what is saved again after another program has
// changed it.
type Refresher interface {
	// RefreshSaved reads the saved state again. Unsaved changes are applied to
	// the new state, also where both sides changed the same things, or dropped
	// when dropUnsaved is set.
	RefreshSaved(ctx context.Context, dropUnsaved bool) (Refreshed, error)
}

// Watcher is a Saver that notices when another program changes what is saved.
type Watcher interface {
	// Watch refreshes the window after such changes until ctx ends; then the
	// channel is closed. Unsaved changes are applied to the new state. An error
	// means that nothing can be watched.
	Watch(ctx context.Context) (<-chan SavedChange, error)
}

// SavedChange is a change of what is saved, made by another program. With a
// Conflict both sides changed the same things and the window is as it was.
type SavedChange struct {
	Refreshed
	Conflict *Conflict `json:"conflict"` // nil: the window has taken the change over
}

// Saved reports a save that is durable.
type Saved struct {
	Path    string   `json:"path"`
	Written bool     `json:"written"` // false: there was nothing to write
	Changes []Change `json:"changes"`
	Message string   `json:"message"` // one line for a person: what was saved and what applies it
	// Warning is what failed after the file was written, as sentences; every front end
	// shows it.
	Warning string `json:"warning,omitempty"`
}

// Refreshed is the result of reading the saved state again.
type Refreshed struct {
	Path    string   `json:"path"`
	Changed bool     `json:"changed"` // the file differs from the one read before
	Changes []Change `json:"changes"` // how what is saved changed
	Dropped []Change `json:"dropped"` // unsaved changes that are lost
}

// Conflict is a file that another program has changed since it was read.
type Conflict struct {
	Path    string   `json:"path"`
	Missing bool     `json:"missing"`        // they removed it
	Busy    bool     `json:"busy"`           // they have it open for writing and may not be done
	Theirs  []Change `json:"theirs"`         // what they changed
	Both    []Change `json:"both"`           // unsaved changes of what they changed as well; none: the two can be merged
	Kept    string   `json:"kept,omitempty"` // where their file lies, when the save moved it aside
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
