package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// rowKind is the kind of a row.
type rowKind uint8

const (
	rowText      rowKind = iota // an explanation
	rowHeading                  // the heading of a list or group
	rowEmptyList                // a list without rules
	rowRule                     // a rule of list
	rowRemoved                  // a rule of list whose removal is unsaved
	rowChild                    // a model of the highlighted rule
	rowModel                    // a model
	rowNew                      // the number of new models
	rowChange                   // an unsaved change to a rule
	rowFinding                  // something that is wrong with a rule
	rowNotice                   // a notice about the file
	rowProvider                 // a provider
	rowSum                      // the total of all providers
	rowFound                    // a model that the search of all providers found, at index in the Models of the provider that text names
	rowNews                     // a model change, at index in the News of the provider that text names
)

// row is a line of the list on a tab.
type row struct {
	kind  rowKind
	list  modelfilter.List
	index int    // index in the slice of the snapshot that belongs to kind
	text  string // text of explanations, headings and children; name of the provider
}

// Selectable implements pane.Row.
func (r row) Selectable() bool {
	return r.kind != rowText && r.kind != rowHeading && r.kind != rowEmptyList
}

// isName reports whether the row shows a model name or a pattern.
func (r row) isName() bool {
	switch r.kind {
	case rowRule, rowRemoved, rowChild, rowModel, rowFound, rowChange, rowFinding:
		return true
	default:
	}
	return false
}

// rowID identifies a row across rebuilds. It is "" for rows to which the cursor does not
// return.
func (p *Pane) rowID(r row) string {
	switch r.kind {
	case rowRule:
		if r.index < len(p.data.Rules[r.list]) {
			return ruleID(r.list, p.data.Rules[r.list][r.index].Pattern)
		}
	case rowModel:
		if r.index < len(p.data.Models) {
			return modelID(p.data.Models[r.index].ID)
		}
	case rowProvider:
		return providerID(r.text)
	case rowSum:
		return "sum"
	case rowNews:
		if n, ok := p.newsAt(r); ok {
			return "news " + string(n.Kind) + " " + n.ID
		}
	case rowFound:
		if m, ok := p.foundAt(r); ok {
			return "found " + m.ID
		}
	case rowNew:
		return "new"
	case rowChild:
		return "child " + r.text
	default:
	}
	return ""
}

func ruleID(list modelfilter.List, pattern string) string { return list.String() + " " + pattern }
func modelID(id string) string                            { return "model " + id }
func providerID(name string) string                       { return "provider " + name }

// rememberCursors records the IDs of the rows under the cursors. Call it before the
// snapshot is replaced, because rows refer to the snapshot by index.
func (p *Pane) rememberCursors() {
	for t := range p.cursorIDs {
		if r, ok := p.tabs.Lists[t].Current(); ok && p.cursorIDs[t] == "" {
			p.cursorIDs[t] = p.rowID(r)
		}
	}
}

// rebuild rebuilds the rows of the open tab; the cursor stays on the same row.
func (p *Pane) rebuild() {
	l, t := p.tabs.List(), p.tabs.Open
	id := p.cursorIDs[t]
	if r, ok := l.Current(); ok && id == "" {
		id = p.rowID(r)
	}
	p.cursorIDs[t] = ""
	switch t {
	case tabModels:
		l.Rows = p.modelRows()
	case tabChanges:
		l.Rows = p.changeRows()
	case tabAll:
		l.Rows = p.providerRows()
	default:
		l.Rows = p.ruleRows()
	}
	if !p.moveToRow(id) {
		l.Move(0)
	}
	if p.moveToRow(p.jumpTo) {
		p.jumpTo = ""
	}
	p.version++
}

// moveToRow moves the cursor to the row with the given ID, and reports whether the row is
// listed.
func (p *Pane) moveToRow(id string) bool {
	if model, ok := strings.CutPrefix(id, modelID("")); ok { // compared without rowID, because there may be many models
		return p.tabs.List().Find(func(r row) bool { return r.kind == rowModel && p.data.Models[r.index].ID == model })
	}
	return id != "" && p.tabs.List().Find(func(r row) bool { return p.rowID(r) == id })
}

// dropSelected removes rows that no longer exist from the selection.
func (p *Pane) dropSelected() {
	remaining := map[string]bool{}
	add := func(id string) {
		if p.selected[id] {
			remaining[id] = true
		}
	}
	if len(p.selected) > 0 {
		for _, m := range p.data.Models {
			add(modelID(m.ID))
		}
		for _, list := range lists {
			for _, r := range p.data.Rules[list] {
				add(ruleID(list, r.Pattern))
			}
		}
	}
	p.selected = remaining
}

// hits returns how many rules or models the search found.
func (p *Pane) hits() (n int) {
	for _, r := range p.tabs.List().Rows {
		if r.kind == rowModel || r.kind == rowRule || r.kind == rowFound {
			n++
		}
	}
	return n
}

// maxChildRows is how many models are listed below the highlighted rule.
const maxChildRows = 8

func (p *Pane) ruleRows() []row {
	d := &p.data
	if len(d.Rules[0])+len(d.Rules[1])+len(d.Removed[0])+len(d.Removed[1]) == 0 {
		return append(textRows("No rules yet: all models are shown.", ""), textRows(append(nonEmpty(
			p.keys.Hint(keymap.AddIgnore, "adds an ignore rule to hide models"),
			p.keys.Hint(keymap.AddAllow, "adds an allow rule to show only some models"),
			p.keys.Hint(keymap.ImportRules, "imports a list of rules"),
			p.keys.Hint(keymap.Provider, "switches the provider"),
		), p.noFileLines()...)...)...)
	}
	var rows []row
	hits := 0
	for _, list := range lists {
		rows = append(rows, row{kind: rowHeading, list: list, text: list.String()})
		for i, r := range d.Rules[list] {
			if !containsFold(r.Pattern, p.query) {
				continue
			}
			hits++
			rows = append(rows, row{kind: rowRule, list: list, index: i})
			if p.highlight.is(r) {
				rows = append(rows, p.childRows()...)
			}
		}
		for i, r := range d.Removed[list] {
			if containsFold(r, p.query) {
				hits++
				rows = append(rows, row{kind: rowRemoved, list: list, index: i})
			}
		}
		if len(d.Rules[list])+len(d.Removed[list]) == 0 {
			rows = append(rows, row{kind: rowEmptyList, list: list})
		}
	}
	if hits == 0 && p.query != "" {
		return textRows(append(nonEmpty("No rule contains "+quote(p.query)+"."), p.endSearchHints("rules")...)...)
	}
	return rows
}

// childRows returns rows for the models of the highlighted rule.
func (p *Pane) childRows() []row {
	ids := p.highlight.Models
	if len(ids) == 0 {
		return textRows("      matches no model")
	}
	rows := make([]row, 0, maxChildRows+1)
	for _, id := range ids[:min(len(ids), maxChildRows)] {
		rows = append(rows, row{kind: rowChild, text: id})
	}
	if n := len(ids) - maxChildRows; n > 0 {
		more := fmt.Sprintf("      and %d more", n)
		if hint := p.keys.Hint(keymap.NextTab, "shows them"); hint != "" {
			more += " · " + hint
		}
		rows = append(rows, textRows(more)...)
	}
	return rows
}

func (p *Pane) modelRows() []row {
	d := &p.data
	if len(d.Models) == 0 {
		return append(textRows("No models of "+pane.Visible(d.Provider)+" are known.", ""), textRows(nonEmpty(
			p.keys.Hint(keymap.RefreshModels, "asks the provider for its models"), p.keys.Hint(keymap.Provider, "switches the provider"))...)...)
	}
	found := p.modelMatcher()
	var fresh []row
	rest := make([]row, 0, len(p.tabs.List().Rows)) // usually as many as before
	for _, i := range d.inOrder(p.sorting) {
		switch {
		case !found(i):
		case d.Models[i].New && p.sorting == (sorting{}):
			fresh = append(fresh, row{kind: rowModel, index: i})
		default:
			rest = append(rest, row{kind: rowModel, index: i})
		}
	}
	switch {
	case len(fresh)+len(rest) == 0:
		return textRows(append(nonEmpty("No model matches "+quote(p.query)+"."), p.endSearchHints("models")...)...)
	case len(fresh) == 0:
		return rest
	}
	rows := append([]row{{kind: rowNew}}, fresh...)
	if len(rest) > 0 {
		rows = append(rows, row{kind: rowHeading, text: "known"})
	}
	return append(rows, rest...)
}

func (p *Pane) changeRows() []row {
	d := &p.data
	var rows []row
	if len(d.Unsaved) == 0 {
		rows = textRows(append([]string{"No unsaved changes."}, p.noFileLines()...)...)
	}
	provider := ""
	for i, c := range d.Unsaved {
		if c.Provider != provider {
			provider = c.Provider
			rows = append(rows, row{kind: rowHeading, text: pane.Visible(provider)})
		}
		rows = append(rows, row{kind: rowChange, list: c.List, index: i})
	}
	if len(d.Unsaved) > 0 {
		rows = append(rows, textRows(nonEmpty(p.keys.Hint(keymap.Save, "shows what a save changes"),
			p.keys.Hint(keymap.DeleteRule, "undoes a change"), p.keys.Hint(keymap.Discard, "discards all of them"))...)...)
	}
	findings := p.findings()
	if len(findings)+len(d.Notices) > 0 {
		rows = append(rows, row{kind: rowHeading, text: "notes"})
	}
	for i := range findings {
		rows = append(rows, row{kind: rowFinding, list: findings[i].List, index: i})
	}
	for i := range d.Notices {
		rows = append(rows, row{kind: rowNotice, index: i})
	}
	return rows
}

// fewRules is the number of rules up to which the update loop compares a provider's rules
// with each other, and with a pattern at each key press; the comparison takes at most 3 ms.
// With more rules, a pattern is compared only on enter.
const fewRules = 100

func (d *data) hasFewRules() bool { return len(d.Rules[0])+len(d.Rules[1]) <= fewRules }

// findings returns what is wrong with the rules; if there are many rules, it reports only
// rules that match or decide nothing.
func (p *Pane) findings() []engine.Finding {
	d := &p.data
	if d.linted {
		return d.findings
	}
	d.linted = true
	if d.hasFewRules() {
		d.findings = d.Lint()
		return d.findings
	}
	for _, list := range lists {
		for _, r := range d.Rules[list] {
			if r.Dead || r.Shadowed {
				kind := engine.Shadowed
				if r.Dead {
					kind = engine.Dead
				}
				d.findings = append(d.findings, engine.Finding{Kind: kind, List: list, Index: r.Index, Pattern: r.Pattern})
			}
		}
	}
	return d.findings
}

// noFileLines returns the explanation that the first save creates the file; nil if the file
// exists.
func (p *Pane) noFileLines() []string {
	if p.data.FileExists {
		return nil
	}
	return []string{"", pane.Visible(filepath.Base(p.data.File)) + " does not exist yet:", "the first save creates it"}
}

// endSearchHints says how to end a search.
func (p *Pane) endSearchHints(what string) []string {
	return nonEmpty(p.keys.Hint(keymap.Escape, "shows all "+what))
}

// nonEmpty returns the sentences that are not empty. A hint is empty if its action has no
// key.
func nonEmpty(sentences ...string) []string {
	return slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
}

func textRows(lines ...string) []row {
	return pane.TextRows(func(text string) row { return row{kind: rowText, text: text} }, lines...)
}

// containsFold reports whether text contains query, ignoring case.
func containsFold(text, query string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || strings.Contains(strings.ToLower(text), query)
}

func quote(text string) string { return "“" + pane.Visible(text) + "”" }
