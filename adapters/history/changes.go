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
	kept := now.clone()
	w.seen, w.line = &kept, line
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
