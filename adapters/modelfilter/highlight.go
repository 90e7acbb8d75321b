package modelfilter

import "slices"

// Highlight is what the user has picked out: a rule and what it matches, or
// models and, when there is one, the rule that decides them. The zero value is
// nothing.
type Highlight struct {
	Rule   string // pattern; "" is none
	List   List   // of the rule
	Models []string
}

// HighlightRule picks out a rule of the current provider with the models it
// matches, and returns what is highlighted then: nothing, when there is no such rule.
func (w *Window) HighlightRule(list List, pattern string) Highlight {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.providerNamed(w.current)
	e := w.rules(p)
	h := Highlight{}
	if slices.Contains(p.lists[list].effective(), pattern) {
		h = Highlight{pattern, list, e.Matching(pattern)}
	}
	return w.setHighlight(h)
}

// HighlightModel picks out a model of the current provider with the rule that decides it.
func (w *Window) HighlightModel(id string) Highlight {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.rules(w.providerNamed(w.current)).Status(id)
	return w.setHighlight(Highlight{s.Rule, s.List, []string{id}})
}

// ClearHighlight picks out nothing.
func (w *Window) ClearHighlight() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setHighlight(Highlight{})
}

// Highlighted is what is picked out.
func (w *Window) Highlighted() Highlight {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.highlight
	h.Models = slices.Clone(h.Models)
	return h
}

func (w *Window) setHighlight(h Highlight) Highlight {
	w.highlight = h
	w.revision++
	h.Models = slices.Clone(h.Models)
	return h
}
