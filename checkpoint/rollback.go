package checkpoint

import (
	"fmt"
	"slices"
)

// BeginRollback records that the window goes back to the checkpoint id, and
// returns what has to be done. From then on every other call that writes is
// refused with ErrPending until Finish or Abandon.
//
// The rules return to the state at the checkpoint. The conversation is cut to
// before the pair of its turn; for an edit, which has no pair, to before the first
// turn that is dropped; for the start of a session likewise, or to before first, the
// oldest pair of the session (0: none), if that is older. An id that is not in the
// list is an error that wraps ErrUnknown.
func (j *Journal) BeginRollback(id string, scope Scope, first int64) (Intent, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if !slices.Contains([]Scope{Both, Rules, Conversation}, scope) {
		return Intent{}, fmt.Errorf("checkpoint: unknown scope %q", scope)
	}
	state, err := j.stateOf(id)
	if err != nil {
		return Intent{}, err
	}
	return j.begin(j.index.planRollback(j.index.byID[id], scope, first), state)
}

// BeginUndoRollback records that the last rollback is to be undone, as
// BeginRollback does. It can be until the next Add or Forget; edits made since
// are dropped. ErrNothing when there is no such rollback.
func (j *Journal) BeginUndoRollback() (Intent, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	switch {
	case j.index.pending != nil:
		return Intent{}, ErrPending
	case j.index.undo == nil:
		return Intent{}, ErrNothing
	}
	intent := j.index.undo.record
	state, err := rebuild(j.index.records[:slices.Index(j.index.records, intent)+1], intent.Sum)
	if err != nil {
		return Intent{}, err
	}
	return j.begin(j.index.planUndo(), state)
}

func (j *Journal) begin(in Intent, state document) (Intent, error) {
	if j.index.pending != nil {
		return Intent{}, ErrPending
	}
	in.ID = newID()
	if in.Scope == Conversation {
		state = j.now
	}
	r := record{Op: opIntent, Rollback: &in}
	if err := j.write(r, nil, state.text); err != nil {
		return Intent{}, err
	}
	return j.intent(), nil
}

// planRollback makes the intent of a rollback to target, without id and states. first is
// the oldest pair of the session that target is the start of. A cut from before
// all pairs would not do there: of other sessions that were resumed since, it
// would cut what was written long before.
func (x *index) planRollback(target *entry, scope Scope, first int64) Intent {
	in := Intent{Scope: scope, Target: target.ID}
	cut := target.Position
	if target.Kind == KindStart {
		cut = first
	}
	for _, e := range x.list("") {
		if e.Seq <= target.Seq || e.Kind == KindStart {
			continue
		}
		if scope != Conversation {
			in.Dropped = append(in.Dropped, e.ID)
		}
		if e.Position > 0 && (cut == 0 || e.Position < cut) {
			cut = e.Position
		}
	}
	if scope == Rules || cut == 0 {
		return in
	}
	in.Cut = cut
	for session, seq := range x.active {
		if session != "" && (seq >= target.Seq || session == target.Session) {
			in.Sessions = append(in.Sessions, session)
		}
	}
	slices.Sort(in.Sessions)
	return in
}

// planUndo makes the intent of the undo of the last rollback, likewise.
func (x *index) planUndo() Intent {
	in := x.undo.Intent
	in.Undoes, in.Dropped = in.ID, nil
	if in.Scope == Conversation {
		return in
	}
	for _, e := range x.list("") {
		if e.Seq > x.undo.record.Seq && e.Kind != KindStart {
			in.Dropped = append(in.Dropped, e.ID)
		}
	}
	return in
}

// intent returns the pending rollback.
func (j *Journal) intent() Intent {
	in := j.index.pending.Intent
	in.State, in.Previous = []byte(j.index.pending.record.payload), j.now.raw()
	return in
}

// Pending returns the rollback that was recorded and not done, nil when there
// is none. One found after Open was interrupted by a crash, before or after
// the database took part: do all of it again, then Finish.
func (j *Journal) Pending() (*Intent, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.index.pending == nil {
		return nil, nil
	}
	in := j.intent()
	return &in, nil
}

// Finish records that a rollback is done: its state is the newest now, and
// the checkpoints it drops leave the list. ErrNothing when it is not the
// pending one.
func (j *Journal) Finish(in Intent) error { return j.end(opDone, in) }

// Abandon records that a rollback will not be done, because the window or the
// database refused it and both are as before. ErrNothing when it is not the
// pending one.
func (j *Journal) Abandon(in Intent) error { return j.end(opAbandon, in) }

func (j *Journal) end(op op, in Intent) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	rb := j.index.pending
	if rb == nil || rb.ID != in.ID {
		return ErrNothing
	}
	var state *document
	if op == opDone {
		d, err := parse([]byte(rb.record.payload))
		if err != nil {
			return err
		}
		state = &d
	}
	err := j.write(record{Op: op, Rollback: &rb.Intent}, state, "")
	if err == nil {
		j.opts.Log.Info("rollback", "id", rb.ID, "op", string(op), "checkpoint", rb.Target, "scope", string(rb.Scope), "undoes", rb.Undoes)
	}
	return err
}

// CanUndoRollback reports whether BeginUndoRollback would find a rollback,
// and its Intent.ID.
func (j *Journal) CanUndoRollback() (id string, ok bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.index.undo == nil {
		return "", false
	}
	return j.index.undo.ID, true
}

// Forget ends the possibility to undo the last rollback, as the next message
// does. Nothing is written when there is none.
func (j *Journal) Forget() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.index.undo == nil {
		return nil
	}
	return j.write(record{Op: opForget}, nil, "")
}
