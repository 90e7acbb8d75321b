package checkpoint

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"winnow/checkpoint/jsondelta"
)

// ChangeKind is what changed a window or its file.
type ChangeKind string

// The kinds of changes.
const (
	TurnChange     ChangeKind = "turn"     // write tools of a turn; What describes their effect
	EditChange     ChangeKind = "edit"     // an edit by hand; What describes it
	SaveChange     ChangeKind = "save"     // the newest state was written to the file
	RollbackChange ChangeKind = "rollback" // a rollback to before the step that What describes
	UndoChange     ChangeKind = "undo"     // the undo of a rollback
	OutsideChange  ChangeKind = "outside"  // another program changed the file
)

// Change is one change to a window or to its file.
type Change struct {
	Seq     int64                  `json:"seq"` // orders changes
	Time    time.Time              `json:"time"`
	User    string                 `json:"user,omitempty"`    // the user that Options.Author returned
	Session string                 `json:"session,omitempty"` // "" if made outside a session
	Kind    ChangeKind             `json:"kind"`
	What    string                 `json:"what,omitempty"`
	Changed []jsondelta.Difference `json:"changed,omitempty"` // sorted by path; at most maxDifferences
	More    int                    `json:"more,omitempty"`    // number of differences left out of Changed
}

// maxDifferences limits the differences of one Change.
const maxDifferences = 100

// Changes lists what changed the window and its file, oldest first. It ignores differences at the paths in except, such
// as the position in the window.
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

// Transition is one change to the state of a window.
type Transition struct {
	Before, After json.RawMessage
}

// OutsideSince returns what other programs changed in the window's file after the record with this sequence number,
// oldest first. A change that a run found when it started counts only if nothing was unsaved at that time: otherwise
// the new state may also lack unsaved changes.
func OutsideSince(j *Journal, seq int64) (all []Transition) {
	h := changeReader{steps: map[string]Checkpoint{}}
	j.Replay(func(r Record) {
		c, ok := h.read(r)
		if ok && c.Kind == OutsideChange && r.Seq > seq && (r.Op == OpRecord || h.adopted) {
			all = append(all, Transition{r.Before.Raw(), r.After.Raw()})
		}
	})
	return all
}

// changeReader interprets the records of a journal in order.
type changeReader struct {
	except  []string
	saved   string // the state in the file; "" if unknown
	steps   map[string]Checkpoint
	adopted bool // the previous record adopted a change to the file; an OpSaved record for that change follows
}

// read interprets the next record; ok is false if the record is not a change.
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
	default: // any other record; if it changed the state, no session did
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

// describeStep returns the step of a checkpoint in one line.
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
