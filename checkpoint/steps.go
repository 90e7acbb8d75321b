package checkpoint

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Start begins a session with the window in state: "Session start", the first
// entry of its list. A session that started before goes on instead: its first
// entry stays and is returned, and state is recorded as the newest.
//
// Durable on return; on error nothing changed.
func (j *Journal) Start(session string, state json.RawMessage) (Checkpoint, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	v, err := j.ready(state)
	if err != nil {
		return Checkpoint{}, err
	}
	if e := j.ledger.start(session); e != nil {
		err := j.write(draft{record: record{Op: opResume, Time: j.opts.Now().UTC(), Session: session}, to: &v})
		return e.public(), err
	}
	return j.add(opStart, Checkpoint{Kind: KindStart, Session: session}, v)
}

// Add makes the checkpoint of a turn, to be called before its first write
// tool runs; that tool must not run when this is an error. Of meta it takes
// Time (zero: now), Description ("": made from the tools), Tools (the calls
// about to run), Session ("": the one started) and Position. The last rollback
// cannot be undone any more.
//
// Durable on return; on error nothing changed.
func (j *Journal) Add(meta Checkpoint, state json.RawMessage) (Checkpoint, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	v, err := j.ready(state)
	if err != nil {
		return Checkpoint{}, err
	}
	if meta.Session == "" {
		meta.Session = j.ledger.session
	}
	if e := j.ledger.byID[j.ledger.turn]; e != nil && meta.Position != 0 && e.Position == meta.Position && e.Session == meta.Session {
		j.opts.Log.Warn("turn has a checkpoint already", "id", e.ID, "position", e.Position)
	}
	c := Checkpoint{
		Kind: KindTurn, Time: meta.Time, Description: meta.Description, Tools: slices.Clone(meta.Tools),
		Session: meta.Session, Position: meta.Position,
	}
	return j.add(opAdd, c, v)
}

// add writes a checkpoint of the state before its step.
func (j *Journal) add(op op, c Checkpoint, state value) (Checkpoint, error) {
	j.complete(&c)
	if err := j.write(draft{record: record{Op: op, Check: &c}, to: &state}); err != nil {
		return Checkpoint{}, err
	}
	return j.made(c.ID), nil
}

// complete gives c its id and its time.
func (j *Journal) complete(c *Checkpoint) {
	for c.ID = newID(); j.ledger.byID[c.ID] != nil; c.ID = newID() {
	}
	if c.Time.IsZero() {
		c.Time = j.opts.Now()
	}
	c.Time = c.Time.UTC()
}

// made logs and returns a new checkpoint.
func (j *Journal) made(id string) Checkpoint {
	e := j.ledger.byID[id]
	j.opts.Log.Info("checkpoint", "id", id, "kind", string(e.Kind), "session", e.Session, "position", e.Position)
	return e.public()
}

// Record records the state after write tools ran, together with their
// results, which go to the checkpoint of the turn. A result takes the place of
// the announced call with its name and arguments.
//
// Durable on return; on error nothing changed.
func (j *Journal) Record(state json.RawMessage, tools []ToolSummary) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	v, err := j.ready(state)
	if err != nil {
		return err
	}
	r := record{Op: opRecord, Time: j.opts.Now().UTC(), For: j.ledger.turn, Tools: slices.Clone(tools)}
	return j.write(draft{record: r, to: &v})
}

// Edit records one edit that the user made by hand, from before to after, as
// a step that can be undone. No description: "Edit".
//
// Durable on return; on error nothing changed.
func (j *Journal) Edit(description string, before, after json.RawMessage) (Checkpoint, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	from, err := j.ready(before)
	if err != nil {
		return Checkpoint{}, err
	}
	to, err := j.read(after)
	if err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{Kind: KindEdit, Description: description, Session: j.ledger.session}
	j.complete(&c)
	var drafts []draft
	if j.now.text != from.text { // changed by someone who did not say so
		drafts = append(drafts, draft{record: record{Op: opRecord, Time: c.Time}, to: &from})
	}
	drafts = append(drafts, draft{record: record{Op: opEdit, Check: &c}, to: &to})
	if err := j.write(drafts...); err != nil {
		return Checkpoint{}, err
	}
	return j.made(c.ID), nil
}

// Saved records that the window's file holds state now. Nothing else changes;
// a later state is unsaved until the next Saved.
//
// Durable on return; on error nothing changed.
func (j *Journal) Saved(state json.RawMessage) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	v, err := j.ready(state)
	if err != nil {
		return err
	}
	d := plain(record{Op: opSaved, Time: j.opts.Now().UTC()})
	if v.text != j.now.text {
		d.side = v.text
	}
	return j.write(d)
}

// ready reads a state for a call that may not come while a rollback is
// pending.
func (j *Journal) ready(state json.RawMessage) (value, error) {
	if j.ledger.pending != nil {
		return value{}, ErrPending
	}
	return j.read(state)
}

// List returns the checkpoints of a session, of all with "", in the order in
// which they were made.
func (j *Journal) List(session string) []Checkpoint {
	j.mu.RLock()
	defer j.mu.RUnlock()
	live := j.ledger.live(session)
	out := make([]Checkpoint, len(live))
	for i, e := range live {
		out[i] = e.public()
	}
	return out
}

// UndoStep returns the newest step, whoever made it, that is in effect and
// changed the rules; false when there is none. BeginRollback to it undoes it.
func (j *Journal) UndoStep() (Checkpoint, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	e := j.ledger.step()
	if e == nil {
		return Checkpoint{}, false
	}
	return e.public(), true
}

// State returns the state at a checkpoint, in canonical form. It reads the
// file. An id that is not in the list is an error that wraps ErrUnknown.
func (j *Journal) State(id string) (json.RawMessage, error) {
	v, err := j.stateOf(id)
	if err != nil {
		return nil, err
	}
	return v.raw(), nil
}

func (j *Journal) stateOf(id string) (value, error) {
	j.mu.RLock()
	if j.closed && !j.opts.ReadOnly {
		j.mu.RUnlock()
		return value{}, ErrClosed
	}
	e := j.ledger.byID[id]
	if e == nil || e.dropped {
		j.mu.RUnlock()
		return value{}, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	// Lines are only ever appended, so a copy of the slice stays right.
	view, src, at := ledger{lines: j.ledger.lines}, j.src, e.at(j.ledger)
	j.mu.RUnlock()
	return view.stateAt(src, at)
}
