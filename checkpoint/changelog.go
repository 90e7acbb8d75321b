package checkpoint

import (
	"cmp"
	"slices"
	"time"

	"winnow/checkpoint/jsondelta"
)

// ChangeKind is what changed a window or its file.
type ChangeKind string

// The kinds of changes.
const (
	TurnChange     ChangeKind = "turn"     // a write tool; What says what it did
	EditChange     ChangeKind = "edit"     // by hand; What describes it
	SaveChange     ChangeKind = "save"     // the file has the newest state now
	RollbackChange ChangeKind = "rollback" // to before the step that What describes
	UndoChange     ChangeKind = "undo"     // of a rollback
	OutsideChange  ChangeKind = "outside"  // another program changed the file
)

// Change is one change of a window or of its file.
type Change struct {
	Seq     int64                  `json:"seq"` // orders changes
	Time    time.Time              `json:"time"`
	User    string                 `json:"user,omitempty"`    // as checkpoint.Options.Author named the user
	Session string                 `json:"session,omitempty"` // "" outside sessions
	Kind    ChangeKind             `json:"kind"`
	What    string                 `json:"what,omitempty"`
	Changed []jsondelta.Difference `json:"changed,omitempty"` // by path; at most maxDifferences
	More    int                    `json:"more,omitempty"`    // differences that are left out
}

// maxDifferences bounds the differences of one Change.
const maxDifferences = 100

// Changes lists what changed the window and its file, oldest first. It leaves out the paths in
// except, such as the position in the window.
func Changes(j *Journal, except ...string) []Change {
	h := changeReader{except: except, steps: map[string]Checkpoint{}}
	out := []Change{}
	j.Replay(func(r Record) {
		if c, ok := h.read(r); ok {
			out = append(out, c)
		}
	})
	return out
}

// changeReader follows the records of a journal.
type changeReader struct {
	except  []string
	saved   string // the state in the file; "" when it is not known
	steps   map[string]Checkpoint
	adopted bool // the record before is a change of the file from outside; a record that it is saved follows
}

// read reads the next record; ok is false when it changed nothing.
func (h *changeReader) read(r Record) (c Change, ok bool) {
	adopted, before := h.adopted, r.Before
	h.adopted = false
	c = Change{Seq: r.Seq, Time: r.Time, User: r.User, Session: r.Session}
	if r.Checkpoint != nil {
		h.steps[r.Checkpoint.ID] = *r.Checkpoint
		c.Time, c.Session = r.Checkpoint.Time, cmp.Or(r.Checkpoint.Session, c.Session)
	}
	changed := before.Text() != "" && r.After.Text() != "" && before.Text() != r.After.Text()
	step, ofTurn := h.steps[r.For]
	switch {
	case r.Op == OpSaved:
		was := h.saved
		if h.saved = cmp.Or(r.Other, r.After.Text()); adopted || r.Other != "" || was == "" || was == h.saved {
			return c, false
		}
		c.Kind = SaveChange
		before, _ = jsondelta.Parse([]byte(was))
	case r.Op == OpEdit && r.Checkpoint != nil:
		c.Kind, c.What = EditChange, r.Checkpoint.Description
	case r.Op == OpRecord && ofTurn:
		step.Tools = append(slices.Clip(step.Tools), r.Tools...)
		h.steps[r.For] = step
		c.Kind, c.What, c.Session = TurnChange, Describe(r.Tools), cmp.Or(step.Session, c.Session)
	case r.Op == OpDone && r.Rollback != nil:
		c.Kind, c.What = RollbackChange, describeStep(h.steps[r.Rollback.Target])
		if r.Rollback.Undoes != "" {
			c.Kind = UndoChange
		}
	default: // the state changed while no session recorded it
		c.Kind, c.User, c.Session, h.adopted = OutsideChange, "", "", changed && before.Text() == h.saved
	}
	if !changed && c.Kind != SaveChange {
		return c, false
	}
	all := jsondelta.Differences(before, r.After, h.except...)
	c.Changed = all[:min(len(all), maxDifferences)]
	c.More = len(all) - len(c.Changed)
	return c, len(all) > 0
}

// describeStep is the step of a checkpoint in one line.
func describeStep(c Checkpoint) string {
	switch {
	case c.Description != "":
		return c.Description
	case c.Kind == KindTurn:
		return Describe(c.Tools)
	case c.Kind == KindStart:
		return "Session start"
	}
	return ""
}
