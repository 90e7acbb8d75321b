package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/checkpoint/jsondelta"
)

// entry is a checkpoint and the location of its state.
type entry struct {
	Checkpoint
	record   int    // index of the record that left the window in the checkpoint's state
	sum      string // sum of that state
	changed  bool   // the step changed the window
	recorded bool   // Record was called for the turn, so changed is known
	dropped  bool   // a rollback removed the checkpoint from the list
}

// listed reports whether the checkpoint is in the list. A turn's checkpoint is not in the list if the turn's tools
// have run without changing the state.
func (e *entry) listed() bool {
	return !e.dropped && (e.changed || !e.recorded)
}

// rollback is an intent that is pending or can be undone.
type rollback struct {
	Intent
	record          *record            // record of the intent; no step is recorded while it is pending
	state           jsondelta.Document // Intent.State, parsed; the zero Document if the intent was read from the file
	targetWasUndone bool               // whether the target was Undone before the rollback
	earlier         *rollback          // the rollback that can be undone once this one has been undone, or nil
}

// index is what all records of a journal amount to. Records are added only by apply, so that a journal gives the same
// answers after a restart.
type index struct {
	records   []*record
	entries   []*entry
	byID      map[string]*entry
	lastSeq   int64            // Seq of the last record
	sinceFull int              // checkpoints since the last full state
	session   string           // the session in open that was started or resumed last
	open      []string         // sessions that have not ended, oldest first
	active    map[string]int64 // Seq of the last record of each session
	saved     *record          // the last OpSaved, or nil
	pending   *rollback
	undo      *rollback // the rollback that can be undone
	closed    bool      // the last record is OpClose, or there are no records

	damaged    int   // number of unreadable or missing records
	endDamaged bool  // no readable record follows the last damaged one
	size       int64 // offset of the end of the last whole record
}

func newIndex() *index {
	return &index{byID: make(map[string]*entry), active: make(map[string]int64), closed: true}
}

// read adds all records of a journal. Content beyond size is then the start of an unfinished record. The only
// possible error is a *VersionError.
func (x *index) read(content, path string) error {
	first, rest, found := strings.Cut(content, "\n")
	if !found && strings.HasPrefix(string(header(formatVersion)), content) {
		return nil
	}
	version, ok := headerVersion(first)
	if ok && version > formatVersion {
		return &VersionError{Path: path, Found: version, Known: formatVersion}
	}
	if !ok {
		x.damaged, x.endDamaged = 1, true
	}
	x.size = int64(len(content) - len(rest))
	for len(rest) > 0 {
		text, after, whole := strings.Cut(rest, "\n")
		if !whole {
			// Either a crash interrupted the write, or the record's LF is damaged.
			text = text[:len(text)-1]
			if _, err := readRecord(text); err != nil {
				return nil //nolint:nilerr // an unfinished record is not damage
			}
			x.damaged++
		}
		if r, err := readRecord(text); err == nil {
			if r.Prev != x.lastSeq && r.Op != OpRepaired {
				x.damaged++ // a whole line is missing
			}
			x.endDamaged = false
			x.apply(r)
		} else {
			x.damaged, x.endDamaged = x.damaged+1, true
			x.size += int64(len(text)) + 1
		}
		rest = after
	}
	return nil
}

// apply adds one record. After damage, a record may refer to something lost; that part of the record has no effect.
func (x *index) apply(r *record) {
	x.size += r.size()
	x.records = append(x.records, r)
	wasClosed := x.closed
	x.lastSeq, x.closed = r.Seq, r.Op == OpClose
	if r.Checkpoint != nil {
		x.sinceFull++
	}
	if r.kind == payloadFull {
		x.sinceFull = 0
	}
	switch r.Op {
	case OpStart, OpAdd, OpEdit, OpKeep:
		x.addEntry(r)
	case OpResume:
		x.begin(r.Session)
		x.active[r.Session] = r.Seq
	case OpRecord:
		if e := x.byID[r.For]; e != nil {
			e.addResults(r.Tools)
			e.changed, e.recorded = r.Sum != e.sum, true // a later tool may revert the effect of an earlier one
			x.active[e.Session] = r.Seq
		}
	case OpSaved:
		x.saved = r
	case OpIntent:
		if r.Rollback != nil {
			x.pending = &rollback{Intent: *r.Rollback, record: r}
		}
	case OpDone:
		x.finishRollback(r)
	case OpAbandon:
		x.pending = nil
	case OpForget:
		x.undo = nil
	case OpRepaired:
		x.damaged, x.closed = 0, wasClosed
		x.remove(r.Lost)
	case OpLeave:
		x.leave(r.Left)
	case OpClose:
		x.leave(x.open)
	case OpCompacted:
	}
}

func (x *index) addEntry(r *record) {
	if r.Checkpoint == nil {
		return
	}
	e := &entry{Checkpoint: *r.Checkpoint, record: len(x.records) - 1, sum: r.Sum, changed: r.Changed, recorded: r.Op == OpKeep && r.Checkpoint.Kind == KindTurn}
	e.Tools, e.Full = slices.Clone(e.Tools), r.kind == payloadFull
	if r.Op == OpEdit { // the record contains the state after the edit
		e.record, e.sum, e.changed = e.record-1, r.before(), r.before() != r.Sum
	}
	x.entries = append(x.entries, e)
	x.byID[e.ID] = e
	x.active[e.Session] = r.Seq
	switch r.Op {
	case OpStart: // another session may start while a turn is running
		x.begin(e.Session)
	case OpAdd:
		x.undo = nil
	default:
	}
}

// finishRollback ends the pending rollback. If its intent was lost to damage, it cannot be undone, because the state
// before it is unknown.
func (x *index) finishRollback(r *record) {
	pending := x.pending
	x.pending = nil
	if r.Rollback == nil {
		return
	}
	intent, undone := r.Rollback, x.undo
	target := x.byID[intent.Target]
	x.setDropped(intent.Dropped, true)
	x.undo = nil
	switch {
	case intent.Undoes != "":
		if undone != nil && undone.ID == intent.Undoes {
			x.undo = undone.earlier
			x.setDropped(undone.Dropped, false)
			if target != nil {
				target.Undone = undone.targetWasUndone
			}
		}
	case target != nil:
		if pending != nil && pending.ID == intent.ID {
			pending.targetWasUndone, pending.earlier, x.undo = target.Undone, undone, pending
		}
		target.Undone = target.Undone || intent.Scope != ScopeConversation && target.Kind != KindStart
	}
}

// begin makes session the last started one.
func (x *index) begin(session string) {
	x.leave([]string{session})
	x.open = append(x.open, session)
	x.session = session
}

// leave ends sessions.
func (x *index) leave(sessions []string) {
	x.open = slices.DeleteFunc(slices.Clone(x.open), func(s string) bool { return slices.Contains(sessions, s) })
	if slices.Contains(sessions, x.session) {
		x.session = ""
		if n := len(x.open); n > 0 {
			x.session = x.open[n-1]
		}
	}
}

// setDropped removes checkpoints from the list, or restores them.
func (x *index) setDropped(ids []string, dropped bool) {
	for _, id := range ids {
		if e := x.byID[id]; e != nil {
			e.dropped = dropped
		}
	}
}

// remove permanently removes checkpoints from the list.
func (x *index) remove(ids []string) {
	x.setDropped(ids, true)
	for _, id := range ids {
		delete(x.byID, id)
	}
}

// list returns the listed checkpoints of a session, or of all sessions if session is "", ordered by Seq.
func (x *index) list(session string) []*entry {
	var out []*entry
	for _, e := range x.entries {
		if e.listed() && (session == "" || e.Session == session) {
			out = append(out, e)
		}
	}
	return out
}

// lastStep returns the newest step that is in effect and changed the window, or nil.
func (x *index) lastStep() *entry {
	for _, e := range slices.Backward(x.entries) {
		if !e.dropped && !e.Undone && e.changed && e.Kind != KindStart {
			return e
		}
	}
	return nil
}

// sum returns the sum of the current state, or "" if there is none.
func (x *index) sum() string {
	if len(x.records) == 0 {
		return ""
	}
	return x.records[len(x.records)-1].Sum
}

// rebuild returns the state after the last record, by applying the deltas since the last full state. The result must
// have the given sum.
func rebuild(records []*record, sum string) (jsondelta.Document, error) {
	from := len(records) - 1
	for from >= 0 && records[from].kind != payloadFull {
		from--
	}
	if from < 0 || sum == "" {
		return jsondelta.Document{}, fmt.Errorf("%w: no state at record %d", ErrDamaged, len(records))
	}
	var deltas []jsondelta.Delta
	state, err := jsondelta.ParseCanonical(records[from].payload)
	for _, r := range records[from+1:] {
		if r.kind == payloadDelta {
			var d jsondelta.Delta
			err = errors.Join(err, json.Unmarshal([]byte(r.payload), &d))
			deltas = append(deltas, d)
		}
	}
	if err == nil && len(deltas) > 0 {
		state, err = state.Apply(deltas...)
	}
	if err == nil && stateSum(state) != sum {
		err = errors.New("checksum mismatch")
	}
	if err != nil {
		return jsondelta.Document{}, fmt.Errorf("%w: state at record %d: %w", ErrDamaged, len(records), err)
	}
	return state, nil
}

// stateAt returns the state of a checkpoint.
func (x *index) stateAt(e *entry) (jsondelta.Document, error) {
	return rebuild(x.records[:e.record+1], e.sum)
}

// savedText returns the state that was last saved, or "" if it is unknown.
func (x *index) savedText() string {
	switch {
	case x.saved == nil:
		return ""
	case x.saved.kind == payloadOther:
		return x.saved.payload
	}
	d, _ := rebuild(x.records[:slices.Index(x.records, x.saved)+1], x.saved.Sum)
	return d.Text()
}
