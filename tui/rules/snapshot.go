package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
)

// snapshot is what the window showed when it was last looked at. Drawing and
// keys work on it alone, so that a frame costs the same with ten models and
// with ten thousand.
type snapshot struct {
	revision int64
	provider string
	rules    [2][]modelfilter.RuleView // by list
	removed  [2][]string
	added    [2]int    // how many of rules are unsaved
	fixed    [2]string // what decides a list that cannot be edited; "" for one that can
	models   []modelfilter.ModelView
	lower    []string // ids of models in lower case; nil until a search needs them
	counts   modelfilter.Counts
	source   modelfilter.ModelList // without its ids
	diff     []modelfilter.RuleChange
	notices  []string
	light    modelfilter.Highlight
	lit      map[string]bool // ids of light
	locked   bool
	dirty    bool
	file     string
}

// take looks at the window. The revision is read first: what changes meanwhile
// is seen the next time.
func take(w *modelfilter.Window) snapshot {
	s := snapshot{
		revision: w.Revision(), provider: w.Provider(), models: w.ModelsView(), counts: w.Counts(), diff: w.Diff(),
		notices: w.Notices(), light: w.Highlighted(), locked: w.Locked(), dirty: w.Dirty(), file: w.EnvFile(),
	}
	for _, list := range lists {
		s.rules[list] = w.Rules(list)
		for _, r := range s.rules[list] {
			if r.Unsaved {
				s.added[list]++
			}
			if r.Fixed {
				s.fixed[list] = r.Source
			}
		}
		if scope, err := w.On(""); err == nil {
			s.removed[list] = scope.Removed(list)
		}
	}
	if list, err := w.ModelList(""); err == nil {
		list.IDs = nil
		s.source = list
	}
	s.lit = make(map[string]bool, len(s.light.Models))
	for _, id := range s.light.Models {
		s.lit[id] = true
	}
	return s
}

// refresh takes a snapshot when the window is another, and builds the rows.
func (p *Pane) refresh() {
	if p.window.Revision() != p.data.revision {
		for t := range p.views { // the rows name their things by place
			if v := &p.views[t]; v.key == "" && v.cursor < len(v.rows) {
				v.key = p.rowKey(v.rows[v.cursor])
			}
		}
		p.data = take(p.window)
		p.dropMarks()
	}
	p.rebuild()
}

// rebuild builds the rows of the open tab and keeps the cursor on its row.
func (p *Pane) rebuild() {
	v := &p.views[p.tab]
	key := v.key
	if at, ok := p.at(); ok && key == "" {
		key = p.rowKey(at)
	}
	v.key = ""
	v.rows, v.hits = p.build(), 0
	for _, r := range v.rows {
		if r.kind == rowModel || r.kind == rowRule {
			v.hits++
		}
	}
	if !v.find(key, p.rowKey) {
		v.move(0)
	}
	if v.find(p.want, p.rowKey) {
		p.want = ""
	}
	p.version++
}

// dropMarks takes what is gone from the selection.
func (p *Pane) dropMarks() {
	if len(p.marked) == 0 {
		return
	}
	kept := map[string]bool{}
	keep := func(key string) {
		if p.marked[key] {
			kept[key] = true
		}
	}
	for _, m := range p.data.models {
		keep(modelKey(m.ID))
	}
	for _, list := range lists {
		for _, r := range p.data.rules[list] {
			keep(ruleKey(list, r.Pattern))
		}
	}
	p.marked = kept
}

// ruleAt is the rule with a pattern; false when there is none.
func (s *snapshot) ruleAt(list modelfilter.List, pattern string) (modelfilter.RuleView, bool) {
	for _, r := range s.rules[list] {
		if r.Pattern == pattern {
			return r, true
		}
	}
	return modelfilter.RuleView{}, false
}

// lowered are the ids in lower case.
func (s *snapshot) lowered() []string {
	if s.lower == nil {
		s.lower = make([]string, len(s.models))
		for i, m := range s.models {
			s.lower[i] = strings.ToLower(m.ID)
		}
	}
	return s.lower
}

// name is an id as the rules name it.
func (s *snapshot) name(id string) string {
	if head, name, ok := strings.Cut(id, "/"); ok && strings.EqualFold(head, s.provider) {
		return name
	}
	return id
}
