package modelfilter

import "winnow/assistant"

// Changes returns what the user did after mark, oldest first, and the mark to
// ask with next time. What the tools did is not in it.
func (w *Window) Changes(mark int64) ([]assistant.Change, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Since(mark)
}

// record remembers what the user did. A search that goes on is one change.
func (w *Window) record(kind string, fields map[string]any) {
	change := assistant.NewChange(kind, w.opts.Now(), fields)
	if kind == searchChanged {
		w.log.Continue(change)
		return
	}
	w.log.Add(change)
}

const searchChanged = "search_changed"

// recordRule remembers a rule that the user added or removed.
func (w *Window) recordRule(kind string, p *provider, list List, pattern string) {
	w.record(kind, map[string]any{"provider": p.name, "rule_type": ruleType(list), "pattern": visible(pattern)})
}
