package rules

import (
	"fmt"
	"path/filepath"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/glob"
	"winnow/tui/pane"
)

// rowKind says what a row is.
type rowKind uint8

const (
	rowText    rowKind = iota // an explanation
	rowHead                   // the heading of a list or group
	rowNone                   // a list without rules
	rowRule                   // rule at of list
	rowRemoved                // rule at of the rules of list whose removal is unsaved
	rowChild                  // a model of the highlighted rule
	rowModel                  // model at
	rowNew                    // the number of new models
	rowChange                 // unsaved change at
	rowFinding                // finding at
	rowNotice                 // notice at of the file
)

// row is a line of a list.
type row struct {
	kind rowKind
	list modelfilter.List
	at   int
	text string // of explanations, headings and children
}

// Selectable implements pane.Row.
func (r row) Selectable() bool { return r.kind != rowText && r.kind != rowHead && r.kind != rowNone }

// isName reports whether the row shows the name of a model or a pattern.
func (r row) isName() bool {
	switch r.kind {
	case rowRule, rowRemoved, rowChild, rowModel, rowChange, rowFinding:
		return true
	default:
	}
	return false
}

// rowKey identifies what a row shows across rebuilds; "" for other rows.
func (p *Pane) rowKey(r row) string {
	switch r.kind {
	case rowRule:
		if r.at < len(p.data.rules[r.list]) {
			return ruleKey(r.list, p.data.rules[r.list][r.at].Pattern)
		}
	case rowModel:
		if r.at < len(p.data.models) {
			return modelKey(p.data.models[r.at].ID)
		}
	case rowNew:
		return "new"
	case rowChild:
		return "child " + r.text
	default:
	}
	return ""
}

func ruleKey(list modelfilter.List, pattern string) string { return list.String() + " " + pattern }
func modelKey(id string) string                            { return "model " + id }

// refresh takes a snapshot when the window has changed, and rebuilds the rows.
func (p *Pane) refresh() {
	if p.window.Revision() != p.data.revision {
		for t := range p.cursorAt { // rows refer to the snapshot by index
			if r, ok := p.tabs.Lists[t].Current(); ok && p.cursorAt[t] == "" {
				p.cursorAt[t] = p.rowKey(r)
			}
		}
		unsaved := p.data.dirty
		if p.data = readWindow(p.window); unsaved && !p.data.dirty { // saved: the proxy has to be asked again
			p.inbox.update(func(r *results) { r.drift = map[string]models.Drift{} })
		}
		p.dropSelected()
		p.assignColours()
	}
	p.rebuild()
}

// rebuild builds the rows of the open tab; the cursor stays on its row.
func (p *Pane) rebuild() {
	l, t := p.tabs.List(), p.tabs.Open
	key := p.cursorAt[t]
	if r, ok := l.Current(); ok && key == "" {
		key = p.rowKey(r)
	}
	p.cursorAt[t] = ""
	switch t {
	case tabModels:
		l.Rows = p.modelRows()
	case tabChanges:
		l.Rows = p.changeRows()
	default:
		l.Rows = p.ruleRows()
	}
	if !p.moveToKey(key) {
		l.Move(0)
	}
	if p.moveToKey(p.jumpTo) {
		p.jumpTo = ""
	}
	p.version++
}

// moveToKey puts the cursor on the row with a key.
func (p *Pane) moveToKey(key string) bool {
	return key != "" && p.tabs.List().Find(func(r row) bool { return p.rowKey(r) == key })
}

// dropSelected removes what no longer exists from the selection.
func (p *Pane) dropSelected() {
	left := map[string]bool{}
	add := func(key string) {
		if p.selected[key] {
			left[key] = true
		}
	}
	if len(p.selected) > 0 {
		for _, m := range p.data.models {
			add(modelKey(m.ID))
		}
		for _, list := range lists {
			for _, r := range p.data.rules[list] {
				add(ruleKey(list, r.Pattern))
			}
		}
	}
	p.selected = left
}

// hits is how many rules or models the search found.
func (p *Pane) hits() (n int) {
	for _, r := range p.tabs.List().Rows {
		if r.kind == rowModel || r.kind == rowRule {
			n++
		}
	}
	return n
}

// childRows is how many models of the highlighted rule are listed below it.
const childRows = 8

func (p *Pane) ruleRows() []row {
	d := &p.data
	if len(d.rules[0])+len(d.rules[1])+len(d.removed[0])+len(d.removed[1]) == 0 {
		return append(words("No rules yet: all models are shown.", ""), words(append(p.hints(
			p.keys.Hint("add-ignore", "adds an ignore rule to hide models"),
			p.keys.Hint("add-allow", "adds an allow rule to show some"),
			p.keys.Hint("import-rules", "imports a list"),
			p.keys.Hint("provider", "switches the provider"),
		), p.noFile()...)...)...)
	}
	var rows []row
	hits := 0
	for _, list := range lists {
		rows = append(rows, row{kind: rowHead, list: list, text: list.String()})
		for i, r := range d.rules[list] {
			if !containsFold(r.Pattern, p.query) {
				continue
			}
			hits++
			rows = append(rows, row{kind: rowRule, list: list, at: i})
			if d.isHighlighted(r) {
				rows = append(rows, p.childrenRows()...)
			}
		}
		for i, r := range d.removed[list] {
			if containsFold(r, p.query) {
				hits++
				rows = append(rows, row{kind: rowRemoved, list: list, at: i})
			}
		}
		if len(d.rules[list])+len(d.removed[list]) == 0 {
			rows = append(rows, row{kind: rowNone, list: list})
		}
	}
	if hits == 0 && p.query != "" {
		return words(append(p.hints("No rule contains "+quote(p.query)+"."), p.showAll("rules")...)...)
	}
	return rows
}

// childrenRows are the models of the highlighted rule.
func (p *Pane) childrenRows() []row {
	ids := p.data.light.Models
	if len(ids) == 0 {
		return words("      matches no model")
	}
	rows := make([]row, 0, childRows+1)
	for _, id := range ids[:min(len(ids), childRows)] {
		rows = append(rows, row{kind: rowChild, text: id})
	}
	if n := len(ids) - childRows; n > 0 {
		more := fmt.Sprintf("      and %d more", n)
		if hint := p.keys.Hint("next-tab", "shows them"); hint != "" {
			more += " · " + hint
		}
		rows = append(rows, words(more)...)
	}
	return rows
}

func (p *Pane) modelRows() []row {
	d := &p.data
	if len(d.models) == 0 {
		return append(words("No models of "+pane.Visible(d.provider)+" are known.", ""), words(p.hints(
			p.keys.Hint("refresh-models", "asks the provider"), p.keys.Hint("provider", "switches the provider"))...)...)
	}
	found := p.searcher()
	var fresh, rest []row
	for i, m := range d.models {
		switch {
		case !found(i):
		case m.New:
			fresh = append(fresh, row{kind: rowModel, at: i})
		default:
			rest = append(rest, row{kind: rowModel, at: i})
		}
	}
	switch {
	case len(fresh)+len(rest) == 0:
		return words(append(p.hints("No model matches "+quote(p.query)+"."), p.showAll("models")...)...)
	case len(fresh) == 0:
		return rest
	}
	rows := append([]row{{kind: rowNew}}, fresh...)
	if len(rest) > 0 {
		rows = append(rows, row{kind: rowHead, text: "known"})
	}
	return append(rows, rest...)
}

// searcher reports which models the search finds: a query with wildcards is a
// pattern, any other a part of the id in either case.
func (p *Pane) searcher() func(i int) bool {
	query, d := strings.TrimSpace(p.query), &p.data
	switch {
	case query == "":
		return func(int) bool { return true }
	case strings.ContainsAny(query, "*?["):
		pattern := glob.Compile(query)
		return func(i int) bool { return pattern.MatchID(d.models[i].ID) }
	}
	query = strings.ToLower(query)
	lower := d.lowerIDs()
	return func(i int) bool { return strings.Contains(lower[i], query) }
}

func (p *Pane) changeRows() []row {
	d := &p.data
	var rows []row
	if len(d.diff) == 0 {
		rows = words(append([]string{"No unsaved changes."}, p.noFile()...)...)
	}
	provider := ""
	for i, c := range d.diff {
		if c.Provider != provider {
			provider = c.Provider
			rows = append(rows, row{kind: rowHead, text: pane.Visible(provider)})
		}
		rows = append(rows, row{kind: rowChange, list: modelfilter.ListOf(c), at: i})
	}
	if len(d.diff) > 0 {
		rows = append(rows, words(p.hints(p.keys.Hint("save", "shows what a save changes"),
			p.keys.Hint("delete-rule", "undoes a change"), p.keys.Hint("discard", "discards all of them"))...)...)
	}
	findings := p.findings()
	if len(findings)+len(d.notices) > 0 {
		rows = append(rows, row{kind: rowHead, text: "notes"})
	}
	for i := range findings {
		rows = append(rows, row{kind: rowFinding, list: findings[i].List, at: i})
	}
	for i := range d.notices {
		rows = append(rows, row{kind: rowNotice, at: i})
	}
	return rows
}

// fewRules is up to how many rules of a provider they are compared with each
// other, or with a pattern at each key, on the update loop: at most 3 ms. A pattern
// is compared with more rules on enter.
const fewRules = 100

func (s *snapshot) hasFewRules() bool { return len(s.rules[0])+len(s.rules[1]) <= fewRules }

// findings are what is odd about the rules: of many rules, the ones that match or
// decide nothing.
func (p *Pane) findings() []engine.Finding {
	if p.lint.revision == p.data.revision {
		return p.lint.findings
	}
	p.lint = lint{revision: p.data.revision}
	if p.data.hasFewRules() {
		p.lint.findings = p.window.Lint()
		return p.lint.findings
	}
	for _, list := range lists {
		for _, r := range p.data.rules[list] {
			if r.Dead || r.Shadowed {
				kind := engine.Shadowed
				if r.Dead {
					kind = engine.Dead
				}
				p.lint.findings = append(p.lint.findings, engine.Finding{Kind: kind, List: list, Index: r.Index, Pattern: r.Pattern})
			}
		}
	}
	return p.lint.findings
}

// noFile says that the first save creates the file.
func (p *Pane) noFile() []string {
	if p.data.exists {
		return nil
	}
	return []string{"", pane.Visible(filepath.Base(p.data.file)) + " does not exist yet:", "the first save creates it"}
}

// showAll says how a search ends.
func (p *Pane) showAll(what string) []string {
	esc := p.keys.Hint("escape", "shows all "+what)
	if p.line.kind != lineSearch && esc != "" {
		return p.hints(p.keys.Hint("pane-search", "then "+esc))
	}
	return p.hints(esc)
}

// hints are the sentences that are not empty: a hint is when no key is bound.
func (p *Pane) hints(sentences ...string) []string {
	var out []string
	for _, s := range sentences {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func words(lines ...string) []row {
	rows := make([]row, len(lines))
	for i, l := range lines {
		rows[i] = row{kind: rowText, text: l}
	}
	return rows
}

// containsFold reports whether text contains query in either case.
func containsFold(text, query string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || strings.Contains(strings.ToLower(text), query)
}

func quote(text string) string { return "“" + pane.Visible(text) + "”" }
