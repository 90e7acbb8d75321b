// Package changelog reads from a journal who changed what: the log of winnow log.
//
// # Nouns
//
// A Change is a turn's call of write tools, an edit by hand, a save, a rollback or its
// undo, or a change that another program made to the file. It has the values that differ.
//
// # Who may call what from where
//
// Read answers from the memory of the journal and may be called from any goroutine.
//
// # Caveats
//
// The log reaches back as far as the records of the journal: compaction removes those
// of old sessions.
package changelog

import (
	"cmp"
	"slices"
	"time"

	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// Kind is what changed a window or its file.
type Kind string

// The kinds of changes.
const (
	Turn     Kind = "turn"     // a write tool; What says what it did
	Edit     Kind = "edit"     // by hand; What describes it
	Save     Kind = "save"     // the file has the newest state now
	Rollback Kind = "rollback" // to before the step that What describes
	Undo     Kind = "undo"     // of a rollback
	Outside  Kind = "outside"  // another program changed the file
)

// Change is one change of a window or of its file.
type Change struct {
	Seq     int64                  `json:"seq"` // orders changes
	Time    time.Time              `json:"time"`
	User    string                 `json:"user,omitempty"`    // as checkpoint.Options.Author named the user
	Session string                 `json:"session,omitempty"` // "" outside sessions
	Kind    Kind                   `json:"kind"`
	What    string                 `json:"what,omitempty"`
	Changed []jsondelta.Difference `json:"changed,omitempty"` // by path; at most maxDifferences
	More    int                    `json:"more,omitempty"`    // differences that are left out
}

// maxDifferences bounds the differences of one Change.
const maxDifferences = 100

// Read lists what changed the window and its file, oldest first. It leaves out the paths in
// except, such as the position in the window.
func Read(j *checkpoint.Journal, except ...string) []Change {
	h := reader{except: except, steps: map[string]checkpoint.Checkpoint{}}
	out := []Change{}
	j.Replay(func(r checkpoint.Record) {
		if c, ok := h.read(r); ok {
			out = append(out, c)
		}
	})
	return out
}

// reader follows the records of a journal.
type reader struct {
	except  []string
	saved   string // the state in the file; "" when it is not known
	steps   map[string]checkpoint.Checkpoint
	adopted bool // the record before is a change of the file from outside; a record that it is saved follows
}

// read reads the next record; ok is false when it changed nothing.
func (h *reader) read(r checkpoint.Record) (c Change, ok bool) {
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
	case r.Op == checkpoint.OpSaved:
		was := h.saved
		if h.saved = cmp.Or(r.Other, r.After.Text()); adopted || r.Other != "" || was == "" || was == h.saved {
			return c, false
		}
		c.Kind = Save
		before, _ = jsondelta.Parse([]byte(was))
	case r.Op == checkpoint.OpEdit && r.Checkpoint != nil:
		c.Kind, c.What = Edit, r.Checkpoint.Description
	case r.Op == checkpoint.OpRecord && ofTurn:
		step.Tools = append(slices.Clip(step.Tools), r.Tools...)
		h.steps[r.For] = step
		c.Kind, c.What, c.Session = Turn, checkpoint.Describe(r.Tools), cmp.Or(step.Session, c.Session)
	case r.Op == checkpoint.OpDone && r.Rollback != nil:
		c.Kind, c.What = Rollback, describe(h.steps[r.Rollback.Target])
		if r.Rollback.Undoes != "" {
			c.Kind = Undo
		}
	default: // the state changed while no session recorded it
		c.Kind, c.User, c.Session, h.adopted = Outside, "", "", changed && before.Text() == h.saved
	}
	if !changed && c.Kind != Save {
		return c, false
	}
	all := jsondelta.Differences(before, r.After, h.except...)
	c.Changed = all[:min(len(all), maxDifferences)]
	c.More = len(all) - len(c.Changed)
	return c, len(all) > 0
}

// describe is the step of a checkpoint in one line.
func describe(c checkpoint.Checkpoint) string {
	switch {
	case c.Description != "":
		return c.Description
	case c.Kind == checkpoint.KindTurn:
		return checkpoint.Describe(c.Tools)
	case c.Kind == checkpoint.KindStart:
		return "Session start"
	}
	return ""
}
