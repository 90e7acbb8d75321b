package checkpoint

import (
	"maps"
	"slices"
)

// entry is a checkpoint in the ledger.
type entry struct {
	Checkpoint
	line    int  // of the record that made it
	changed bool // the step after it changed the rules
	dropped bool // a rollback took it out of the list
}

// at returns the line after which the state was that of the checkpoint. The
// record of an edit holds the state after the edit; all others that before.
func (e *entry) at(l *ledger) int {
	if e.Kind == KindEdit && l.lines[e.line].op == opEdit {
		return e.line - 1
	}
	return e.line
}

// line is where a record is, and what states need to know of it.
type line struct {
	offset int64
	length int // without LF
	op     op
	kind   payloadKind
	sum    string
}

// rollback is a rollback in the ledger.
type rollback struct {
	rollbackNote
	intentLine, doneLine int // -1: not read or not written yet
	intentSeq, doneSeq   int64
	undoneBefore         bool // the target's Undone before it was done
}

// ledger is all that the records of a journal say, but for the states. It
// changes only by apply, so what a journal tells after a restart is what it
// told before.
type ledger struct {
	lines   []line
	entries []*entry
	byID    map[string]*entry
	seq     int64            // the largest so far
	last    int64            // Seq of the last record
	session string           // the one started or resumed last
	turn    string           // id of the checkpoint that Record adds tools to
	active  map[string]int64 // Seq at which a session last recorded something
	saved   int              // line of the last opSaved, -1: none
	pending *rollback
	undo    *rollback // the rollback that can be undone
	closed  bool
	records int // since the last full state
	checks  int // checkpoints since the last full state
	image   int64
}

func newLedger() *ledger {
	return &ledger{byID: make(map[string]*entry), active: make(map[string]int64), saved: -1, closed: true}
}

// has reports whether any state was recorded.
func (l *ledger) has() bool { return l.sum() != "" }

// sum is the sum of the current state.
func (l *ledger) sum() string {
	if len(l.lines) == 0 {
		return ""
	}
	return l.lines[len(l.lines)-1].sum
}

// apply takes one record in. A record that refers to something unknown, as
// can happen after damage, does what it still can.
func (l *ledger) apply(r *record, at line) {
	at.op, at.sum = r.Op, r.Sum
	n := len(l.lines)
	moved := r.before() != r.Sum
	l.lines = append(l.lines, at)
	l.last, l.seq = r.Seq, max(l.seq, r.Seq)
	l.closed = r.Op == opClose
	if at.kind == payloadFull {
		l.records, l.checks = 0, 0
	} else if at.kind == payloadDelta {
		l.records++
	}
	switch r.Op {
	case opStart, opAdd, opEdit, opKeep:
		l.addEntry(r, n, at.kind, moved)
	case opResume:
		l.session, l.turn = r.Session, ""
		l.active[r.Session] = r.Seq
	case opRecord:
		l.record(r)
	case opSaved:
		l.saved = n
	case opIntent:
		if r.Rollback != nil {
			l.pending = &rollback{rollbackNote: *r.Rollback, intentLine: n, intentSeq: r.Seq, doneLine: -1}
		}
	case opDone:
		l.done(r, n)
	case opAbandon:
		l.pending = nil
	case opForget:
		l.undo = nil
	case opImage:
		l.endImage(r, at)
	case opClose:
	}
}

func (l *ledger) addEntry(r *record, n int, kind payloadKind, moved bool) {
	if r.Check == nil {
		return
	}
	e := &entry{Checkpoint: *r.Check, line: n, changed: r.Changed || r.Op == opEdit && moved}
	e.Tools = slices.Clone(e.Tools)
	e.Full = kind == payloadFull
	if kind != payloadFull {
		l.checks++
	}
	l.entries = append(l.entries, e)
	l.byID[e.ID] = e
	if r.Op == opKeep {
		return
	}
	l.active[e.Session] = r.Seq
	l.turn = ""
	switch r.Op {
	case opStart:
		l.session = e.Session
	case opAdd:
		l.turn, l.undo = e.ID, nil
	default:
	}
}

func (l *ledger) record(r *record) {
	if e := l.byID[r.For]; e != nil {
		e.settle(r.Tools)
		e.changed = r.Sum != l.lines[e.line].sum // what one tool did another may have undone
		l.active[e.Session] = r.Seq
	}
}

func (l *ledger) done(r *record, n int) {
	if r.Rollback == nil {
		return
	}
	rb := &rollback{rollbackNote: *r.Rollback, intentLine: -1}
	if l.pending != nil && l.pending.ID == rb.ID {
		rb = l.pending
	}
	l.pending, l.turn = nil, ""
	rb.doneLine, rb.doneSeq = n, r.Seq
	for _, id := range rb.Dropped {
		if e := l.byID[id]; e != nil {
			e.dropped = true
		}
	}
	target := l.byID[rb.Target]
	if rb.Undoes != "" {
		l.undone(rb.Undoes, target)
		return
	}
	if target != nil {
		rb.undoneBefore = target.Undone
		target.Undone = target.Undone || rb.Scope != Conversation && target.Kind != KindStart
	}
	l.undo = rb
	if rb.intentLine < 0 {
		l.undo = nil // the state to go back to is not known
	}
}

// undone takes back what done did for the rollback id.
func (l *ledger) undone(id string, target *entry) {
	if l.undo == nil || l.undo.ID != id {
		return
	}
	for _, dropped := range l.undo.Dropped {
		if e := l.byID[dropped]; e != nil {
			e.dropped = false
		}
	}
	if target != nil {
		target.Undone = l.undo.undoneBefore
	}
	l.undo = nil
}

func (l *ledger) endImage(r *record, at line) {
	l.image = at.offset + int64(at.length) + 1
	if r.Image == nil {
		return
	}
	l.seq = max(l.seq, r.Image.Seq)
	l.session, l.closed = r.Image.Session, r.Image.Closed
	l.active = maps.Clone(r.Image.Active)
	if l.active == nil {
		l.active = make(map[string]int64)
	}
}

// live returns the checkpoints of the list of a session, "" for all, in the
// order of Seq.
func (l *ledger) live(session string) []*entry {
	var out []*entry
	for _, e := range l.entries {
		if !e.dropped && (session == "" || e.Session == session) {
			out = append(out, e)
		}
	}
	return out
}

// start returns the start of a session, nil if it never started.
func (l *ledger) start(session string) *entry {
	for _, e := range l.entries {
		if e.Kind == KindStart && e.Session == session {
			return e
		}
	}
	return nil
}

// step returns the newest step that is in effect and changed something.
func (l *ledger) step() *entry {
	for _, e := range slices.Backward(l.entries) {
		if !e.dropped && !e.Undone && e.changed && e.Kind != KindStart {
			return e
		}
	}
	return nil
}

// plan makes the note of a rollback to target, without its id. first is the
// oldest pair of the session that target is the start of. A cut from before all
// pairs would not do there: of other sessions that went on since, it would take
// what was said long before.
func (l *ledger) plan(target *entry, scope Scope, first int64) rollbackNote {
	note := rollbackNote{Scope: scope, Target: target.ID}
	cut := target.Position
	if target.Kind == KindStart {
		cut = first
	}
	for _, e := range l.live("") {
		if e.Seq <= target.Seq || e.Kind == KindStart {
			continue
		}
		if scope != Conversation {
			note.Dropped = append(note.Dropped, e.ID)
		}
		if e.Position > 0 && (cut == 0 || e.Position < cut) {
			cut = e.Position
		}
	}
	if scope == Rules || cut == 0 {
		return note
	}
	note.Cut = cut
	for session, seq := range l.active {
		if session != "" && (seq >= target.Seq || session == target.Session) {
			note.Sessions = append(note.Sessions, session)
		}
	}
	slices.Sort(note.Sessions)
	return note
}

// planUndo makes the note of the undo of the last rollback, without its id.
func (l *ledger) planUndo() rollbackNote {
	note := rollbackNote{
		Scope: l.undo.Scope, Undoes: l.undo.ID, Target: l.undo.Target,
		Cut: l.undo.Cut, Sessions: l.undo.Sessions,
	}
	if note.Scope == Conversation {
		return note
	}
	for _, e := range l.live("") {
		if e.Seq > l.undo.doneSeq && e.Kind != KindStart {
			note.Dropped = append(note.Dropped, e.ID)
		}
	}
	return note
}
