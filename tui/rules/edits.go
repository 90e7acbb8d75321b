package rules

import (
	"context"
	"errors"
	"fmt"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/glob"
	"winnow/tui/pane"
)

// locked refuses what the user may not do while the assistant works.
func (p *Pane) locked() (pane.Action, bool) {
	if p.window.Locked() {
		return pane.Notify{Text: modelfilter.ErrLocked.Error(), Bad: true}, true
	}
	return nil, false
}

// refuse says why something cannot be done.
func refuse(err error) pane.Action { return pane.Notify{Text: shown(err.Error()), Bad: true} }

// fixed refuses to edit a list that something else than the file decides.
func (p *Pane) fixed(list modelfilter.List) (pane.Action, bool) {
	_, err := p.window.Check(list, "")
	var fixed *modelfilter.FixedError
	if errors.As(err, &fixed) {
		return refuse(fixed), true
	}
	return nil, false
}

// startAdd opens the line for a pattern. For selected models the shortest
// pattern is looked for first; on a model the line begins with its name.
func (p *Pane) startAdd(list modelfilter.List) pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	if fixed, ok := p.fixed(list); ok {
		return fixed
	}
	if ids := p.markedModels(); p.tab == tabModels && len(ids) > 0 {
		return p.suggest(list, ids)
	}
	text := ""
	if r, ok := p.at(); ok && r.kind == rowModel {
		text = glob.Quote(p.data.name(p.data.models[r.at].ID))
	}
	p.openPattern(list, text)
	return pane.Nothing{}
}

// markedModels are the ids of the selected models that are still there.
func (p *Pane) markedModels() []string {
	var ids []string
	if len(p.marked) == 0 {
		return nil
	}
	for _, m := range p.data.models {
		if p.marked[modelKey(m.ID)] {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// suggest looks for patterns that match just these models. That takes its time
// among thousands, so it runs off the update loop; one pattern comes back into the line,
// several are offered together.
func (p *Pane) suggest(list modelfilter.List, ids []string) pane.Action {
	scope, err := p.window.On(p.data.provider)
	if err != nil {
		return refuse(err)
	}
	provider, box := p.data.provider, &p.inbox
	return pane.Run{Doing: "looking for the shortest pattern…", Run: func(context.Context) (string, error) {
		patterns := scope.Suggest(ids)
		if len(patterns) == 0 {
			return "", fmt.Errorf("no pattern tells these models from the others")
		}
		said := "one pattern will do · enter adds it"
		if len(patterns) > 1 {
			said = fmt.Sprintf("%d patterns are needed · enter adds them", len(patterns))
		}
		box.suggest(suggestion{provider: provider, list: list, patterns: patterns})
		return said, nil
	}}
}

// deleteRule takes away what the row stands for: a rule, all selected rules,
// the rule that decides a model, a staged change.
func (p *Pane) deleteRule() pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	if p.tab == tabRules {
		if rules := p.markedRules(); len(rules) > 0 {
			return p.removeAll(rules)
		}
	}
	r, ok := p.at()
	if !ok {
		return pane.Notify{Text: "there is no rule here"}
	}
	d := &p.data
	switch r.kind {
	case rowRule:
		return p.remove(d.rules[r.list][r.at])
	case rowRemoved:
		return p.restore(d.provider, r.list, d.removed[r.list][r.at])
	case rowModel:
		return p.askRemoveDeciding(d.models[r.at])
	case rowChange:
		c := d.diff[r.at]
		if c.Added {
			return p.removal(c.Provider, c.List, c.Pattern)
		}
		return p.restore(c.Provider, c.List, c.Pattern)
	case rowFinding:
		f := p.findings()[r.at]
		if rule, ok := d.ruleAt(f.List, f.Pattern); ok {
			return p.remove(rule)
		}
	default:
	}
	return pane.Notify{Text: "there is no rule here"}
}

func (p *Pane) markedRules() []modelfilter.RuleView {
	var rules []modelfilter.RuleView
	for _, list := range lists {
		for _, r := range p.data.rules[list] {
			if p.marked[ruleKey(list, r.Pattern)] {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

func (p *Pane) remove(r modelfilter.RuleView) pane.Action {
	if r.Fixed {
		if fixed, ok := p.fixed(r.List); ok {
			return fixed
		}
	}
	return p.removal(p.data.provider, r.List, r.Pattern)
}

// removal removes one rule of a provider.
func (p *Pane) removal(provider string, list modelfilter.List, pattern string) pane.Action {
	scope, err := p.window.On(provider)
	if err != nil {
		return refuse(err)
	}
	name := ruleWords(list, pattern)
	return p.edit(scope, "Delete "+name, "deleted "+name, func() error { return scope.Remove(list, pattern) })
}

// removeAll removes the selected rules in one step.
func (p *Pane) removeAll(rules []modelfilter.RuleView) pane.Action {
	scope, err := p.window.On(p.data.provider)
	if err != nil {
		return refuse(err)
	}
	for _, r := range rules {
		if r.Fixed {
			return p.remove(r)
		}
	}
	clear(p.marked)
	p.version++
	name := assistant.Counted(len(rules), "rule")
	return p.edit(scope, "Delete "+name, "deleted "+name, func() error {
		done := map[string]bool{}
		for _, r := range rules {
			if key := ruleKey(r.List, r.Pattern); !done[key] { // a removal takes duplicates with it
				done[key] = true
				if err := scope.Remove(r.List, r.Pattern); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// restore brings back a rule that is staged to go.
func (p *Pane) restore(provider string, list modelfilter.List, pattern string) pane.Action {
	scope, err := p.window.On(provider)
	if err != nil {
		return refuse(err)
	}
	name := ruleWords(list, pattern)
	return p.edit(scope, "Bring back "+name, "brought back "+name, func() error {
		_, err := scope.Add(list, pattern)
		return err
	})
}

// askRemoveDeciding asks, since a rule seldom decides one model alone.
func (p *Pane) askRemoveDeciding(m modelfilter.ModelView) pane.Action {
	if m.RuleIndex < 0 {
		return pane.Notify{Text: "no rule decides this model"}
	}
	r, ok := p.data.ruleAt(m.RuleList, m.Rule)
	if !ok {
		return pane.Nothing{}
	}
	return pane.Confirm{
		Title: "Delete the rule that decides this model?",
		Lines: []string{fmt.Sprintf("%s %s", r.List, shown(r.Pattern)), "It decides " + assistant.Counted(r.Decides, "model") + "."},
		Yes:   "delete it", Then: func() pane.Action { return p.remove(r) },
	}
}
