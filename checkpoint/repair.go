package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"winnow/checkpoint/jsondelta"
)

// load reads the content of the file into memory. If the journal is damaged, the newest state that can be rebuilt
// becomes the current one. Checkpoints whose state cannot be rebuilt are removed from the list; their ids are
// returned.
func (j *Journal) load(content []byte) (lost []string, err error) {
	x := newIndex()
	if err := x.read(string(content), j.path); err != nil {
		return nil, err
	}
	var current jsondelta.Document
	for n := len(x.records); n > 0 && x.records[n-1].Sum != ""; n-- {
		if current, err = rebuild(x.records[:n], x.records[n-1].Sum); err == nil {
			break
		}
		x.damaged, x.endDamaged = max(x.damaged, 1), true
	}
	if x.damaged > 0 {
		for _, e := range x.entries {
			if _, err := x.stateAt(e); err != nil {
				lost = append(lost, e.ID)
			}
		}
		x.remove(lost)
	}
	j.mu.Lock()
	j.index, j.current, j.saved = x, current, x.savedText()
	j.mu.Unlock()
	j.torn = x.size < int64(len(content))
	j.report.TornBytes = int64(len(content)) - x.size
	if x.damaged == 0 {
		return nil, nil
	}
	j.report = Report{
		Damaged: true, UnreadableRecords: x.damaged, Lost: len(lost), Kept: len(x.list("")),
		StateLost: x.endDamaged, Narrowed: j.report.Narrowed,
	}
	return lost, nil
}

// repair replaces a damaged journal with its readable records and a final record that lists the lost checkpoints. It
// keeps a copy of the damaged file in the same folder.
func (j *Journal) repair(content []byte, lost []string) error {
	x := j.index
	damagedCopy := j.path + ".damaged-" + j.opts.Now().UTC().Format("20060102T150405Z") + "-" + newID()[:4]
	if err := j.create(damagedCopy, content); err != nil {
		return fmt.Errorf("checkpoint: copy damaged journal: %w", err)
	}
	j.report.DamagedCopy = damagedCopy
	end := &record{Seq: x.lastSeq + 1, Prev: x.lastSeq, Op: OpRepaired, Time: j.opts.Now().UTC(), Lost: lost}
	end.setState(j.current)
	return j.rewrite(append(x.records, end))
}

// compact replaces a large file with its newer part, which contains the newest sessions and what undoing the last
// rollback needs. The first record stores the state before that part.
func (j *Journal) compact() error {
	x := j.index
	cut := x.firstNeeded()
	if cut == 0 {
		return nil
	}
	needed := x.records[cut:]
	first := &record{Seq: needed[0].Prev, Op: OpCompacted}
	if sum := x.records[cut-1].Sum; sum != "" {
		state, err := rebuild(x.records[:cut], sum)
		if err != nil {
			return err
		}
		first.setState(state)
	}
	records := []*record{first}
	if j.saved != "" {
		records = append(records, &record{Seq: first.Seq, Prev: first.Seq, Op: OpSaved, Sum: first.Sum, kind: payloadOther, payload: j.saved})
	}
	return j.rewrite(append(records, needed...))
}

// setState makes state the full state after the record; the zero Document changes nothing.
func (r *record) setState(state jsondelta.Document) {
	if state.Text() != "" {
		r.kind, r.payload, r.Sum = payloadFull, state.Text(), stateSum(state)
	}
}

// rewrite durably replaces the journal with records, or leaves it unchanged.
func (j *Journal) rewrite(records []*record) error {
	content := header(formatVersion)
	for _, r := range records {
		if r.text == "" {
			if err := r.encode(); err != nil {
				return err
			}
		}
		content = append(append(content, r.text...), '\n')
	}
	return j.replaceFile(content)
}

// firstNeeded returns the index of the first record that a compaction keeps; 0 means that all are needed.
func (x *index) firstNeeded() int {
	if len(x.active) <= keepSessions {
		return 0
	}
	sessions := slices.SortedFunc(maps.Keys(x.active), func(a, b string) int { return cmp.Compare(x.active[b], x.active[a]) })
	sessions = slices.DeleteFunc(sessions[:keepSessions], func(s string) bool { return s == "" })
	i := slices.IndexFunc(x.entries, func(e *entry) bool {
		needs := func(rb *rollback) bool {
			return rb != nil && (rb.record.Seq < e.Seq || e.ID == rb.Target || slices.Contains(rb.Dropped, e.ID))
		}
		for rb := x.undo; rb != nil; rb = rb.earlier {
			if needs(rb) {
				return true
			}
		}
		return needs(x.pending) || slices.Contains(sessions, e.Session)
	})
	if i <= 0 { // no checkpoint would be removed
		return 0
	}
	return max(x.entries[i].record, 0) // -1 if the first record of the journal is an edit
}
