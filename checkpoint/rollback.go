package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"winnow/checkpoint/jsondelta"
)

// RollbackOptions configures BeginRollback.
type RollbackOptions struct {
	Scope Scope
	// FirstPair is the sequence number of the oldest pair of the session, for a rollback to the session's start; 0
	// means that the session has no pairs. It is ignored for other checkpoints.
	FirstPair int64
	// NextPair is the sequence number of the oldest pair of the session that is newer than the checkpoint, for a
	// rollback to an edit by hand or to a turn whose pair is in Foreign; 0 means that there is none. It is ignored for
	// other checkpoints.
	NextPair int64
	// Foreign are the pairs of turns that belong to another session than the turn, which answered them again. The cut
	// does not start at them.
	Foreign []int64
	// OnlySession limits the cut to the conversation of one session; "" cuts all sessions.
	OnlySession string
	// State is the state to restore, for example the state at the checkpoint plus what other programs have changed
	// since (see OutsideSince); nil means the state at the checkpoint.
	State json.RawMessage
}

// BeginRollback records that the window is to be rolled back to the checkpoint id, and returns the Intent to carry
// out. Until Finish or Abandon, every other call that writes returns ErrPending.
//
// If the window is in scope, it returns to opts.State or, if that is nil, to the state at the checkpoint. If the
// conversation is in scope, it is cut before the pair of the checkpoint's turn, or before the pair of a later turn if
// that pair is older. For the start of a session, it is cut before FirstPair, for an edit by hand and for a turn with a
// foreign pair before NextPair. The error wraps ErrUnknown if id is not in the list.
func (j *Journal) BeginRollback(id string, opts RollbackOptions) (Intent, error) {
	done, err := j.exclusive(true)
	if err != nil {
		return Intent{}, err
	}
	defer done()
	if !slices.Contains([]Scope{ScopeBoth, ScopeWindow, ScopeConversation}, opts.Scope) {
		return Intent{}, fmt.Errorf("checkpoint: unknown scope %q", opts.Scope)
	}
	state, err := j.stateByID(id)
	if err == nil && opts.State != nil {
		state, err = jsondelta.Parse(opts.State)
	}
	if err != nil {
		return Intent{}, err
	}
	return j.recordIntent(j.index.planRollback(j.index.byID[id], opts), state)
}

// BeginUndoRollback records, like BeginRollback, that the last rollback is to be undone. This is possible until the
// next Add or ForgetRollback. Edits made since the rollback are dropped. The window returns to state, for example
// StateBeforeRollback plus what other programs have changed since. It returns ErrNoRollback if there is none to undo.
// Once a rollback has been undone, the previous one can be undone too.
func (j *Journal) BeginUndoRollback(state json.RawMessage) (Intent, error) {
	done, err := j.exclusive(true)
	if err != nil {
		return Intent{}, err
	}
	defer done()
	switch {
	case j.index.pending != nil:
		return Intent{}, ErrPending
	case j.index.undo == nil:
		return Intent{}, ErrNoRollback
	}
	to, err := jsondelta.Parse(state)
	if err != nil {
		return Intent{}, err
	}
	return j.recordIntent(j.index.planUndo(), to)
}

// PlanRollback returns the intent that BeginRollback would record now, without ID and states.
func (j *Journal) PlanRollback(id string, opts RollbackOptions) (Intent, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	target := j.index.byID[id]
	if target == nil {
		return Intent{}, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	return j.index.planRollback(target, opts), nil
}

func (j *Journal) recordIntent(intent Intent, state jsondelta.Document) (Intent, error) {
	if j.index.pending != nil {
		return Intent{}, ErrPending
	}
	intent.ID = newID()
	if intent.Scope == ScopeConversation {
		state = j.current
	}
	r := record{Op: OpIntent, Rollback: &intent}
	if err := j.write(r, nil, state.Text()); err != nil {
		return Intent{}, err
	}
	j.index.pending.state = state
	return j.pendingIntent(), nil
}

// planRollback returns the intent of a rollback to target, without id and states. If there is no pair at which the
// cut could start, it cuts nothing: cutting all pairs would also remove older pairs, in other sessions that were
// resumed since.
func (x *index) planRollback(target *entry, opts RollbackOptions) Intent {
	intent := Intent{Scope: opts.Scope, Target: target.ID}
	cuts := func(session string) bool { return opts.OnlySession == "" || session == opts.OnlySession }
	foreign := func(e *entry) bool { return slices.Contains(opts.Foreign, e.PairSeq) }
	cut := target.PairSeq
	switch {
	case target.Kind == KindStart:
		cut = opts.FirstPair
	case target.Kind == KindEdit, foreign(target):
		cut = opts.NextPair
	}
	if !cuts(target.Session) {
		cut = 0
	}
	for _, e := range x.list("") {
		if e.Seq <= target.Seq || e.Kind == KindStart {
			continue
		}
		if opts.Scope != ScopeConversation {
			intent.Dropped = append(intent.Dropped, e.ID)
		}
		if e.PairSeq > 0 && cuts(e.Session) && !foreign(e) && (cut == 0 || e.PairSeq < cut) {
			cut = e.PairSeq
		}
	}
	if opts.Scope == ScopeWindow || cut == 0 {
		return intent
	}
	intent.Cut = cut
	for session, seq := range x.active {
		if session != "" && cuts(session) && (seq >= target.Seq || session == target.Session) {
			intent.Sessions = append(intent.Sessions, session)
		}
	}
	slices.Sort(intent.Sessions)
	return intent
}

// planUndo returns the intent of undoing the last rollback, without id and states.
func (x *index) planUndo() Intent {
	intent := x.undo.Intent
	intent.Undoes, intent.Dropped = intent.ID, nil
	if intent.Scope == ScopeConversation {
		return intent
	}
	for _, e := range x.list("") {
		if e.Seq > x.undo.record.Seq && e.Kind != KindStart {
			intent.Dropped = append(intent.Dropped, e.ID)
		}
	}
	return intent
}

// pendingIntent returns the pending rollback with its states.
func (j *Journal) pendingIntent() Intent {
	intent := j.index.pending.Intent
	intent.State, intent.Previous = []byte(j.index.pending.record.payload), j.current.Raw()
	return intent
}

// Pending returns the rollback that was begun but not finished, or nil. A rollback that is pending after Open was
// interrupted by a crash, before or after the database was changed: carry it out again, then call Finish. A rollback
// of another process is not reported while that process holds the writer lock.
func (j *Journal) Pending() (*Intent, error) {
	j.mu.RLock()
	none := j.index.pending == nil
	j.mu.RUnlock()
	if none {
		return nil, nil
	}
	unlock, err := j.TryLock()
	switch {
	case errors.As(err, new(*LockedError)), errors.As(err, new(*UnwritableError)):
		return nil, nil
	case errors.Is(err, ErrReadOnly): // answer from memory
	case err != nil:
		return nil, err
	default:
		defer unlock()
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.index.pending == nil { // another process has finished it in the meantime
		return nil, nil
	}
	intent := j.pendingIntent()
	return &intent, nil
}

// Finish records that a rollback is done: its state becomes the newest one, and the checkpoints that it drops are
// removed from the list. It returns ErrNoRollback if intent is not the pending one.
func (j *Journal) Finish(intent Intent) error { return j.endRollback(OpDone, intent) }

// Abandon records that a rollback was not carried out, because the window or the database refused it and both are
// unchanged. It returns ErrNoRollback if intent is not the pending one.
func (j *Journal) Abandon(intent Intent) error { return j.endRollback(OpAbandon, intent) }

func (j *Journal) endRollback(op Op, intent Intent) error {
	done, err := j.exclusive(false)
	if err != nil {
		return err
	}
	defer done()
	rb := j.index.pending
	if rb == nil || rb.ID != intent.ID {
		return ErrNoRollback
	}
	var to *jsondelta.Document
	if op == OpDone {
		if to = &rb.state; to.Text() == "" {
			*to, err = jsondelta.ParseCanonical(rb.record.payload)
		}
	}
	if err == nil {
		err = j.write(record{Op: op, Rollback: &rb.Intent}, to, "")
	}
	if err == nil {
		j.turn = ""
		j.opts.Log.Info("rollback", "id", rb.ID, "op", string(op), "checkpoint", rb.Target, "scope", string(rb.Scope), "undoes", rb.Undoes)
	}
	return err
}

// UndoableRollback is the rollback that BeginUndoRollback would undo.
type UndoableRollback struct {
	ID            string       // id of its Intent
	Seq           int64        // Seq of the record that contains its Intent
	User, Session string       // who rolled back, as returned by Options.Author
	Drops         []Checkpoint // the steps since the rollback, which undoing it drops, oldest first
}

// LastRollback returns the rollback that BeginUndoRollback would undo; ok is false if there is none.
func (j *Journal) LastRollback() (r UndoableRollback, ok bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	undo := j.index.undo
	if undo == nil {
		return UndoableRollback{}, false
	}
	r = UndoableRollback{ID: undo.ID, Seq: undo.record.Seq, User: undo.record.User, Session: undo.record.Author}
	for _, id := range j.index.planUndo().Dropped {
		if e := j.index.byID[id]; !e.Undone {
			r.Drops = append(r.Drops, e.described())
		}
	}
	return r, true
}

// StateBeforeRollback returns the state before the rollback that BeginUndoRollback would undo, or ErrNoRollback.
func (j *Journal) StateBeforeRollback() (json.RawMessage, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.index.undo == nil {
		return nil, ErrNoRollback
	}
	begin := j.index.undo.record // this record did not change the state
	state, err := rebuild(j.index.records[:slices.Index(j.index.records, begin)+1], begin.Sum)
	return state.Raw(), err
}

// ForgetRollback makes the last rollback final, so that it cannot be undone; call it when the next message is sent.
// Without a rollback it writes nothing, and while another rollback or undo is pending it returns ErrPending. It does not
// wait for other processes: if one of them is changing the window, the rollback can be undone until the next Add.
func (j *Journal) ForgetRollback() error {
	if _, can := j.LastRollback(); !can {
		return nil
	}
	unlock, err := j.TryLock()
	if errors.As(err, new(*LockedError)) || errors.As(err, new(*UnwritableError)) {
		return nil
	} else if err != nil {
		return err
	}
	defer unlock()
	j.writing.Lock()
	defer j.writing.Unlock()
	switch {
	case j.index.undo == nil:
		return nil
	case j.index.pending != nil:
		return ErrPending
	}
	return j.write(record{Op: OpForget}, nil, "")
}
