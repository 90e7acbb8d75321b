package rules

import (
	"winnow/adapters/modelfilter"
	"winnow/tui/pane"
)

// Do implements pane.Pane. Besides the actions of the key table it knows those
// that the assistant can suggest on the page.
func (p *Pane) Do(action string) pane.Action {
	v := &p.views[p.tab]
	page := max(1, v.height-1)
	switch action {
	case "pane-down":
		return p.going(func() { v.move(1) })
	case "pane-up":
		return p.going(func() { v.move(-1) })
	case "pane-first":
		return p.going(func() { v.top = 0; v.moveTo(0, false) })
	case "pane-last":
		return p.going(func() { v.moveTo(len(v.rows)-1, true) })
	case "pane-page-down":
		return p.going(func() { v.move(page) })
	case "pane-page-up":
		return p.going(func() { v.move(-page) })
	case "previous-tab":
		return p.going(func() { p.setTab((p.tab + tabCount - 1) % tabCount) })
	case "next-tab":
		return p.going(func() { p.setTab((p.tab + 1) % tabCount) })
	case "show-rules":
		return p.going(func() { p.setTab(tabRules) })
	case "show-models":
		return p.going(func() { p.setTab(tabModels) })
	case "show-changes":
		return p.going(func() { p.setTab(tabChanges) })
	case "pane-search", "find-models":
		return p.going(p.openSearch)
	case "pane-select":
		return p.selectRow()
	case "pane-highlight":
		return p.enter()
	case "add-ignore":
		return p.startAdd(modelfilter.Ignore)
	case "add-allow":
		return p.startAdd(modelfilter.Allow)
	case "delete-rule":
		return p.deleteRule()
	case "provider":
		return p.pickProvider()
	case "refresh-models":
		return p.refreshModels()
	case "import-rules":
		return p.startImport()
	case "discard":
		return p.askDiscard()
	case "open-save":
		return pane.Notify{Text: "ctrl+s shows what a save would change"}
	}
	return pane.Nothing{}
}

// going does what only moves about.
func (p *Pane) going(move func()) pane.Action {
	move()
	p.version++
	return pane.Nothing{}
}

// selectRow selects the row or takes it from the selection, and goes on to the
// next. Rules and models can be selected.
func (p *Pane) selectRow() pane.Action {
	r, ok := p.at()
	if !ok || r.kind != rowRule && r.kind != rowModel {
		return pane.Notify{Text: "only rules and models can be selected"}
	}
	key := p.rowKey(r)
	if p.marked[key] {
		delete(p.marked, key)
	} else {
		p.marked[key] = true
	}
	p.views[p.tab].move(1)
	p.version++
	return pane.Nothing{}
}

// enter picks out what the row touches, or does what the row offers.
func (p *Pane) enter() pane.Action {
	r, ok := p.at()
	if !ok {
		return pane.Nothing{}
	}
	d := &p.data
	switch r.kind {
	case rowRule:
		rule := d.rules[r.list][r.at]
		if d.light.Rule == rule.Pattern && d.light.List == r.list && len(d.light.Models) == rule.Matches {
			p.window.ClearHighlight()
		} else {
			p.want = ""
			if h := p.window.HighlightRule(r.list, rule.Pattern); len(h.Models) > 0 {
				p.want = modelKey(h.Models[0])
			}
		}
	case rowModel:
		p.lightModel(d.models[r.at].ID)
	case rowChild:
		p.want = modelKey(r.text)
		p.query = ""
		p.tellSearch()
		p.setTab(tabModels)
	case rowNew:
		return p.seen()
	case rowLint:
		return p.lookForRedundant()
	case rowFinding:
		f := p.findings()[r.at]
		p.want = ruleKey(f.List, f.Pattern)
		p.setTab(tabRules)
	default:
	}
	p.refresh()
	return pane.Nothing{}
}

// lightModel picks out a model, and the rule that decides it: the tab of rules
// opens on that rule, as that of models does on the first model of a rule. A model that is picked out already is let go.
func (p *Pane) lightModel(id string) {
	if len(p.data.light.Models) == 1 && p.data.lit[id] {
		p.window.ClearHighlight()
		return
	}
	p.want = ""
	if h := p.window.HighlightModel(id); h.Rule != "" {
		p.want = ruleKey(h.List, h.Rule)
	}
}

// Click implements pane.Pane: the titles open their tabs, a row takes the
// cursor, and the row that has it is worked on as by enter.
func (p *Pane) Click(x, y int) pane.Action {
	if y == 0 {
		for t, at := range p.frame.titles {
			if x >= at[0] && x < at[1] {
				p.setTab(tab(t))
			}
		}
		return pane.Nothing{}
	}
	v := &p.views[p.tab]
	at := v.top + y - 1
	if y < 1 || y-1 >= v.height || at >= len(v.rows) || !v.rows[at].selectable() {
		return pane.Nothing{}
	}
	if at == v.cursor {
		return p.enter()
	}
	v.cursor = at
	p.version++
	return pane.Nothing{}
}
