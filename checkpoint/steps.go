package checkpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"winnow/checkpoint/jsondelta"
)

// Start begins a session whose window is in the given state, and creates its first checkpoint, "Session start". If the
// session was started before, it is resumed: Start returns its first checkpoint and records state as the newest state.
// A nil state means the newest recorded state, as in a window that other sessions are using.
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

// Add creates the checkpoint of a turn. Call it before the turn's first write tool runs, and do not run that tool if
// Add fails. It uses these fields of meta: Time (zero means now), Description (if empty, made from Tools), Tools (the
// calls about to run), Session (if empty, the last started one) and PairSeq. After Add, the last rollback can no
// longer be undone.
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

// Record records the state after write tools have run, and adds their results to the turn's checkpoint. A result
// replaces the call passed to Add with the same name and arguments. If state equals the state at the checkpoint, List
// omits the checkpoint, because the turn has changed nothing.
func (j *Journal) Record(state json.RawMessage, tools []ToolSummary) error {
	_, err := j.writeState(state, func(to jsondelta.Document) (Checkpoint, error) {
		return Checkpoint{}, j.write(record{Op: OpRecord, For: j.turn, Tools: slices.Clone(tools)}, &to, "")
	})
	return err
}

// Edit records one edit by hand, from before to after, as a step that can be undone. session is the session of the
// user; "" means the last started one. An empty description becomes "Edit". If before and after are equal, Edit
// writes nothing and returns the zero Checkpoint.
func (j *Journal) Edit(session, description string, before, after json.RawMessage) (Checkpoint, error) {
	return j.writeState(before, func(from jsondelta.Document) (Checkpoint, error) {
		to, err := jsondelta.Parse(after)
		if err != nil || from.Text() == to.Text() {
			return Checkpoint{}, err
		}
		if err := j.catchUp(from); err != nil {
			return Checkpoint{}, err
		}
		j.turn = ""
		return j.addCheckpoint(OpEdit, Checkpoint{Kind: KindEdit, Description: description, Session: cmp.Or(session, j.index.session)}, to)
	})
}

// Saved records that the window's file contains state. Later states are unsaved until the next call. If a state has
// been recorded before, state becomes the current one too: the window may have reached it without a call to Record.
func (j *Journal) Saved(state json.RawMessage) error {
	_, err := j.writeState(state, func(saved jsondelta.Document) (Checkpoint, error) {
		if j.current.Text() == "" {
			return Checkpoint{}, j.write(record{Op: OpSaved}, nil, saved.Text())
		}
		if err := j.catchUp(saved); err != nil {
			return Checkpoint{}, err
		}
		return Checkpoint{}, j.write(record{Op: OpSaved}, nil, "") // without a payload, the record refers to the current state
	})
	return err
}

// CatchUp records a state that the window has reached without a step, for example because another program changed its
// file. If it is the newest recorded state, CatchUp writes nothing.
func (j *Journal) CatchUp(state json.RawMessage) error {
	_, err := j.writeState(state, func(now jsondelta.Document) (Checkpoint, error) { return Checkpoint{}, j.catchUp(now) })
	return err
}

// catchUp records a state that the window has reached without a call to Record, such as a change of the position.
func (j *Journal) catchUp(now jsondelta.Document) error {
	if j.current.Text() == now.Text() {
		return nil
	}
	return j.write(record{Op: OpRecord}, &now, "")
}

// writeState parses state and passes it to write; nil means the current state, if there is one. While a rollback is
// pending, it returns ErrPending.
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

// List returns the checkpoints of a session, or of all sessions if session is "", oldest first.
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

// Steps returns the checkpoints of all sessions, oldest first, without the starts of sessions in which no turn has made a
// checkpoint: a rollback to the next step has the same effect on the window.
func (j *Journal) Steps() []Checkpoint {
	all, turns := j.List(""), map[string]bool{}
	for i := range all {
		turns[all[i].Session] = turns[all[i].Session] || all[i].Kind == KindTurn
	}
	return slices.DeleteFunc(all, func(c Checkpoint) bool { return c.Kind == KindStart && !turns[c.Session] })
}

// LastStep returns the newest step of the user or the assistant that is in effect and changed the window, or false if
// there is none. A rollback to it undoes the step.
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

// Seq returns the number of the newest record, or 0 if there is none.
func (j *Journal) Seq() int64 {
	if j == nil {
		return 0
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.index.lastSeq
}

// OthersSince returns the steps of other sessions that a rollback to a checkpoint undoes, oldest first. It returns
// nil for a nil Journal.
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

// State returns the state at a checkpoint in canonical form. The error wraps ErrUnknown if id is not in the list.
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
	records, sum := j.index.records[:e.record+1], e.sum // safe to use: records are only appended
	j.mu.RUnlock()
	return rebuild(records, sum)
}
