package checkpoint

import (
	"encoding/json"
	"fmt"
	"slices"
)

// BeginRollback writes down that the window goes back to the checkpoint id,
// and returns what has to be done. From then on every other call that writes
// is refused with ErrPending until Finish or Abandon.
//
// The rules return to the state at the checkpoint. The conversation is cut to
// before the pair of its turn; for an edit, which has no pair, to before the
// first turn that is dropped; for the start of a session likewise, or to before
// first, the oldest pair of the session, if that is older. first is 0 when it
// has none, and counts for nothing else.
//
// Durable on return; on error nothing changed. An id that is not in the list
// is an error that wraps ErrUnknown.
func (j *Journal) BeginRollback(id string, scope Scope, first int64) (Intent, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.idle(); err != nil {
		return Intent{}, err
	}
	switch scope {
	case Both, Rules, Conversation:
	default:
		return Intent{}, fmt.Errorf("checkpoint: unknown scope %q", scope)
	}
	state, err := j.stateOf(id)
	if err != nil {
		return Intent{}, err
	}
	note := j.ledger.plan(j.ledger.byID[id], scope, first)
	return j.begins(note, state)
}

// BeginUndoRollback writes down that the last rollback is to be undone, as
// BeginRollback does. It can be until the next Add or Forget; edits made since
// are dropped. ErrNothing when there is no such rollback.
func (j *Journal) BeginUndoRollback() (Intent, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.idle(); err != nil {
		return Intent{}, err
	}
	if j.ledger.undo == nil {
		return Intent{}, ErrNothing
	}
	state, err := j.ledger.stateAt(j.src, j.ledger.undo.intentLine)
	if err != nil {
		return Intent{}, err
	}
	return j.begins(j.ledger.planUndo(), state)
}

// idle says why no rollback can begin.
func (j *Journal) idle() error {
	if j.ledger.pending != nil {
		return ErrPending
	}
	return j.writable()
}

func (j *Journal) begins(note rollbackNote, state value) (Intent, error) {
	note.ID = newID()
	if note.Scope == Conversation {
		state = j.now
	}
	d := plain(record{Op: opIntent, Time: j.opts.Now().UTC(), Rollback: &note})
	d.side = state.text
	if err := j.write(d); err != nil {
		return Intent{}, err
	}
	return j.intent(note, state), nil
}

// intent makes the public form of a note.
func (j *Journal) intent(note rollbackNote, state value) Intent {
	in := Intent{
		ID: note.ID, Scope: note.Scope, Undoes: note.Undoes, Cut: note.Cut,
		Sessions: slices.Clone(note.Sessions), State: state.raw(), Previous: j.now.raw(),
	}
	if e := j.ledger.byID[note.Target]; e != nil {
		in.Target = e.public()
	}
	for _, id := range note.Dropped {
		if e := j.ledger.byID[id]; e != nil {
			in.Dropped = append(in.Dropped, e.public())
		}
	}
	return in
}

// Pending returns the rollback that was written down and not done, nil when
// there is none. One found after Open was interrupted by a crash, before or
// after the database took part: do all of it again, then Finish. It reads the
// file.
func (j *Journal) Pending() (*Intent, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.ledger.pending == nil {
		return nil, nil
	}
	state, err := j.pendingState()
	if err != nil {
		return nil, err
	}
	in := j.intent(j.ledger.pending.rollbackNote, state)
	return &in, nil
}

// pendingState reads the state that the pending rollback leads to.
func (j *Journal) pendingState() (value, error) {
	_, payload, err := j.ledger.payload(j.src, j.ledger.pending.intentLine)
	if err != nil {
		return value{}, err
	}
	return parse(payload)
}

// Finish records that a rollback is done: its state is the newest now, and
// the checkpoints it drops leave the list. ErrNothing when it is not the
// pending one.
//
// Durable on return; on error it is still pending.
func (j *Journal) Finish(in Intent) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.ledger.pending == nil || j.ledger.pending.ID != in.ID {
		return ErrNothing
	}
	state, err := j.pendingState()
	if err != nil {
		return err
	}
	note := j.ledger.pending.rollbackNote
	err = j.write(draft{record: record{Op: opDone, Time: j.opts.Now().UTC(), Rollback: &note}, to: &state})
	if err == nil {
		j.opts.Log.Info("rollback", "id", note.ID, "checkpoint", note.Target, "scope", string(note.Scope), "undoes", note.Undoes)
	}
	return err
}

// Abandon records that a rollback will not be done, because the window or the
// database refused it and both are as before. ErrNothing when it is not the
// pending one.
//
// Durable on return; on error it is still pending.
func (j *Journal) Abandon(in Intent) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.ledger.pending == nil || j.ledger.pending.ID != in.ID {
		return ErrNothing
	}
	note := j.ledger.pending.rollbackNote
	return j.write(plain(record{Op: opAbandon, Time: j.opts.Now().UTC(), Rollback: &note}))
}

// CanUndoRollback reports whether BeginUndoRollback would find a rollback,
// and its Intent.ID.
func (j *Journal) CanUndoRollback() (id string, ok bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.ledger.undo == nil {
		return "", false
	}
	return j.ledger.undo.ID, true
}

// Forget ends the possibility to undo the last rollback, as the next message
// does. Nothing is written when there is none.
//
// Durable on return; on error nothing changed.
func (j *Journal) Forget() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.ledger.undo == nil {
		return nil
	}
	return j.write(plain(record{Op: opForget, Time: j.opts.Now().UTC()}))
}

// savedText reads the state that Saved was last called with.
func (l *ledger) savedText(src readerAt) (string, error) {
	if l.lines[l.saved].kind != payloadSide {
		v, err := l.stateAt(src, l.saved)
		return v.text, err
	}
	_, payload, err := l.payload(src, l.saved)
	if err != nil {
		return "", err
	}
	v, err := parse(json.RawMessage(payload))
	return v.text, err
}
