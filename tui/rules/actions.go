package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/glob"
	"winnow/tui/pane"
)

// Do implements pane.Pane. Besides the actions of the key table it knows those
// that the assistant can suggest on the page.
func (p *Pane) Do(action string) pane.Action {
	open := p.tabs.Open
	if p.tabs.Move(action) {
		if p.version++; p.tabs.Open != open {
			p.openTab(p.tabs.Open)
		}
		return pane.Nothing{}
	}
	switch action {
	case "show-rules":
		p.openTab(tabRules)
	case "show-models":
		p.openTab(tabModels)
	case "show-changes":
		p.openTab(tabChanges)
	case "pane-search":
		p.openSearch()
	case "find-models":
		p.openTab(tabModels)
		p.openSearch()
	case "pane-select":
		return p.selectRow()
	case "pane-highlight":
		return p.enter()
	case "add-ignore":
		return p.openAdd(modelfilter.Ignore)
	case "add-allow":
		return p.openAdd(modelfilter.Allow)
	case "delete-rule":
		return p.deleteRow()
	case "provider":
		return p.pickProvider()
	case "refresh-models":
		return p.refreshModels()
	case "import-rules":
		return p.openImport()
	case "discard":
		return p.discard()
	case "open-save":
		return pane.Notify{Text: p.keys.Hint("save", "shows what a save would change")}
	}
	return pane.Nothing{}
}

// selectRow selects the row or deselects it, and goes to the next.
func (p *Pane) selectRow() pane.Action {
	r, ok := p.tabs.List().Current()
	if !ok || r.kind != rowRule && r.kind != rowModel {
		return pane.Notify{Text: "only rules and models can be selected"}
	}
	if id := p.rowID(r); p.selected[id] {
		delete(p.selected, id)
	} else {
		p.selected[id] = true
	}
	p.tabs.List().Move(1)
	p.version++
	return pane.Nothing{}
}

// enter highlights what the row refers to, or does what the row offers.
func (p *Pane) enter() pane.Action {
	r, ok := p.tabs.List().Current()
	if !ok {
		return pane.Nothing{}
	}
	d := &p.data
	switch r.kind {
	case rowRule:
		p.highlightRule(d.rules[r.list][r.index])
	case rowModel:
		p.highlightModel(d.models[r.index].ID)
	case rowChild:
		p.jumpTo, p.query = modelID(r.text), ""
		p.syncSearch()
		p.openTab(tabModels)
	case rowNew:
		return p.markSeen()
	case rowProvider:
		return p.openProvider(r.text)
	case rowSum:
		p.openTab(tabChanges)
	case rowFinding:
		f := p.findings()[r.index]
		p.jumpTo = ruleID(f.List, f.Pattern)
		p.openTab(tabRules)
	default:
	}
	p.refresh()
	return pane.Nothing{}
}

// highlightRule highlights a rule and its models, or nothing when they are
// highlighted; the tab of models opens on the first of them.
func (p *Pane) highlightRule(r modelfilter.RuleView) {
	if p.data.isHighlighted(r) && len(p.data.highlight.Models) == r.Matches {
		p.window.ClearHighlight()
		return
	}
	p.jumpTo = ""
	if h := p.window.HighlightRule(r.List, r.Pattern); len(h.Models) > 0 {
		p.jumpTo = modelID(h.Models[0])
	}
}

// highlightModel highlights a model and the rule that decides it, or nothing
// when they are highlighted; the tab of rules opens on the rule.
func (p *Pane) highlightModel(id string) {
	if len(p.data.highlight.Models) == 1 && p.data.highlighted[id] {
		p.window.ClearHighlight()
		return
	}
	p.jumpTo = ""
	if h := p.window.HighlightModel(id); h.Rule != "" {
		p.jumpTo = ruleID(h.List, h.Rule)
	}
}

// Click implements pane.Pane: the titles open their tabs, a row takes the
// cursor, and the row that has it is entered.
func (p *Pane) Click(x, y int) pane.Action {
	open := p.tabs.Open
	again := p.tabs.Click(x, y)
	p.version++
	switch {
	case p.tabs.Open != open:
		p.openTab(p.tabs.Open)
	case again:
		return p.enter()
	}
	return pane.Nothing{}
}

// openAdd opens the line for a pattern. For selected models patterns are looked
// for first; on a model the line suggests its name.
func (p *Pane) openAdd(list modelfilter.List) pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if names := p.targets(); names[0] != p.data.provider || len(names) > 1 {
		return pane.Notify{Text: "choose the provider first: " + p.keys.Hint("pane-highlight", "goes there")}
	}
	if refusal := p.refuseFixed(list); refusal != nil {
		return refusal
	}
	var ids []string
	for _, m := range p.data.models {
		if p.tabs.Open == tabModels && p.selected[modelID(m.ID)] {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) > 0 {
		return p.suggestPatterns(list, ids)
	}
	text := ""
	if r, ok := p.tabs.List().Current(); ok && r.kind == rowModel {
		text = glob.Quote(p.data.name(p.data.models[r.index].ID))
	}
	p.openPattern(list, text)
	return pane.Nothing{}
}

// suggestPatterns looks for patterns that match just these models, off the
// update loop, and opens the line with them.
func (p *Pane) suggestPatterns(list modelfilter.List, ids []string) pane.Action {
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
		box.update(func(r *results) { r.suggestion = &suggestion{provider: provider, list: list, patterns: patterns} })
		if len(patterns) > 1 {
			return fmt.Sprintf("%d patterns are needed · enter shows what they change", len(patterns)), nil
		}
		return "one pattern matches them · enter adds it", nil
	}}
}

func (p *Pane) addPattern() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	list, text := p.input.list, p.input.Text()
	v, err := p.window.Check(list, text)
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == engine.Empty:
		p.closeInput()
		return pane.Nothing{}
	case err != nil:
		return pane.Notify{Text: refusalText(err), IsError: true}
	case strings.ContainsFunc(v.Pattern, unicode.IsSpace): // a message typed into the wrong line
		return pane.Confirm{
			Title: "Add a rule with blanks in it?",
			Lines: []string{listAndPattern(list, v.Pattern), "Model names have no blanks. " + p.keys.Hint("input", "writes a message to the assistant.")},
			Yes:   "add", Then: func() pane.Action { return p.addRule(list, v.Pattern) },
		}
	}
	return p.addRule(list, v.Pattern)
}

// addRule adds the pattern of the line, which it closes.
func (p *Pane) addRule(list modelfilter.List, pattern string) pane.Action {
	p.jumpTo = ruleID(list, pattern)
	p.closeInput()
	name := ruleName(list, pattern)
	return p.edit(p.data.provider, "Add "+name, "added "+name, func(s modelfilter.Scope) error {
		_, err := s.Add(list, pattern)
		return err
	})
}

// deleteRow deletes what the row stands for: a rule, all selected rules, the
// rule that decides a model, an unsaved change.
func (p *Pane) deleteRow() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if rules := p.selectedRules(); p.tabs.Open == tabRules && len(rules) > 0 {
		return p.deleteRules(rules)
	}
	r, _ := p.tabs.List().Current()
	d := &p.data
	switch r.kind {
	case rowRule:
		return p.deleteRule(d.provider, r.list, d.rules[r.list][r.index].Pattern)
	case rowRemoved:
		return p.restoreRule(d.provider, r.list, d.removed[r.list][r.index])
	case rowModel:
		return p.confirmDeleteDeciding(d.models[r.index])
	case rowChange:
		if c := d.diff[r.index]; !c.Added {
			return p.restoreRule(c.Provider, c.List, c.Pattern)
		}
		return p.deleteRule(d.diff[r.index].Provider, r.list, d.diff[r.index].Pattern)
	case rowFinding:
		f := p.findings()[r.index]
		return p.deleteRule(d.provider, f.List, f.Pattern)
	default:
	}
	return pane.Notify{Text: "there is no rule here"}
}

func (p *Pane) selectedRules() []modelfilter.RuleView {
	var rules []modelfilter.RuleView
	for _, list := range lists {
		for _, r := range p.data.rules[list] {
			if p.selected[ruleID(list, r.Pattern)] {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

func (p *Pane) deleteRule(provider string, list modelfilter.List, pattern string) pane.Action {
	if provider == p.data.provider {
		if refusal := p.refuseFixed(list); refusal != nil {
			return refusal
		}
	}
	name := ruleName(list, pattern)
	return p.edit(provider, "Delete "+name, "deleted "+name, func(s modelfilter.Scope) error { return s.Remove(list, pattern) })
}

// deleteRules deletes the selected rules in one step.
func (p *Pane) deleteRules(rules []modelfilter.RuleView) pane.Action {
	for _, r := range rules {
		if refusal := p.refuseFixed(r.List); refusal != nil {
			return refusal
		}
	}
	clear(p.selected)
	p.version++
	name := assistant.Counted(len(rules), "rule")
	return p.edit(p.data.provider, "Delete "+name, "deleted "+name, func(s modelfilter.Scope) error {
		done := map[string]bool{}
		for _, r := range rules {
			id := ruleID(r.List, r.Pattern)
			if done[id] { // Remove has removed its duplicates
				continue
			}
			done[id] = true
			if err := s.Remove(r.List, r.Pattern); err != nil {
				return err
			}
		}
		return nil
	})
}

// restoreRule adds a rule again whose removal is unsaved.
func (p *Pane) restoreRule(provider string, list modelfilter.List, pattern string) pane.Action {
	name := ruleName(list, pattern)
	return p.edit(provider, "Restore "+name, "restored "+name, func(s modelfilter.Scope) error {
		_, err := s.Add(list, pattern)
		return err
	})
}

// confirmDeleteDeciding asks first, since a rule seldom decides one model alone.
func (p *Pane) confirmDeleteDeciding(m modelfilter.ModelView) pane.Action {
	r, ok := p.data.rule(m.List, m.Rule)
	if m.Index < 0 || !ok {
		return pane.Notify{Text: "no rule decides this model"}
	}
	return pane.Confirm{
		Title: "Delete the deciding rule?",
		Lines: []string{listAndPattern(r.List, r.Pattern), "It decides " + assistant.Counted(r.Decides, "model") + "."},
		Yes:   "delete", Then: func() pane.Action { return p.deleteRule(p.data.provider, r.List, r.Pattern) },
	}
}
