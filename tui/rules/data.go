package rules

import (
	"strings"
	"sync"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
)

// snapshot is the state of the window when it was last read. Drawing and keys
// use it alone, so a frame costs the same with ten models and ten thousand.
type snapshot struct {
	revision    int64
	provider    string
	rules       [2][]modelfilter.RuleView // by list
	removed     [2][]string
	added       [2]int    // unsaved rules, by list
	fixedBy     [2]string // what decides a list that cannot be edited; "" for one that can
	models      []modelfilter.ModelView
	lower       []string // ids of models in lower case; nil until a search needs them
	counts      modelfilter.Counts
	source      modelfilter.ModelList // without its ids
	diff        []modelfilter.RuleChange
	notices     []string
	highlight   modelfilter.Highlight
	highlighted map[string]bool // ids of highlight.Models
	locked      bool
	dirty       bool
	file        string
	fileExists  bool
}

// readWindow takes a snapshot. The revision is read first: a change during the
// reading is seen the next time.
func readWindow(w *modelfilter.Window) snapshot {
	s := snapshot{
		revision: w.Revision(), provider: w.Provider(), models: w.Models(), counts: w.Counts(), diff: w.Diff(),
		notices: w.Notices(), highlight: w.Highlighted(), locked: w.Locked(), dirty: w.Dirty(), file: w.EnvFile(), fileExists: w.FileExists(),
	}
	for _, list := range lists {
		s.rules[list] = w.Rules(list)
		for _, r := range s.rules[list] {
			if r.Unsaved {
				s.added[list]++
			}
			if r.Fixed {
				s.fixedBy[list] = r.Source
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
	s.highlighted = make(map[string]bool, len(s.highlight.Models))
	for _, id := range s.highlight.Models {
		s.highlighted[id] = true
	}
	return s
}

// rule is the rule with a pattern.
func (s *snapshot) rule(list modelfilter.List, pattern string) (r modelfilter.RuleView, ok bool) {
	for _, r := range s.rules[list] {
		if r.Pattern == pattern {
			return r, true
		}
	}
	return r, false
}

// lowerIDs are the ids of the models in lower case.
func (s *snapshot) lowerIDs() []string {
	if s.lower == nil {
		s.lower = make([]string, len(s.models))
		for i, m := range s.models {
			s.lower[i] = strings.ToLower(m.ID)
		}
	}
	return s.lower
}

// name is an id as the rules name it: without the provider.
func (s *snapshot) name(id string) string {
	if head, name, ok := strings.Cut(id, "/"); ok && head == s.provider {
		return name
	}
	return id
}

// isHighlighted reports whether a rule is the highlighted one.
func (s *snapshot) isHighlighted(r modelfilter.RuleView) bool {
	return s.highlight.Rule == r.Pattern && s.highlight.List == r.List
}

// results are what actions found out off the update loop. Its maps and pointers
// are replaced, never changed in place.
type results struct {
	suggestion *suggestion
	drift      map[string]models.Drift // by provider
}

// suggestion are the patterns that match the selected models and no others.
type suggestion struct {
	provider string
	list     modelfilter.List
	patterns []string
}

// lint is what the window found odd about its rules at a revision.
type lint struct {
	revision int64
	findings []engine.Finding
}

// inbox holds the results of actions. It alone is shared between goroutines.
type inbox struct {
	mu      sync.Mutex
	version int64 // grows with every update
	results results
}

func (b *inbox) update(change func(r *results)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	change(&b.results)
}

func (b *inbox) get() (r results, version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.results, b.version
}

// popSuggestion removes the suggestion and returns it; nil is none.
func (b *inbox) popSuggestion() *suggestion {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.results.suggestion
	b.results.suggestion = nil
	return s
}
