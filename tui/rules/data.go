package rules

import (
	"slices"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
)

// data is the displayed snapshot of the window, with values that are computed from the
// snapshot once. Drawing and keys use only data, so a frame takes as long with ten models
// as with ten thousand.
type data struct {
	*modelfilter.Snapshot
	known    []condition.Model // what is known about Models; nil until a search or an order needs it
	sorted   []int             // indexes of Models in the order of sortedBy; nil until needed
	sortedBy sorting
	findings []engine.Finding // nil until needed
	linted   bool             // findings are up to date with the rules
}

// added returns how many rules of a list have been added but not saved.
func (d *data) added(list modelfilter.List) (n int) {
	for _, r := range d.Rules[list] {
		if r.Unsaved {
			n++
		}
	}
	return n
}

// fixedBy returns the source that decides a list that cannot be edited; "" if the list can
// be edited.
func (d *data) fixedBy(list modelfilter.List) (source string) {
	for _, r := range d.Rules[list] {
		if r.Fixed {
			source = r.Source
		}
	}
	return source
}

// show replaces the snapshot. Computed values are kept if the part of the snapshot about
// the provider is unchanged.
func (d *data) show(s *modelfilter.Snapshot) {
	if d.ProviderSnapshot == s.ProviderSnapshot {
		d.Snapshot = s
		return
	}
	*d = data{Snapshot: s}
}

// models returns what is known about the models of the provider.
func (d *data) models() []condition.Model {
	if d.known == nil {
		d.known = make([]condition.Model, len(d.Models))
		for i := range d.Models {
			d.known[i] = d.Model(i)
		}
	}
	return d.known
}

// sorting is the order of the models; the zero value means by name.
type sorting struct {
	order    string // modelfilter.Order.Name
	reversed bool
}

// inOrder returns the indexes of the models in an order.
func (d *data) inOrder(by sorting) []int {
	if d.sorted != nil && d.sortedBy == by {
		return d.sorted
	}
	d.sortedBy = by
	if order, ok := modelfilter.OrderNamed(by.order); ok {
		models := d.models()
		d.sorted = order.Sorted(len(models), func(i int) *condition.Model { return &models[i] }, by.reversed)
		return d.sorted
	}
	d.sorted = make([]int, len(d.Models)) // Models is sorted by name
	for i := range d.sorted {
		d.sorted[i] = i
	}
	if by.reversed {
		slices.Reverse(d.sorted)
	}
	return d.sorted
}

// highlight is the highlighted rule or model; the zero value means none.
type highlight struct {
	modelfilter.Highlight
	rule   modelfilter.Rule
	model  string
	models map[string]bool // the ids in Models, as a set
}

// highlightOf returns the highlight of a rule or a model in the displayed data.
func (d *data) highlightOf(rule modelfilter.Rule, model string) highlight {
	h := highlight{rule: rule, model: model}
	switch {
	case rule.Pattern != "":
		h.Highlight = d.RuleHighlight(rule.List, rule.Pattern)
	case model != "":
		h.Highlight = d.ModelHighlight(model)
	}
	if h.Rule == "" && len(h.Models) == 0 {
		return highlight{}
	}
	h.models = make(map[string]bool, len(h.Models))
	for _, id := range h.Models {
		h.models[id] = true
	}
	return h
}

// windowHighlight returns the highlight that the window contains.
func (d *data) windowHighlight() highlight {
	h := d.Highlight
	if rule := (modelfilter.Rule{List: h.List, Pattern: h.Rule}); h.Rule != "" && d.RuleHighlight(h.List, h.Rule).Equal(h) {
		return d.highlightOf(rule, "")
	}
	if len(h.Models) == 1 {
		return d.highlightOf(modelfilter.Rule{}, h.Models[0])
	}
	return highlight{}
}

// is reports whether a rule is the highlighted rule.
func (h *highlight) is(r modelfilter.RuleView) bool { return h.Rule == r.Pattern && h.List == r.List }

// suggestion contains patterns that match the selected models and no other models.
type suggestion struct {
	provider string
	list     modelfilter.List
	patterns []string
}
