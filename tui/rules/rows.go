package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/glob"
)

// rowKind says what a row is.
type rowKind uint8

const (
	rowText    rowKind = iota // words; the cursor passes over them
	rowHead                   // of a list or group; likewise
	rowNone                   // that list is empty; likewise
	rowRule                   // the rule at in list
	rowRemoved                // the rule at of those of list that are staged to go
	rowChild                  // a model of the highlighted rule
	rowModel                  // the model at
	rowNew                    // how many models are new
	rowChange                 // the staged change at
	rowFinding                // what lint found, at
	rowLint                   // where lint can be asked for
	rowNotice                 // what the user should know of the file, at
)

// row is a line of a list.
type row struct {
	kind rowKind
	list modelfilter.List
	at   int
	text string // of words, heads and children
}

// selectable says whether the cursor can stand on the row.
func (r row) selectable() bool { return r.kind != rowText && r.kind != rowHead && r.kind != rowNone }

// named says whether the row is the name of a model or a pattern.
func (r row) named() bool {
	switch r.kind {
	case rowRule, rowRemoved, rowChild, rowModel, rowChange, rowFinding:
		return true
	default:
	}
	return false
}

// view is the list of one tab: its rows, where the cursor is, and which row is
// the first that is seen.
type view struct {
	rows        []row
	cursor, top int
	height      int    // rows that were seen in the last frame
	hits        int    // rules and models among the rows
	key         string // of the row under the cursor, when the rows are out of date
}

// move moves the cursor by n rows, on over rows that it cannot stand on.
func (v *view) move(n int) { v.moveTo(v.cursor+n, n < 0) }

// moveTo puts the cursor on the row nearest to at, looking first up or down.
func (v *view) moveTo(at int, up bool) {
	at = min(max(at, 0), len(v.rows)-1)
	for _, step := range [...]int{map[bool]int{true: -1, false: 1}[up], map[bool]int{true: 1, false: -1}[up]} {
		for i := at; i >= 0 && i < len(v.rows); i += step {
			if v.rows[i].selectable() {
				v.cursor = i
				return
			}
		}
	}
	v.cursor = max(at, 0)
}

// find puts the cursor on the row with a key.
func (v *view) find(key string, keyOf func(row) string) bool {
	if key == "" {
		return false
	}
	for i, r := range v.rows {
		if keyOf(r) == key {
			v.cursor = i
			return true
		}
	}
	return false
}

// scroll keeps the cursor in the h rows that are seen. At the first row that
// the cursor can reach, the head above it is seen as well.
func (v *view) scroll(h int) {
	v.height = h
	if v.cursor < v.top {
		v.top = v.cursor
	}
	if v.cursor >= v.top+h {
		v.top = v.cursor - h + 1
	}
	first := v.top
	for first > 0 && v.top-first < h-1 && !v.rows[first-1].selectable() && v.cursor == v.top {
		first--
	}
	v.top = min(max(first, v.cursor-h+1), max(0, len(v.rows)-h))
}

// at is the row under the cursor; false when there is none to work on.
func (p *Pane) at() (row, bool) {
	v := &p.views[p.tab]
	if v.cursor >= len(v.rows) || !v.rows[v.cursor].selectable() {
		return row{}, false
	}
	return v.rows[v.cursor], true
}

// rowKey names what a row shows, the same after the rows were built again; ""
// for rows without a name.
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

// build makes the rows of the open tab.
func (p *Pane) build() []row {
	switch p.tab {
	case tabModels:
		return p.modelRows()
	case tabChanges:
		return p.changeRows()
	default:
	}
	return p.ruleRows()
}

// childRows is how many models of the highlighted rule are listed below it.
const childRows = 8

func (p *Pane) ruleRows() []row {
	d := &p.data
	var rows []row
	if len(d.rules[0])+len(d.rules[1])+len(d.removed[0])+len(d.removed[1]) == 0 {
		return append(words("No rules yet: all models are shown.", "", "i adds an ignore rule to hide models", "w adds an allow rule to keep some",
			"I imports a list", "p switches the provider"), words(p.creation()...)...)
	}
	hits := 0
	for _, list := range lists {
		rows = append(rows, row{kind: rowHead, list: list, text: list.String()})
		for i, r := range d.rules[list] {
			if !contains(r.Pattern, p.query) {
				continue
			}
			hits++
			rows = append(rows, row{kind: rowRule, list: list, at: i})
			if d.light.Rule == r.Pattern && d.light.List == list {
				rows = append(rows, p.children()...)
			}
		}
		for i, r := range d.removed[list] {
			if contains(r, p.query) {
				hits++
				rows = append(rows, row{kind: rowRemoved, list: list, at: i})
			}
		}
		if len(d.rules[list])+len(d.removed[list]) == 0 {
			rows = append(rows, row{kind: rowNone, list: list})
		}
	}
	if hits == 0 && p.query != "" {
		return words("No rule holds "+quote(p.query)+".", p.showAll()+" all rules")
	}
	return rows
}

// showAll begins the sentence that tells how a search ends.
func (p *Pane) showAll() string {
	if p.line.what == lineSearch {
		return "esc shows"
	}
	return "/ and esc show"
}

func (p *Pane) children() []row {
	ids := p.data.light.Models
	if len(ids) == 0 {
		return words("      matches no model")
	}
	rows := make([]row, 0, childRows+1)
	for _, id := range ids[:min(len(ids), childRows)] {
		rows = append(rows, row{kind: rowChild, text: id})
	}
	if n := len(ids) - childRows; n > 0 {
		rows = append(rows, words(fmt.Sprintf("      and %d more · ] shows them", n))...)
	}
	return rows
}

func (p *Pane) modelRows() []row {
	d := &p.data
	if len(d.models) == 0 {
		return words("No models of "+shown(d.provider)+" are known.", "", "ctrl+r asks the provider", "p switches the provider")
	}
	fits := p.searcher()
	var fresh, rest []row
	for i, m := range d.models {
		switch {
		case !fits(i):
		case m.New:
			fresh = append(fresh, row{kind: rowModel, at: i})
		default:
			rest = append(rest, row{kind: rowModel, at: i})
		}
	}
	switch {
	case len(fresh)+len(rest) == 0:
		return words("No model matches "+quote(p.query)+".", p.showAll()+" all models")
	case len(fresh) == 0:
		return rest
	}
	rows := append([]row{{kind: rowNew}}, fresh...)
	if len(rest) > 0 {
		rows = append(rows, row{kind: rowHead, text: "known"})
	}
	return append(rows, rest...)
}

// searcher says which models the search finds: one with wildcards is a
// pattern, another one a part of the id in any case.
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
	lower := d.lowered()
	return func(i int) bool { return strings.Contains(lower[i], query) }
}

func (p *Pane) changeRows() []row {
	d := &p.data
	var rows []row
	if len(d.diff) == 0 {
		rows = append(words("Nothing is unsaved."), words(p.creation()...)...)
	}
	provider := ""
	for i, c := range d.diff {
		if c.Provider != provider {
			provider = c.Provider
			rows = append(rows, row{kind: rowHead, text: shown(provider)})
		}
		rows = append(rows, row{kind: rowChange, list: c.List, at: i})
	}
	if len(d.diff) > 0 {
		rows = append(rows, words("ctrl+s shows what a save changes", "x takes a change back, D all of them")...)
	}
	findings := p.findings()
	if len(findings)+len(d.notices) > 0 || !p.lint.done {
		rows = append(rows, row{kind: rowHead, text: "notes"})
	}
	for i := range findings {
		rows = append(rows, row{kind: rowFinding, list: findings[i].List, at: i})
	}
	if !p.lint.done {
		rows = append(rows, row{kind: rowLint})
	}
	for i := range d.notices {
		rows = append(rows, row{kind: rowNotice, at: i})
	}
	return rows
}

// lintRules is up to how many rules redundant ones are looked for unasked: the
// cost grows with the square, and this many take less than a millisecond.
const lintRules = 100

// findings are what lint has to say of the rules as they are now. Of many rules
// only what the engine knows anyway is said until the user asks for the rest.
func (p *Pane) findings() []engine.Finding {
	if p.lint.revision == p.data.revision && p.lint.done {
		return p.lint.findings
	}
	if l := p.inbox.lintOf(p.data.revision); l != nil {
		p.lint = *l
	}
	if p.lint.revision == p.data.revision {
		return p.lint.findings
	}
	p.lint = lint{revision: p.data.revision}
	if len(p.data.rules[0])+len(p.data.rules[1]) <= lintRules {
		p.lint.findings, p.lint.done = p.window.Lint(), true
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

// creation says that the first save makes the file.
func (p *Pane) creation() []string {
	if !p.inbox.makesFile() {
		return nil
	}
	return []string{"", shown(base(p.data.file)) + " does not exist yet:", "the first save creates it"}
}

func words(lines ...string) []row {
	rows := make([]row, len(lines))
	for i, l := range lines {
		rows[i] = row{kind: rowText, text: l}
	}
	return rows
}

// contains says whether text holds query in any case.
func contains(text, query string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || strings.Contains(strings.ToLower(text), query)
}
