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
	if err := x.read(content, j.path); err != nil {
		return nil, err
	}
	j.index, j.now, j.torn = x, document{}, x.size < int64(len(content))
	j.report.Torn = int64(len(content)) - x.size
	for at := len(x.lines) - 1; at >= 0 && x.lines[at].sum != ""; at-- {
		if j.now, err = rebuild(x.lines, at, x.lines[at].sum); err == nil {
			break
		}
		x.damaged, x.badEnd = max(x.damaged, 1), true
	}
	j.saved = x.savedText()
	if x.damaged == 0 {
		return nil, nil
	}
	for _, e := range x.entries {
		if _, err := rebuild(x.lines, e.line, e.sum); err != nil {
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
// says what is lost. A copy of the damaged file stays beside it.
func (j *Journal) repair(content []byte, lost []string) error {
	x := j.index
	out := header(formatVersion)
	for _, l := range x.lines {
		out = append(append(out, content[l.offset:l.offset+int64(l.length)-1]...), '\n')
	}
	r := record{Seq: x.seq + 1, Prev: x.last, Op: opRepaired, Time: j.opts.Now().UTC(), Lost: lost}
	out, err := appendState(out, &r, j.now)
	if err != nil {
		return err
	}
	aside := j.path + ".damaged-" + j.opts.Now().UTC().Format("20060102T150405Z") + "-" + newID()[:4]
	if err := j.create(aside, content); err != nil {
		return fmt.Errorf("checkpoint: set damaged journal aside: %w", err)
	}
	j.report.Aside = aside
	return j.replaceFile(out)
}

// appendState appends a record with the full state after it, if there is one.
func appendState(dst []byte, r *record, state document) ([]byte, error) {
	if state.text == "" {
		return appendLine(dst, r, payloadNone, "")
	}
	r.Sum = state.sum()
	return appendLine(dst, r, payloadFull, state.text)
}

// compact replaces a large file by its newer part, which holds all of the
// newest sessions and what undoing the last rollback needs. Before it come the
// state that it begins with and what the older part said.
func (j *Journal) compact(content []byte) error {
	x := j.index
	cut := x.firstNeeded()
	if cut == 0 {
		return nil
	}
	state := document{}
	if sum := x.lines[cut-1].sum; sum != "" {
		var err error
		if state, err = rebuild(x.lines, cut-1, sum); err != nil {
			return err
		}
	}
	first := x.lines[cut]
	image := record{Seq: first.prev, Op: opImage, Image: &imageNote{
		Seq: x.seq, Session: x.session, Active: x.active, Size: x.size - first.offset,
	}}
	out, err := appendState(header(formatVersion), &image, state)
	if err == nil && j.saved != "" {
		saved := record{Seq: first.prev, Prev: first.prev, Op: opSaved, Sum: image.Sum}
		out, err = appendLine(out, &saved, payloadSide, j.saved)
	}
	if err != nil {
		return err
	}
	out = append(out, content[first.offset:x.size]...)
	j.report.Compacted = x.size - int64(len(out))
	return j.replaceFile(out)
}

// firstNeeded returns the line that a compacted journal begins with: 0, all
// is needed, while there are few sessions.
func (x *index) firstNeeded() int {
	if len(x.active) <= keepSessions {
		return 0
	}
	sessions := slices.SortedFunc(maps.Keys(x.active), func(a, b string) int { return cmp.Compare(x.active[b], x.active[a]) })
	sessions = slices.DeleteFunc(sessions[:keepSessions], func(s string) bool { return s == "" })
	needed := func(e *entry) bool {
		for _, rb := range []*rollback{x.undo, x.pending} {
			if rb != nil && (rb.line <= e.line || e.ID == rb.Target || slices.Contains(rb.Dropped, e.ID)) {
				return true
			}
		}
		return slices.Contains(sessions, e.Session)
	}
	if i := slices.IndexFunc(x.entries, needed); i >= 0 {
		return x.entries[i].line
	}
	return 0
}
