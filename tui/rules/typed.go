package rules

import (
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// DoWith implements pane.Arguer: with an argument, it adds a rule or explains a model; any
// other action is passed to Do.
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
	p.closeInput() // the line is not left open with a rejected pattern, because it does not have the focus
	return done
}

// why says why a model is hidden or shown; it highlights a model of the current provider.
// If text is the pattern of a rule, why says what the rule does.
func (p *Pane) why(text string) pane.Action {
	text = strings.TrimSpace(text)
	for i, m := range p.data.Models {
		if m.ID == text || strings.EqualFold(p.data.Name(m.ID), text) {
			p.highlight = p.data.highlightOf(modelfilter.Rule{}, m.ID)
			p.rebuild()
			return aboutNotice(p.aboutModel(i))
		}
	}
	for _, list := range lists {
		if r, ok := p.data.Rule(list, text); ok {
			return aboutNotice(p.aboutRule(r))
		}
	}
	e := p.act(modelfilter.ExplainModel{Model: text})
	e.Doing = safetext.Sprintf("looking for %s…", text)
	return e
}

// whyRow does the same as why for the model under the cursor.
func (p *Pane) whyRow() pane.Action {
	if r, ok := p.tabs.List().Current(); ok && r.kind == rowModel {
		return aboutNotice(p.aboutModel(r.index))
	}
	return pane.Notify{Text: "name a model with /why MODEL, or move the cursor to one on the Models tab"}
}

// aboutNotice returns a notice about a rule or a model.
func aboutNotice(name, text string) pane.Action {
	return pane.Notify{Text: safetext.Clean(name + ": " + text)}
}
