package rules

import (
	"errors"
	"strings"
	"unicode"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/glob"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// Do implements pane.Pane. It also performs the actions without a key that the assistant can
// suggest.
func (p *Pane) Do(action keymap.Action) pane.Action {
	open := p.tabs.Open
	if p.tabs.Move(action) {
		if p.version++; p.tabs.Open != open {
			p.openTab(p.tabs.Open)
		}
		return pane.Nothing{}
	}
	switch action {
	case keymap.ShowRules:
		p.openTab(tabRules)
	case keymap.ShowModels:
		p.openTab(tabModels)
	case keymap.ShowChanges:
		p.openTab(tabChanges)
	case keymap.PaneSearch:
		p.openSearch()
	case keymap.FindModels:
		p.openTab(tabModels)
		p.openSearch()
	case keymap.PaneSelect:
		return p.selectRow()
	case keymap.PaneSelectAll:
		return p.selectAll()
	case keymap.SortModels:
		return p.pickOrder()
	case keymap.PaneHighlight:
		return p.enter()
	case keymap.AddIgnore:
		return p.openAdd(modelfilter.Ignore)
	case keymap.AddAllow:
		return p.openAdd(modelfilter.Allow)
	case keymap.DeleteRule:
		return p.deleteRow()
	case keymap.Provider:
		return p.pickProvider()
	case keymap.RefreshModels:
		return p.refreshModels()
	case keymap.ImportRules:
		return p.openImport()
	case keymap.Discard:
		return p.discard()
	case keymap.WhyModel:
		return p.whyRow()
	case keymap.OpenSave:
		return p.keys.Notify("", keymap.Save, "shows what a save would change")
	default:
	}
	return pane.Nothing{}
}

// selectRow selects or deselects the row under the cursor, and moves to the next row.
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

// selectAll selects all listed rules or models or, if all of them are already selected,
// deselects them.
func (p *Pane) selectAll() pane.Action {
	listed, fresh := 0, 0
	for _, r := range p.tabs.List().Rows {
		if r.kind == rowRule || r.kind == rowModel {
			id := p.rowID(r)
			if listed++; !p.selected[id] {
				p.selected[id] = true
				fresh++
			}
		}
	}
	if listed == 0 {
		return pane.Notify{Text: "only rules and models can be selected"}
	}
	if fresh == 0 {
		for _, r := range p.tabs.List().Rows {
			delete(p.selected, p.rowID(r))
		}
	}
	p.version++
	return pane.Nothing{}
}

// enter does what the row under the cursor offers: it highlights a rule or a model, goes to
// another tab or provider, or marks changes as seen.
func (p *Pane) enter() pane.Action {
	r, ok := p.tabs.List().Current()
	if !ok {
		return pane.Nothing{}
	}
	d := &p.data
	switch r.kind {
	case rowRule:
		p.highlightRule(d.Rules[r.list][r.index])
	case rowModel:
		p.highlightModel(d.Models[r.index].ID)
	case rowChild:
		p.jumpTo, p.query, p.searched = modelID(r.text), "", ""
		p.openTab(tabModels)
	case rowFound:
		return p.openFound(r)
	case rowNew:
		return p.markSeen(p.data.Provider)
	case rowNews:
		return p.markSeen(r.text)
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
	p.rebuild()
	return pane.Nothing{}
}

// highlightRule highlights a rule and its models, or clears the highlight if the rule is
// already highlighted. When the models tab is next opened, its cursor is on the first of
// these models.
func (p *Pane) highlightRule(r modelfilter.RuleView) {
	rule := modelfilter.Rule{List: r.List, Pattern: r.Pattern}
	if p.highlight.rule == rule {
		p.highlight = highlight{}
		return
	}
	p.highlight, p.jumpTo = p.data.highlightOf(rule, ""), ""
	if len(p.highlight.Models) > 0 {
		p.jumpTo = modelID(p.highlight.Models[0])
	}
}

// highlightModel highlights a model and the rule that decides it, or clears the highlight
// if the model is already highlighted. When the rules tab is next opened, its cursor is on
// this rule.
func (p *Pane) highlightModel(id string) {
	if len(p.highlight.Models) == 1 && p.highlight.models[id] {
		p.highlight = highlight{}
		return
	}
	p.highlight, p.jumpTo = p.data.highlightOf(modelfilter.Rule{}, id), ""
	if h := p.highlight; h.Rule != "" {
		p.jumpTo = ruleID(h.List, h.Rule)
	}
}

// Click implements pane.Pane: a click on a title opens its tab, a click on a row moves the
// cursor there, and a click on the row under the cursor is like enter.
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

// openAdd opens the line for a pattern. If models are selected, it first searches for
// patterns that match them; if the cursor is on a model, the line suggests the name of the
// model. If the cursor is on a model change, openAdd adds a rule for that model instead.
func (p *Pane) openAdd(list modelfilter.List) pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if r, ok := p.tabs.List().Current(); ok {
		if n, ok := p.newsAt(r); ok {
			return p.decideNews(n, list)
		}
	}
	if names := p.targets(); names[0] != p.data.Provider || len(names) > 1 {
		return p.keys.Notify("choose the provider first", keymap.PaneHighlight, "goes there")
	}
	if refusal := p.refuseFixed(list); refusal != nil {
		return refusal
	}
	var ids []string
	for _, m := range p.data.Models {
		if p.tabs.Open == tabModels && p.selected[modelID(m.ID)] {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) > 0 {
		return p.suggestPatterns(list, ids)
	}
	text := ""
	if r, ok := p.tabs.List().Current(); ok && r.kind == rowModel {
		text = glob.Quote(p.data.Name(p.data.Models[r.index].ID))
	}
	p.openPattern(list, text)
	return pane.Nothing{}
}

// suggestPatterns searches outside the update loop for patterns that match exactly the
// models in ids; Receive then opens the line with these patterns.
func (p *Pane) suggestPatterns(list modelfilter.List, ids []string) pane.Action {
	shown := p.data.ProviderSnapshot
	return pane.Compute{Doing: "looking for the shortest pattern…", Run: func() (any, error) {
		patterns := shown.Suggest(ids)
		if len(patterns) == 0 {
			return nil, errors.New("no pattern matches only the selected models")
		}
		return suggestion{shown.Provider, list, patterns}, nil
	}}
}

func (p *Pane) addPattern() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	list, text := p.input.list, p.input.Text()
	v, err := p.data.Check(list, text)
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == engine.Empty:
		p.closeInput()
		return pane.Nothing{}
	case err != nil:
		return pane.Notify{Text: modelfilter.RefusalText(err), IsError: true}
	case strings.ContainsFunc(v.Pattern, unicode.IsSpace): // probably a message that was typed into the wrong line
		edit := p.addEdit(list, v.Pattern)
		return pane.Confirm{
			Title: "Add a rule with spaces in it?",
			Lines: []string{listAndPattern(list, v.Pattern), "Model names have no spaces. " + p.keys.Hint(keymap.WriteMessage, "writes a message to the assistant.")},
			Yes:   "add", Then: func() pane.Action { return p.added(list, v.Pattern, edit) },
		}
	}
	return p.added(list, v.Pattern, p.addEdit(list, v.Pattern))
}

func (p *Pane) addEdit(list modelfilter.List, pattern string) pane.Action {
	return p.edit(modelfilter.AddRule{Provider: p.data.Provider, Rule: modelfilter.Rule{List: list, Pattern: pattern}})
}

// added closes the text line and returns edit, which adds the pattern of the line.
func (p *Pane) added(list modelfilter.List, pattern string, edit pane.Action) pane.Action {
	p.jumpTo = ruleID(list, pattern)
	p.closeInput()
	return edit
}

// deleteRow deletes the selected rules on the rules tab. Otherwise it deletes the rule of the
// row under the cursor or, if the row is an unsaved change, undoes the change. If the row is a
// model, it asks before it deletes the rule that decides the model.
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
		return p.deleteRule(d.Provider, r.list, d.Rules[r.list][r.index].Pattern)
	case rowRemoved:
		return p.restoreRule(d.Provider, r.list, d.Removed[r.list][r.index])
	case rowModel:
		return p.confirmDeleteDeciding(d.Models[r.index])
	case rowChange:
		if c := d.Unsaved[r.index]; !c.Added {
			return p.restoreRule(c.Provider, c.List, c.Pattern)
		}
		return p.deleteRule(d.Unsaved[r.index].Provider, r.list, d.Unsaved[r.index].Pattern)
	case rowFinding:
		f := p.findings()[r.index]
		return p.deleteRule(d.Provider, f.List, f.Pattern)
	default:
	}
	return pane.Notify{Text: "there is no rule here"}
}

func (p *Pane) selectedRules() []modelfilter.RuleView {
	var rules []modelfilter.RuleView
	for _, list := range lists {
		for _, r := range p.data.Rules[list] {
			if p.selected[ruleID(list, r.Pattern)] {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

func (p *Pane) deleteRule(provider string, list modelfilter.List, pattern string) pane.Action {
	if provider == p.data.Provider {
		if refusal := p.refuseFixed(list); refusal != nil {
			return refusal
		}
	}
	return p.edit(modelfilter.RemoveRules{Provider: provider, Rules: []modelfilter.Rule{{List: list, Pattern: pattern}}})
}

// deleteRules deletes the selected rules as one step.
func (p *Pane) deleteRules(rules []modelfilter.RuleView) pane.Action {
	act := modelfilter.RemoveRules{Provider: p.data.Provider}
	for _, r := range rules {
		if refusal := p.refuseFixed(r.List); refusal != nil {
			return refusal
		}
		act.Rules = append(act.Rules, modelfilter.Rule{List: r.List, Pattern: r.Pattern})
	}
	clear(p.selected)
	p.version++
	return p.edit(act)
}

// restoreRule restores a deleted rule whose deletion has not been saved.
func (p *Pane) restoreRule(provider string, list modelfilter.List, pattern string) pane.Action {
	return p.edit(modelfilter.RestoreRule{Provider: provider, Rule: modelfilter.Rule{List: list, Pattern: pattern}})
}

// confirmDeleteDeciding asks before it deletes the rule that decides a model, because the
// rule may decide other models too.
func (p *Pane) confirmDeleteDeciding(m modelfilter.ModelView) pane.Action {
	r, ok := p.data.Rule(m.List, m.Rule)
	if m.Index < 0 || !ok {
		return pane.Notify{Text: "no rule hides or allows this model"}
	}
	edit := p.deleteRule(p.data.Provider, r.List, r.Pattern)
	return pane.Confirm{
		Title: "Delete the deciding rule?",
		Lines: []string{listAndPattern(r.List, r.Pattern), "This rule " + verbs[r.List] + "s " + assistant.Counted(r.Decides, "model") + "."},
		Yes:   "delete", Then: func() pane.Action { return edit },
	}
}
