package checkpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// entry is a checkpoint in the index.
type entry struct {
	Checkpoint
	record  int    // the state after this record is that of the checkpoint
	sum     string // of that state
	changed bool   // the step after it changed the rules
	dropped bool   // it is not in the list
}

// rollback is a rollback in the index.
type rollback struct {
	Intent
	record       *record // of the intent; no step is recorded between it and its end
	undoneBefore bool    // Undone of the target before it was done
}

// index is the content of all records of a journal. It changes only by apply,
// so a journal answers after a restart as it did before.
type index struct {
	records []*record
	entries []*entry
	byID    map[string]*entry
	seq     int64            // the largest
	last    int64            // Seq of the last record
	checks  int              // checkpoints since the last full state
	session string           // the one started or resumed last
	turn    string           // id of the checkpoint that Record adds tools to
	active  map[string]int64 // Seq at which a session last recorded something
	saved   *record          // the last opSaved; nil: none
	pending *rollback
	undo    *rollback // the rollback that can be undone
	closed  bool      // the last record is opClose, or there is none

	damaged int   // records that are not readable, or are missing
	badEnd  bool  // no record follows the last of these
	size    int64 // end of the last whole record
}

func newIndex() *index {
	return &index{byID: make(map[string]*entry), active: make(map[string]int64), closed: true}
}

// read adds all records of a journal. What is behind size then is the start of
// a record that was never finished. Only a newer format is an error.
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
		x.damaged, x.badEnd = 1, true
	}
	x.size = int64(len(content) - len(rest))
	for len(rest) > 0 {
		text, after, whole := strings.Cut(rest, "\n")
		if !whole {
			// A write that a crash cut short, or a record whose LF has changed.
			text = text[:len(text)-1]
			if _, err := readRecord(text); err != nil {
				return nil //nolint:nilerr // a crash leaves such an end
			}
			x.damaged++
		}
		if r, err := readRecord(text); err == nil {
			if r.Prev != x.last && r.Op != opRepaired {
				x.damaged++ // a line is gone without a trace
			}
			x.badEnd = false
			x.apply(r)
		} else {
			x.damaged, x.badEnd = x.damaged+1, true
			x.size += int64(len(text)) + 1
		}
		rest = after
	}
	return nil
}

// apply adds one record. A record that refers to something unknown, as can
// happen after damage, does what it still can.
func (x *index) apply(r *record) {
	x.size += r.size()
	x.records = append(x.records, r)
	wasClosed := x.closed
	x.last, x.seq, x.closed = r.Seq, max(x.seq, r.Seq), r.Op == opClose
	if r.Check != nil {
		x.checks++
	}
	if r.kind == payloadFull {
		x.checks = 0
	}
	switch r.Op {
	case opStart, opAdd, opEdit, opKeep:
		x.addEntry(r)
	case opResume:
		x.session, x.turn = r.Session, ""
		x.active[r.Session] = r.Seq
	case opRecord:
		if e := x.byID[r.For]; e != nil {
			e.addResults(r.Tools)
			e.changed = r.Sum != e.sum // a later tool can revert what an earlier one did
			x.active[e.Session] = r.Seq
		}
	case opSaved:
		x.saved = r
	case opIntent:
		if r.Rollback != nil {
			x.pending = &rollback{Intent: *r.Rollback, record: r}
		}
	case opDone:
		x.done(r)
	case opAbandon:
		x.pending = nil
	case opForget:
		x.undo = nil
	case opImage:
		if r.Image != nil {
			x.seq = max(x.seq, r.Image.Seq)
			x.session, x.closed, x.active = r.Image.Session, r.Image.Closed, make(map[string]int64)
			maps.Copy(x.active, r.Image.Active)
		}
	case opRepaired:
		x.damaged, x.closed = 0, wasClosed
		x.remove(r.Lost)
	case opClose:
	}
}

func (x *index) addEntry(r *record) {
	if r.Check == nil {
		return
	}
	e := &entry{Checkpoint: *r.Check, record: len(x.records) - 1, sum: r.Sum, changed: r.Changed}
	e.Tools, e.Full = slices.Clone(e.Tools), r.kind == payloadFull
	if r.Op == opEdit { // its record holds the state after the edit
		e.record, e.sum, e.changed = e.record-1, r.before(), r.before() != r.Sum
	}
	x.entries = append(x.entries, e)
	x.byID[e.ID] = e
	if r.Op == opKeep {
		return
	}
	x.active[e.Session], x.turn = r.Seq, ""
	switch r.Op {
	case opStart:
		x.session = e.Session
	case opAdd:
		x.turn, x.undo = e.ID, nil
	default:
	}
}

// done ends the pending rollback. One whose intent was lost cannot be undone,
// because the state before it is not known.
func (x *index) done(r *record) {
	rb := x.pending
	x.pending, x.turn = nil, ""
	if r.Rollback == nil {
		return
	}
	note, undone := r.Rollback, x.undo
	target := x.byID[note.Target]
	x.drop(note.Dropped, true)
	x.undo = nil
	switch {
	case note.Undoes != "":
		if undone != nil && undone.ID == note.Undoes {
			x.drop(undone.Dropped, false)
			if target != nil {
				target.Undone = undone.undoneBefore
			}
		}
	case target != nil:
		if rb != nil && rb.ID == note.ID {
			rb.undoneBefore, x.undo = target.Undone, rb
		}
		target.Undone = target.Undone || note.Scope != Conversation && target.Kind != KindStart
	}
}

// drop removes checkpoints from the list, or adds them again.
func (x *index) drop(ids []string, dropped bool) {
	for _, id := range ids {
		if e := x.byID[id]; e != nil {
			e.dropped = dropped
		}
	}
}

// remove drops checkpoints for good.
func (x *index) remove(ids []string) {
	x.drop(ids, true)
	for _, id := range ids {
		delete(x.byID, id)
	}
}

// list returns the checkpoints of a session, "" for all, in the order of Seq.
func (x *index) list(session string) []*entry {
	var out []*entry
	for _, e := range x.entries {
		if !e.dropped && (session == "" || e.Session == session) {
			out = append(out, e)
		}
	}
	return out
}

// lastStep returns the newest step that is in effect and changed the rules.
func (x *index) lastStep() *entry {
	for _, e := range slices.Backward(x.entries) {
		if !e.dropped && !e.Undone && e.changed && e.Kind != KindStart {
			return e
		}
	}
	return nil
}

// sum returns the sum of the current state, "" when there is none.
func (x *index) sum() string {
	if len(x.records) == 0 {
		return ""
	}
	return x.records[len(x.records)-1].Sum
}

// rebuild returns the state after the last of records, which must have the given
// sum: from the nearest full state forward.
func rebuild(records []*record, sum string) (document, error) {
	from := len(records) - 1
	for from >= 0 && records[from].kind != payloadFull {
		from--
	}
	if from < 0 || sum == "" {
		return document{}, fmt.Errorf("%w: no state at record %d", ErrDamaged, len(records))
	}
	tree, err := decode([]byte(records[from].payload))
	for _, r := range records[from+1:] {
		if r.kind == payloadDelta && err == nil {
			var d Delta
			if err = json.Unmarshal([]byte(r.payload), &d); err == nil {
				tree, err = d.apply(tree)
			}
		}
	}
	if err != nil {
		return document{}, fmt.Errorf("%w: state at record %d: %w", ErrDamaged, len(records), err)
	}
	d := document{tree, encode(tree)}
	if d.sum() != sum {
		return document{}, fmt.Errorf("%w: the state at record %d is another", ErrDamaged, len(records))
	}
	return d, nil
}

// stateAt returns the state of a checkpoint.
func (x *index) stateAt(e *entry) (document, error) { return rebuild(x.records[:e.record+1], e.sum) }

// savedText returns the state that was last saved, "" when it is not known.
func (x *index) savedText() string {
	switch {
	case x.saved == nil:
		return ""
	case x.saved.kind == payloadSide:
		return x.saved.payload
	}
	d, _ := rebuild(x.records[:slices.Index(x.records, x.saved)+1], x.saved.Sum)
	return d.text
}
