package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// image writes a journal anew, from the records of an older file: when that
// one has grown large, and to salvage one that is damaged.
type image struct {
	every int
	out   []byte
	prev  int64
	seq   int64
	state value // after the last record
	sum   string
	since int // checkpoints since the last full state, that one included
	kept  int
	lost  int // checkpoints whose state is not known
}

// emit appends a record after which the state is to.
func (m *image) emit(r record, to value, full bool) error {
	kind, payload, err := transition(m.state, to, m.sum == "", full)
	if err != nil {
		return err
	}
	return m.write(r, kind, payload, to)
}

// write appends a record with a payload of which the state after it is to.
func (m *image) write(r record, kind payloadKind, payload string, to value) error {
	sum := stateSum(to)
	if to.text == "" {
		sum = "" // nothing was ever recorded
	}
	if m.sum != sum {
		r.Base = m.sum
	}
	r.Sum, r.Prev = sum, m.prev
	out, err := appendLine(m.out, &r, kind, payload)
	if err != nil {
		return err
	}
	m.out, m.prev, m.state, m.sum = out, r.Seq, to, sum
	if kind == payloadFull {
		m.since = 0
	}
	m.seq = max(m.seq, r.Seq)
	return nil
}

// keep appends a checkpoint, every so many with its full state.
func (m *image) keep(e *entry, undone bool, state value) error {
	c := e.Checkpoint
	c.Undone = undone
	m.kept++
	m.since++
	return m.emit(record{Seq: c.Seq, Op: opKeep, Check: &c, Changed: e.changed}, state, m.since >= m.every)
}

// transition chooses how a record says that the state became to.
func transition(from, to value, first, full bool) (payloadKind, string, error) {
	switch {
	case to.text == "":
		return payloadNone, "", nil
	case first || full:
		return payloadFull, to.text, nil
	case from.text == to.text:
		return payloadNone, "", nil
	}
	delta, err := json.Marshal(diff(from, to))
	if err != nil {
		return payloadNone, "", fmt.Errorf("checkpoint: write delta: %w", err)
	}
	if len(delta) >= len(to.text) {
		return payloadFull, to.text, nil
	}
	return payloadDelta, string(delta), nil
}

// selection says which checkpoints stay in an image.
type selection struct {
	all  bool
	keep map[*entry]bool
}

// choose keeps the checkpoints of the newest sessions, and those made outside
// sessions since the first of them.
func choose(l *ledger, sessions int) selection {
	type activity struct {
		session string
		seq     int64
	}
	if len(l.active) <= sessions {
		return selection{all: true}
	}
	var newest []activity
	for session, seq := range l.active {
		newest = append(newest, activity{session, seq})
	}
	slices.SortFunc(newest, func(a, b activity) int { return int(min(max(b.seq-a.seq, -1), 1)) })
	inUse := make(map[string]bool)
	for _, a := range newest[:sessions] {
		inUse[a.session] = true
	}
	oldest := int64(math.MaxInt64) // of the kept sessions' entries
	for _, e := range l.entries {
		if inUse[e.Session] && e.Session != "" {
			oldest = min(oldest, e.Seq)
		}
	}
	s := selection{keep: make(map[*entry]bool)}
	for _, e := range l.entries {
		s.keep[e] = e.Session != "" && inUse[e.Session] || e.Session == "" && e.Seq >= oldest
	}
	return s
}

// needed reports whether e belongs into the image.
func (s selection) needed(l *ledger, e *entry) bool {
	for _, rb := range []*rollback{l.undo, l.pending} {
		if rb != nil && (rb.Target == e.ID || slices.Contains(rb.Dropped, e.ID)) {
			return true
		}
	}
	return !e.dropped && (s.all || s.keep[e])
}

// walker goes over the records of an older file with the state of each.
type walker struct {
	src    readerAt
	ledger *ledger
	state  value
	known  bool
}

// meet checks that the state known so far is the one that r was written upon.
func (w *walker) meet(r *record) {
	w.known = w.known && stateSum(w.state) == r.before()
}

// step takes in record i: state becomes the one after it, if it can be known.
func (w *walker) step(i int, r *record) {
	kind, payload, err := w.ledger.payload(w.src, i)
	if err != nil {
		w.known = false
		return
	}
	if kind == payloadDelta && !w.known {
		return
	}
	state, err := advance(w.state, kind, payload)
	switch {
	case err != nil:
		w.known = false
	case kind == payloadFull || kind == payloadDelta:
		w.state, w.known = state, stateSum(state) == r.Sum
	}
}

// rewrite makes the image of the ledger l whose records are recs, read from
// src.
func rewrite(src readerAt, l *ledger, recs []record, pick selection, every int) (*image, error) {
	m := &image{every: every, out: header(formatVersion), seq: l.seq}
	undo := usableUndo(src, l)
	byLine := make(map[int]*entry, len(l.entries))
	for _, e := range l.entries {
		byLine[e.line] = e
	}
	w := walker{src: src, ledger: l}
	sides := map[int]value{} // states before an intent that is still needed
	var last value
	for i := range recs {
		w.meet(&recs[i])
		e := byLine[i]
		editState, editKnown := w.state, w.known
		w.step(i, &recs[i])
		if w.known {
			last = w.state
		}
		for _, rb := range []*rollback{undo, l.pending} {
			if rb != nil && rb.intentLine == i && w.known {
				sides[i] = w.state
			}
		}
		if e == nil || !pick.needed(l, e) {
			continue
		}
		state, known := w.state, w.known
		if recs[i].Op == opEdit {
			state, known = editState, editKnown
		}
		if !known {
			m.lost++
			continue
		}
		undone := e.Undone
		if undo != nil && undo.Target == e.ID {
			undone = undo.undoneBefore
		}
		if err := m.keep(e, undone, state); err != nil {
			return nil, err
		}
	}
	return m, m.finish(src, l, undo, sides, last)
}

// usableUndo returns the rollback that can be undone, nil if its state cannot
// be read any more.
func usableUndo(src readerAt, l *ledger) *rollback {
	if l.undo == nil || l.undo.intentLine < 0 {
		return nil
	}
	if _, _, err := l.payload(src, l.undo.intentLine); err != nil {
		return nil
	}
	return l.undo
}

// finish appends what is not a checkpoint: the rollbacks, the state now, what
// the file of the window holds.
func (m *image) finish(src readerAt, l *ledger, undo *rollback, sides map[int]value, last value) error {
	if undo != nil {
		if before, ok := sides[undo.intentLine]; ok {
			if err := m.rollback(src, l, undo, before); err != nil {
				return err
			}
		}
	}
	if last.text != "" {
		m.seq++
		if err := m.emit(record{Seq: m.seq, Op: opRecord}, last, false); err != nil {
			return err
		}
	}
	if l.pending != nil {
		if err := m.intent(src, l, l.pending); err != nil {
			return err
		}
	}
	if err := m.saved(src, l); err != nil {
		return err
	}
	m.seq++
	note := &imageNote{Seq: m.seq, Session: l.session, Active: l.active, Closed: l.closed}
	return m.emit(record{Seq: m.seq, Op: opImage, Image: note}, last, false)
}

// intent repeats the record of an intent with its side state. One that could
// not be read is left out: nothing was done yet.
func (m *image) intent(src readerAt, l *ledger, rb *rollback) error {
	_, payload, err := l.payload(src, rb.intentLine)
	if err != nil {
		return nil //nolint:nilerr // an unreadable intent is dropped on purpose
	}
	note := rb.rollbackNote
	return m.write(record{Seq: rb.intentSeq, Op: opIntent, Rollback: &note}, payloadSide, string(payload), m.state)
}

// rollback repeats the rollback that can be undone.
func (m *image) rollback(src readerAt, l *ledger, rb *rollback, before value) error {
	m.seq++
	if err := m.emit(record{Seq: m.seq, Op: opRecord}, before, false); err != nil {
		return err
	}
	if err := m.intent(src, l, rb); err != nil {
		return err
	}
	note := rb.rollbackNote
	return m.emit(record{Seq: rb.doneSeq, Op: opDone, Rollback: &note}, m.state, false)
}

// saved repeats what the file of the window holds.
func (m *image) saved(src readerAt, l *ledger) error {
	if l.saved < 0 {
		return nil
	}
	text, err := l.savedText(src)
	if err != nil {
		return nil //nolint:nilerr // not known what the file holds: then it is not clean
	}
	m.seq++
	return m.write(record{Seq: m.seq, Op: opSaved}, payloadSide, text, m.state)
}
