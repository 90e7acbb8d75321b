package checkpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Start begins a session with the window in state: "Session start", the first
// entry of its list. A session that started before is resumed instead: its
// first entry stays and is returned, and state is recorded as the newest.
func (j *Journal) Start(session string, state json.RawMessage) (Checkpoint, error) {
	return j.step(state, func(to document) (Checkpoint, error) {
		for _, e := range j.index.list(session) {
			if e.Kind == KindStart && e.Session == session {
				return e.public(), j.write(record{Op: opResume, Session: session}, &to, "")
			}
		}
		return j.add(opStart, Checkpoint{Kind: KindStart, Session: session}, to)
	})
}

// Add makes the checkpoint of a turn, to be called before its first write
// tool runs; that tool must not run when this is an error. Of meta it uses
// Time (zero: now), Description ("": made from the tools), Tools (the calls
// about to run), Session ("": the one started) and Position. The last rollback
// cannot be undone any more.
func (j *Journal) Add(meta Checkpoint, state json.RawMessage) (Checkpoint, error) {
	return j.step(state, func(to document) (Checkpoint, error) {
		return j.add(opAdd, Checkpoint{
			Kind: KindTurn, Time: meta.Time, Description: meta.Description, Tools: slices.Clone(meta.Tools),
			Session: cmp.Or(meta.Session, j.index.session), Position: meta.Position,
		}, to)
	})
}

// Record records the state after write tools ran, together with their
// results, which go to the checkpoint of the turn. A result replaces the
// announced call with its name and arguments.
func (j *Journal) Record(state json.RawMessage, tools []ToolSummary) error {
	_, err := j.step(state, func(to document) (Checkpoint, error) {
		return Checkpoint{}, j.write(record{Op: opRecord, For: j.index.turn, Tools: slices.Clone(tools)}, &to, "")
	})
	return err
}

// Edit records one edit that the user made by hand, from before to after, as
// a step that can be undone. No description: "Edit". When before and after are
// equal nothing is written and the zero Checkpoint is returned.
func (j *Journal) Edit(description string, before, after json.RawMessage) (Checkpoint, error) {
	return j.step(before, func(from document) (Checkpoint, error) {
		to, err := parse(after)
		if err != nil || from.text == to.text {
			return Checkpoint{}, err
		}
		if j.now.text != from.text { // the window was changed without a record of it
			if err := j.write(record{Op: opRecord}, &from, ""); err != nil {
				return Checkpoint{}, err
			}
		}
		return j.add(opEdit, Checkpoint{Kind: KindEdit, Description: description, Session: j.index.session}, to)
	})
}

// Saved records that the window's file contains state now. Nothing else changes;
// a later state is unsaved until the next Saved.
func (j *Journal) Saved(state json.RawMessage) error {
	_, err := j.step(state, func(saved document) (Checkpoint, error) {
		if saved.text == j.now.text {
			saved.text = "" // without a side state the record is about the current one
		}
		return Checkpoint{}, j.write(record{Op: opSaved}, nil, saved.text)
	})
	return err
}

// step parses a state for a call that writes and is refused while a rollback is
// pending.
func (j *Journal) step(state json.RawMessage, write func(document) (Checkpoint, error)) (Checkpoint, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.index.pending != nil {
		return Checkpoint{}, ErrPending
	}
	d, err := parse(state)
	if err != nil {
		return Checkpoint{}, err
	}
	return write(d)
}

// add writes the record of a new checkpoint.
func (j *Journal) add(op op, c Checkpoint, to document) (Checkpoint, error) {
	for c.ID = newID(); j.index.byID[c.ID] != nil; c.ID = newID() {
	}
	if c.Time.IsZero() {
		c.Time = j.opts.Now()
	}
	c.Time = c.Time.UTC()
	if err := j.write(record{Op: op, Check: &c}, &to, ""); err != nil {
		return Checkpoint{}, err
	}
	j.opts.Log.Info("checkpoint", "id", c.ID, "kind", string(c.Kind), "session", c.Session, "position", c.Position)
	return j.index.byID[c.ID].public(), nil
}

// List returns the checkpoints of a session, of all with "", in the order in
// which they were made.
func (j *Journal) List(session string) []Checkpoint {
	j.mu.RLock()
	defer j.mu.RUnlock()
	out := []Checkpoint{}
	for _, e := range j.index.list(session) {
		out = append(out, e.public())
	}
	return out
}

// UndoStep returns the newest step, whoever made it, that is in effect and
// changed the rules; false when there is none. BeginRollback to it undoes it.
func (j *Journal) UndoStep() (Checkpoint, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	e := j.index.lastStep()
	if e == nil {
		return Checkpoint{}, false
	}
	return e.public(), true
}

// State returns the state at a checkpoint, in canonical form. An id that is
// not in the list is an error that wraps ErrUnknown.
func (j *Journal) State(id string) (json.RawMessage, error) {
	d, err := j.stateOf(id)
	if err != nil {
		return nil, err
	}
	return d.raw(), nil
}

func (j *Journal) stateOf(id string) (document, error) {
	j.mu.RLock()
	e := j.index.byID[id]
	if e == nil || e.dropped {
		j.mu.RUnlock()
		return document{}, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	records, sum := j.index.records[:e.record+1], e.sum // records are only ever appended
	j.mu.RUnlock()
	return rebuild(records, sum)
}
