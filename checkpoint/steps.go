package checkpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"winnow/checkpoint/jsondelta"
)

// Start begins a session with the window in state and makes its first checkpoint,
// "Session start". A session that started before is resumed instead: its first
// checkpoint is returned, and state is recorded as the newest. A nil state
// stands for the newest recorded state, as in a window that other sessions are using.
func (j *Journal) Start(session string, state json.RawMessage) (Checkpoint, error) {
	return j.writeState(state, func(to jsondelta.Document) (Checkpoint, error) {
		if !slices.Contains(j.sessions, session) {
			j.sessions = append(j.sessions, session)
		}
		for _, e := range j.index.list(session) {
			if e.Kind == KindStart && e.Session == session {
				return e.described(), j.write(record{Op: OpResume, Session: session}, &to, "")
			}
		}
		return j.addCheckpoint(OpStart, Checkpoint{Kind: KindStart, Session: session}, to)
	})
}

// Add makes the checkpoint of a turn. Call it before the turn's first write tool runs,
// and do not run that tool when Add fails. Of meta it uses Time (zero: now),
// Description ("": made from the tools), Tools (the calls about to run), Session ("":
// the one started last) and PairSeq. The last rollback can no longer be undone.
func (j *Journal) Add(meta Checkpoint, state json.RawMessage) (Checkpoint, error) {
	return j.writeState(state, func(to jsondelta.Document) (Checkpoint, error) {
		c, err := j.addCheckpoint(OpAdd, Checkpoint{
			Kind: KindTurn, Time: meta.Time, Description: meta.Description, Tools: slices.Clone(meta.Tools),
			Session: cmp.Or(meta.Session, j.index.session), PairSeq: meta.PairSeq,
		}, to)
		if err == nil {
			j.turn = c.ID
		}
		return c, err
	})
}

// Record records the state after write tools ran, together with their results,
// which become part of the turn's checkpoint. A result replaces the call passed
// to Add with the same name and arguments. If state equals the state at the checkpoint, List
// leaves the checkpoint out: the turn has changed nothing.
func (j *Journal) Record(state json.RawMessage, tools []ToolSummary) error {
	_, err := j.writeState(state, func(to jsondelta.Document) (Checkpoint, error) {
		return Checkpoint{}, j.write(record{Op: OpRecord, For: j.turn, Tools: slices.Clone(tools)}, &to, "")
	})
	return err
}

// Edit records one edit that the user of a session ("": the one started last) made by
// hand, from before to after, as a step that can be undone. An empty description
// becomes "Edit". When before and after are equal nothing is written and the zero
// Checkpoint is returned.
func (j *Journal) Edit(session, description string, before, after json.RawMessage) (Checkpoint, error) {
	return j.writeState(before, func(from jsondelta.Document) (Checkpoint, error) {
		to, err := jsondelta.Parse(after)
		if err != nil || from.Text() == to.Text() {
			return Checkpoint{}, err
		}
		if j.current.Text() != from.Text() { // the window changed without a Record
			if err := j.write(record{Op: OpRecord}, &from, ""); err != nil {
				return Checkpoint{}, err
			}
		}
		j.turn = ""
		return j.addCheckpoint(OpEdit, Checkpoint{Kind: KindEdit, Description: description, Session: cmp.Or(session, j.index.session)}, to)
	})
}

// Saved records that the window's file contains state now. Nothing else changes;
// a later state is unsaved until the next Saved.
func (j *Journal) Saved(state json.RawMessage) error {
	_, err := j.writeState(state, func(saved jsondelta.Document) (Checkpoint, error) {
		text := saved.Text()
		if text == j.current.Text() {
			text = "" // a record without payload is about the current state
		}
		return Checkpoint{}, j.write(record{Op: OpSaved}, nil, text)
	})
	return err
}

// writeState parses state and calls write with it, or refuses while a rollback is
// pending.
func (j *Journal) writeState(state json.RawMessage, write func(jsondelta.Document) (Checkpoint, error)) (Checkpoint, error) {
	done, err := j.exclusive(true)
	if err != nil {
		return Checkpoint{}, err
	}
	defer done()
	if j.index.pending != nil {
		return Checkpoint{}, ErrPending
	}
	if state == nil && j.current.Text() != "" {
		return write(j.current)
	}
	d, err := jsondelta.Parse(state)
	if err != nil {
		return Checkpoint{}, err
	}
	return write(d)
}

// addCheckpoint writes the record of a new checkpoint.
func (j *Journal) addCheckpoint(op Op, c Checkpoint, to jsondelta.Document) (Checkpoint, error) {
	for c.ID = newID(); j.index.byID[c.ID] != nil; c.ID = newID() {
	}
	if c.Time.IsZero() {
		c.Time = j.opts.Now()
	}
	c.Time = c.Time.UTC()
	if err := j.write(record{Op: op, Checkpoint: &c}, &to, ""); err != nil {
		return Checkpoint{}, err
	}
	j.opts.Log.Info("checkpoint", "id", c.ID, "kind", string(c.Kind), "session", c.Session, "position", c.PairSeq)
	return j.index.byID[c.ID].described(), nil
}

// List returns the checkpoints of a session, or with "" of all sessions, in the
// order in which they were made.
func (j *Journal) List(session string) []Checkpoint {
	if j == nil {
		return nil
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	out := []Checkpoint{}
	for _, e := range j.index.list(session) {
		out = append(out, e.described())
	}
	return out
}

// LastStep returns the newest step of user or assistant that is in effect and
// changed the window; false when there is none. BeginRollback to it undoes it.
func (j *Journal) LastStep() (Checkpoint, bool) {
	if j == nil {
		return Checkpoint{}, false
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	e := j.index.lastStep()
	if e == nil {
		return Checkpoint{}, false
	}
	return e.described(), true
}

// Seq is the number of the newest record; 0 when there is none.
func (j *Journal) Seq() int64 {
	if j == nil {
		return 0
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.index.lastSeq
}

// OthersSince returns the steps of other sessions that a rollback to a checkpoint
// undoes, oldest first. A nil journal has none.
func (j *Journal) OthersSince(id, session string) (others []Checkpoint) {
	if j == nil {
		return nil
	}
	found := false
	for _, c := range j.List("") {
		found = found || c.ID == id
		if found && c.Session != session && c.Kind != KindStart && !c.Undone {
			others = append(others, c)
		}
	}
	return others
}

// State returns the state at a checkpoint, in canonical form. An id that is
// not in the list is an error that wraps ErrUnknown.
func (j *Journal) State(id string) (json.RawMessage, error) {
	d, err := j.stateByID(id)
	if err != nil {
		return nil, err
	}
	return d.Raw(), nil
}

func (j *Journal) stateByID(id string) (jsondelta.Document, error) {
	j.mu.RLock()
	e := j.index.byID[id]
	if e == nil || !e.listed() {
		j.mu.RUnlock()
		return jsondelta.Document{}, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	records, sum := j.index.records[:e.record+1], e.sum // records are only ever appended
	j.mu.RUnlock()
	return rebuild(records, sum)
}
