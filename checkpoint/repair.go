package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// load makes content the state of j in memory. In a damaged journal the newest
// state that can be rebuilt becomes the current one, and checkpoints whose
// state cannot be rebuilt leave the list; their ids are returned.
func (j *Journal) load(content []byte) (lost []string, err error) {
	x := newIndex()
	if err := x.read(string(content), j.path); err != nil {
		return nil, err
	}
	j.index, j.now, j.torn = x, document{}, x.size < int64(len(content))
	j.report.Torn = int64(len(content)) - x.size
	for n := len(x.records); n > 0 && x.records[n-1].Sum != ""; n-- {
		if j.now, err = rebuild(x.records[:n], x.records[n-1].Sum); err == nil {
			break
		}
		x.damaged, x.badEnd = max(x.damaged, 1), true
	}
	j.saved = x.savedText()
	if x.damaged == 0 {
		return nil, nil
	}
	for _, e := range x.entries {
		if _, err := x.stateAt(e); err != nil {
			lost = append(lost, e.ID)
		}
	}
	x.remove(lost)
	j.report = Report{
		Damaged: true, Unreadable: x.damaged, Lost: len(lost), Kept: len(x.list("")),
		StateLost: x.badEnd, Repaired: j.report.Repaired,
	}
	return lost, nil
}

// repair replaces a damaged journal by its readable records and one more that
// lists what is lost. A copy of the damaged file stays beside it.
func (j *Journal) repair(content []byte, lost []string) error {
	x := j.index
	aside := j.path + ".damaged-" + j.opts.Now().UTC().Format("20060102T150405Z") + "-" + newID()[:4]
	if err := j.create(aside, content); err != nil {
		return fmt.Errorf("checkpoint: set damaged journal aside: %w", err)
	}
	j.report.Aside = aside
	end := &record{Seq: x.seq + 1, Prev: x.last, Op: opRepaired, Time: j.opts.Now().UTC(), Lost: lost}
	end.setState(j.now)
	return j.rewrite(append(x.records, end))
}

// compact replaces a large file by its newer part, which has all of the
// newest sessions and what undoing the last rollback needs. Before it come the
// state that it begins with and what remains of the older part.
func (j *Journal) compact() error {
	x := j.index
	cut := x.firstNeeded()
	if cut == 0 {
		return nil
	}
	needed := x.records[cut:]
	image := &record{Seq: needed[0].Prev, Op: opImage, Image: &imageNote{Seq: x.seq, Session: x.session, Active: x.active}}
	if sum := x.records[cut-1].Sum; sum != "" {
		state, err := rebuild(x.records[:cut], sum)
		if err != nil {
			return err
		}
		image.setState(state)
	}
	front := []*record{image}
	if j.saved != "" {
		front = append(front, &record{Seq: image.Seq, Prev: image.Seq, Op: opSaved, Sum: image.Sum, kind: payloadSide, payload: j.saved})
	}
	return j.rewrite(append(front, needed...))
}

// setState stores the full state after a record in it, if there is one.
func (r *record) setState(state document) {
	if state.text != "" {
		r.kind, r.payload, r.Sum = payloadFull, state.text, state.sum()
	}
}

// rewrite makes records the whole journal, durably, or leaves it as it was.
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

// firstNeeded returns the record that a compacted journal begins with; 0: all is
// needed.
func (x *index) firstNeeded() int {
	if len(x.active) <= keepSessions {
		return 0
	}
	sessions := slices.SortedFunc(maps.Keys(x.active), func(a, b string) int { return cmp.Compare(x.active[b], x.active[a]) })
	sessions = slices.DeleteFunc(sessions[:keepSessions], func(s string) bool { return s == "" })
	i := slices.IndexFunc(x.entries, func(e *entry) bool {
		for _, rb := range []*rollback{x.undo, x.pending} {
			if rb != nil && (rb.record.Seq < e.Seq || e.ID == rb.Target || slices.Contains(rb.Dropped, e.ID)) {
				return true
			}
		}
		return slices.Contains(sessions, e.Session)
	})
	if i <= 0 { // no checkpoint would go
		return 0
	}
	return max(x.entries[i].record, 0) // of an edit whose record is the first, the state before is lost
}
