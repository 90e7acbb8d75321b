package assistant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	// where both sides changed the same rules it is SavePlan.Conflict, not an error.
	// With only, the plan has the changes of that user and the user's assistant.
	PlanSave(ctx context.Context, only string) (SavePlan, error)
	// Save writes the plan that basis names, durably. When the plan is another one
	// by now the error is a *PlanChanged, when it cannot be written over what another
	// program has changed a *Conflict; nothing was written then. Warnings after the
	// write are in Saved.
	Save(ctx context.Context, basis Basis) (Saved, error)
	// PlanDiscard reports what Discard would lose. It answers from memory.
	PlanDiscard(only string) SavePlan
	// Discard returns to the saved state and reports the changes that were lost. The
	// error is a *PlanChanged when they are not those that basis names.
	Discard(basis Basis) (lost []RuleChange, err error)
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

// Author is who made an unsaved change. The zero value is not known.
type Author struct {
	User      string `json:"user,omitempty"`
	Assistant bool   `json:"assistant,omitempty"` // the user's assistant made it
}

// UnknownUser is the Name of an author that is not known.
const UnknownUser = "an unknown user"

// Name is "anna", "anna's assistant" or UnknownUser.
func (a Author) Name() string {
	switch {
	case a.User == "":
		return UnknownUser
	case a.Assistant:
		return a.User + "'s assistant"
	}
	return a.User
}

// Authors names who made the changes, each once, in the order of the changes, but for
// one user and that user's assistant. except "" names all.
func Authors(changes []RuleChange, except string) []string {
	var names []string
	for _, c := range changes {
		if (except == "" || c.By.User != except) && !slices.Contains(names, c.By.Name()) {
			names = append(names, c.By.Name())
		}
	}
	return names
}

// Refresher is a Saver that reads what is saved again after someone else has
// changed it.
type Refresher interface {
	// RefreshSaved reads the saved state again. Unsaved changes are applied to
	// the new state, also where both sides changed the same rules, or dropped
	// when dropUnsaved is set.
	RefreshSaved(ctx context.Context, dropUnsaved bool) (Refreshed, error)
}

// Watcher is a Saver that notices when someone else changes what is saved.
type Watcher interface {
	// Watch refreshes the window after such changes until ctx ends; then the
	// channel is closed. Unsaved changes are applied to the new state. An error
	// means that nothing can be watched.
	Watch(ctx context.Context) (<-chan SavedChange, error)
}

// SavedChange is a change of what is saved, made by someone else. With a
// Conflict both sides changed the same rules and the window is as it was.
type SavedChange struct {
	Refreshed
	Conflict *Conflict `json:"conflict"` // nil: the window has taken the change over
}

// SavePlan is what a save would change.
type SavePlan struct {
	// Digest names the plan by what it would write: path, changes of rules and new
	// values. Plans with the same digest leave the same rules in the file.
	Digest   string        `json:"digest"`
	Path     string        `json:"path"`
	Creates  bool          `json:"creates"`  // there is no file yet
	Rules    []RuleChange  `json:"rules"`    // by provider
	Keys     []KeyChange   `json:"keys"`     // variables of the file whose value would change
	Lines    []FileLine    `json:"lines"`    // of the file, with secrets masked
	Effects  []ModelEffect `json:"effects"`  // on the models of each provider with changed rules
	Conflict *Conflict     `json:"conflict"` // nil: no one else has changed the file
}

// Digest is the digest of a plan that makes these changes and gives these values, each
// a variable with its new value.
func Digest(path string, changes []RuleChange, values ...string) string {
	const size = 8 // bytes; it is typed on a command line
	h := sha256.New()
	for _, c := range changes {
		c.By = Author{}
		fmt.Fprintf(h, "%q %q %q %t\n", c.Provider, c.Type, c.Pattern, c.Added)
	}
	for _, v := range append([]string{path}, values...) {
		fmt.Fprintf(h, "%q\n", v)
	}
	return hex.EncodeToString(h.Sum(nil)[:size])
}

// Empty reports whether a save would change nothing.
func (p SavePlan) Empty() bool { return len(p.Lines) == 0 && len(p.Rules) == 0 }

// RuleChange is a rule that differs between the window and the file.
type RuleChange struct {
	Provider string `json:"provider"`
	Type     string `json:"type"` // the list of rules: "ignored" or "whitelisted"
	Pattern  string `json:"pattern"`
	Added    bool   `json:"added"` // false: removed
	By       Author `json:"by,omitzero"`
}

// KeyChange is a variable of the file whose value differs. Secrets are masked.
type KeyChange struct {
	Key    string `json:"key"`
	Before string `json:"before"` // "" also when it was not set
	After  string `json:"after"`  // "" also when it is not set any more
}

// FileLine is a changed line of a file, with secrets masked and invisible
// characters spelled out.
type FileLine struct {
	Kind string `json:"kind"` // "-" removed, "+" added
	Line int    `json:"line"` // from 1: in the old file when removed, in the new one when added
	Text string `json:"text"`
}

// ModelEffect is what changed rules do to the models of one provider.
type ModelEffect struct {
	Provider string   `json:"provider"`
	Known    bool     `json:"known"`  // false: the provider's models are unknown, so is the effect
	Shown    []string `json:"shown"`  // hidden before
	Hidden   []string `json:"hidden"` // shown before
}

// Saved reports a save that is durable.
type Saved struct {
	Path    string       `json:"path"`
	Written bool         `json:"written"` // false: there was nothing to write
	Rules   []RuleChange `json:"rules"`
	Keys    []KeyChange  `json:"keys"`
	Message string       `json:"message"` // one line for a person: what was saved and what applies it
	// Warning is what failed after the file was written, as sentences; every front end
	// shows it.
	Warning string `json:"warning,omitempty"`
}

// Refreshed is the result of reading the saved state again.
type Refreshed struct {
	Path    string       `json:"path"`
	Changed bool         `json:"changed"` // the file differs from the one read before
	Rules   []RuleChange `json:"rules"`   // how the saved rules changed
	Keys    []KeyChange  `json:"keys"`
	Dropped []RuleChange `json:"dropped"` // unsaved changes that are lost
}

// Conflict is a file that someone else has changed since it was read.
type Conflict struct {
	Path    string       `json:"path"`
	Missing bool         `json:"missing"`        // they removed it
	Busy    bool         `json:"busy"`           // they have it open for writing and may not be done
	Theirs  []FileLine   `json:"theirs"`         // what they changed
	Ours    []FileLine   `json:"ours"`           // what a save would change
	Keys    []KeyChange  `json:"keys"`           // variables whose value differs in theirs
	Rules   []RuleChange `json:"rules"`          // rules changed on both sides; none: the two can be merged
	Kept    string       `json:"kept,omitempty"` // where their file lies, when the save moved it aside
}

// Error names the file and what happened to it.
func (c *Conflict) Error() string {
	switch {
	case c.Kept != "":
		return fmt.Sprintf("%s was changed by someone else while it was saved; their version is in %s", c.Path, c.Kept)
	case c.Missing:
		return fmt.Sprintf("%s was removed by someone else", c.Path)
	case c.Busy:
		return fmt.Sprintf("%s is being written by someone else", c.Path)
	}
	return fmt.Sprintf("%s was changed by someone else", c.Path)
}
