package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant/nearest"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// DoWith implements pane.Arguer: it adds a rule, or explains a model.
func (p *Pane) DoWith(a keymap.Action, argument string) pane.Action {
	switch a {
	case keymap.AddIgnore:
		return p.addTyped(modelfilter.Ignore, argument)
	case keymap.AddAllow:
		return p.addTyped(modelfilter.Allow, argument)
	case keymap.WhyModel:
		return p.why(argument)
	default:
		return p.Do(a)
	}
}

// addTyped adds a pattern to a list of the current provider.
func (p *Pane) addTyped(list modelfilter.List, pattern string) pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if refusal := p.refuseFixed(list); refusal != nil {
		return refusal
	}
	if p.tabs.Open != tabModels {
		p.openTab(tabRules)
	}
	p.openPattern(list, "")
	p.editInput("", pattern)
	done := p.submitInput()
	p.closeInput() // a line that was refused has not the focus
	return done
}

// why says why a model of the current provider is hidden or shown, and highlights it.
func (p *Pane) why(text string) pane.Action {
	text = strings.TrimSpace(text)
	var names []string
	for i, m := range p.data.Models {
		if m.ID == text || strings.EqualFold(p.data.Name(m.ID), text) {
			p.highlight = p.data.highlightOf(modelfilter.Rule{}, m.ID)
			p.rebuild()
			return p.whyModel(i)
		}
		names = append(names, p.data.Name(m.ID))
	}
	said := pane.Visible(p.data.Provider) + " has no model " + pane.Visible(text)
	if near := nearest.Names(text, names, 1); len(near) > 0 {
		said += "; did you mean " + pane.Visible(near[0]) + "?"
	}
	return pane.Notify{Text: said, IsError: true}
}

// whyRow is why of the model under the cursor.
func (p *Pane) whyRow() pane.Action {
	if r, ok := p.tabs.List().Current(); ok && r.kind == rowModel {
		return p.whyModel(r.index)
	}
	return pane.Notify{Text: "name the model: /why MODEL, or go to one on the tab Models"}
}

func (p *Pane) whyModel(i int) pane.Action {
	name, text := p.aboutModel(i)
	return pane.Notify{Text: name + ": " + text}
}
