package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
)

// data is the snapshot of the window that is shown, and what is computed of it once.
// Drawing and keys use it alone, so a frame costs the same with ten models and ten
// thousand.
type data struct {
	*modelfilter.Snapshot
	lower    []string         // ids of the models in lower case; nil until a search needs them
	findings []engine.Finding // nil until they are needed
	linted   bool             // findings are those of the rules
}

// added is how many rules of a list are unsaved.
func (d *data) added(list modelfilter.List) (n int) {
	for _, r := range d.Rules[list] {
		if r.Unsaved {
			n++
		}
	}
	return n
}

// fixedBy is what decides a list that cannot be edited; "" for one that can.
func (d *data) fixedBy(list modelfilter.List) (source string) {
	for _, r := range d.Rules[list] {
		if r.Fixed {
			source = r.Source
		}
	}
	return source
}

// lowerIDs are the ids of the models in lower case.
func (d *data) lowerIDs() []string {
	if d.lower == nil {
		d.lower = make([]string, len(d.Models))
		for i, m := range d.Models {
			d.lower[i] = strings.ToLower(m.ID)
		}
	}
	return d.lower
}

// highlight is what the user has highlighted: a rule or a model; the zero value is nothing.
type highlight struct {
	modelfilter.Highlight
	rule   modelfilter.Rule
	model  string
	models map[string]bool // ids of Models
}

// highlightOf highlights a rule, or a model, in what is shown.
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

// windowHighlight is the highlight of the window.
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

// is reports whether a rule is the highlighted one.
func (h *highlight) is(r modelfilter.RuleView) bool { return h.Rule == r.Pattern && h.List == r.List }

// suggestion are the patterns that match the selected models and no others.
type suggestion struct {
	provider string
	list     modelfilter.List
	patterns []string
}
