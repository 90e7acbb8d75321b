package modelfilter

import (
	"slices"

	"winnow/assistant"
)

// keptChanges is how many changes of the user are remembered: more than a
// model would read between two messages.
const keptChanges = 200

// changeLog is what the user did, oldest first.
type changeLog struct {
	last    int64 // number of the newest change
	entries []logEntry
}

type logEntry struct {
	at     int64
	change assistant.Change
}

// Changes returns what the user did after mark, oldest first, and the mark to
// ask with next time. What the tools did is not in it.
func (w *Window) Changes(mark int64) ([]assistant.Change, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := []assistant.Change{}
	for _, e := range w.log.entries {
		if e.at > mark {
			c := assistant.Change{}
			for k, v := range e.change {
				c[k] = v
			}
			changes = append(changes, c)
		}
	}
	return changes, w.log.last
}

// note remembers what the user did. A search that goes on is one change.
func (w *Window) note(kind string, fields map[string]any) {
	l := &w.log
	l.last++
	entry := logEntry{l.last, assistant.NewChange(kind, w.opts.Now(), fields)}
	if n := len(l.entries); n > 0 && kind == searchChanged && l.entries[n-1].change["type"] == searchChanged {
		l.entries[n-1] = entry
		return
	}
	if len(l.entries) == keptChanges {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, entry)
}

const searchChanged = "search_changed"

// noteRule remembers a rule that the user added or removed.
func (w *Window) noteRule(kind string, p *provider, list List, pattern string) {
	w.note(kind, map[string]any{"provider": p.name, "rule_type": ruleType(list), "pattern": shown(pattern)})
}
