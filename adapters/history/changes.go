package history

import (
	"strconv"

	"winnow/assistant"
)

// Changes returns what the user did after mark, as far as a Context has shown
// it, and the mark to ask with next time. What the tools did is not in it.
func (w *Window) Changes(mark int64) ([]assistant.Change, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Since(mark)
}

// note remembers what the user did.
func (w *Window) note(kind string, fields map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.Add(assistant.NewChange(kind, w.now(), fields))
}

// notice finds out what happened since the model was last told, and takes now
// as what it is told.
func (w *Window) notice(now marks, line string) {
	if w.seen != nil {
		w.noticeMarks(*w.seen, now)
		w.noticeNames(*w.seen, now)
		if line != w.line {
			w.note("filter_changed", map[string]any{"line": shown(line)})
		}
	}
	told := now.clone()
	w.seen, w.line = &told, line
}

// noticeMarks notes the pairs that the model knew and that differ now. Pairs
// that are gone are not told.
func (w *Window) noticeMarks(then, now marks) {
	known := then.pairs.and(now.pairs)
	for kind := range now.columns {
		changed := then.columns[kind].changes(now.columns[kind])
		for _, value := range sortedKeys(changed) {
			pairs := changed[value].and(known)
			if len(pairs) == 0 {
				continue
			}
			fields := map[string]any{"ids": pairs.String(), "count": len(pairs)}
			switch kind {
			case stars:
				n, _ := strconv.Atoi(value) // one of the values that read gives
				fields["stars"] = n
				w.note("pairs_starred", fields)
			case flags:
				fields["flag"] = value == flagOn
				w.note("pairs_flagged", fields)
			case topics:
				fields["topic"] = shown(value)
				w.note("topic_set", fields)
			}
		}
	}
}

func (w *Window) noticeNames(then, now marks) {
	old, tree := then.columns[topics].sets, now.columns[topics].sets
	for _, path := range now.topicPaths() {
		if _, had := old[path]; !had {
			w.note("topic_created", map[string]any{"topic": shown(path)})
		}
	}
	for _, path := range then.topicPaths() {
		if _, has := tree[path]; !has {
			w.note("topic_removed", map[string]any{"topic": shown(path)})
		}
	}
	for _, name := range sortedKeys(now.filters) {
		if line := now.filters[name]; then.filters[name] != line {
			w.note("filter_saved", map[string]any{"name": shown(name), "line": shown(line)})
		}
	}
	for _, name := range sortedKeys(then.filters) {
		if _, has := now.filters[name]; !has {
			w.note("filter_forgotten", map[string]any{"name": shown(name)})
		}
	}
}

// originalMarks are what pairs had before the tools of this window first changed it, by
// kind and pair. A state older than a pair cannot say it.
type originalMarks [kinds]map[int64]string

func newOriginalMarks() originalMarks {
	var b originalMarks
	for kind := range b {
		b[kind] = map[int64]string{}
	}
	return b
}

// note remembers the pairs that differ between two moments.
func (b originalMarks) note(before, after marks) {
	for kind := range b {
		for _, pairs := range before.columns[kind].changes(after.columns[kind]) {
			for seq, value := range before.columns[kind].values(pairs) {
				if _, known := b[kind][seq]; !known {
					b[kind][seq] = value
				}
			}
		}
	}
}

// back is what pairs after newest need to have their original marks.
func (b originalMarks) back(kind int, now marks, newest int64) map[string]seqs {
	needs := map[string]seqs{}
	later := now.pairs.after(newest)
	if len(later) == 0 || len(b[kind]) == 0 {
		return needs
	}
	has := now.columns[kind].values(later)
	for _, seq := range later {
		if value, known := b[kind][seq]; known && has[seq] != value {
			needs[value] = append(needs[value], seq)
		}
	}
	return needs
}
