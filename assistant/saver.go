package assistant

import (
	"context"
	"fmt"
)

// Saver is a Window whose state differs from what is saved outside the session,
// for example in a file, until it is saved. The zero values of the types below
// mean "nothing"; all of them encode to JSON.
type Saver interface {
	// Dirty reports whether there are unsaved changes. It answers from memory.
	Dirty() bool
	// PlanSave reports what Save would change. It reads the file and writes
	// nothing. A file that someone else has changed is merged into the window if
	// that is possible, else it is SavePlan.Conflict, not an error.
	PlanSave(ctx context.Context) (SavePlan, error)
	// Save writes the unsaved changes, durably, merged with what someone else
	// has changed meanwhile. A *Conflict error means that this is not possible,
	// and nothing was written over the file.
	Save(ctx context.Context) (Saved, error)
	// Discard returns to the saved state and reports the changes that were lost.
	Discard() (lost []RuleChange, err error)
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
	Path     string        `json:"path"`
	Creates  bool          `json:"creates"`  // there is no file yet
	Rules    []RuleChange  `json:"rules"`    // by provider
	Keys     []KeyChange   `json:"keys"`     // variables of the file whose value would change
	Lines    []FileLine    `json:"lines"`    // of the file, with secrets masked
	Effects  []ModelEffect `json:"effects"`  // on the models of each provider with changed rules
	Conflict *Conflict     `json:"conflict"` // nil: no one else has changed the file
}

// Empty reports whether a save would change nothing.
func (p SavePlan) Empty() bool { return len(p.Lines) == 0 && len(p.Rules) == 0 }

// RuleChange is a rule that differs between the window and the file.
type RuleChange struct {
	Provider string `json:"provider"`
	Type     string `json:"type"` // the list of rules: "ignored" or "whitelisted"
	Pattern  string `json:"pattern"`
	Added    bool   `json:"added"` // false: removed
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
	Warning string       `json:"warning,omitempty"`
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
