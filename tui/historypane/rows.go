package historypane

import (
	"fmt"
	"strings"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/checkpoint"
)

// rowKind says what a row is.
type rowKind uint8

const (
	rowText   rowKind = iota // words; the cursor passes over them
	rowAll                   // all pairs
	rowTopic                 // the topic at
	rowLoose                 // the pairs without a topic
	rowFilter                // the saved filter at
	rowChange                // the change at
	rowTool                  // what a tool of the change above did: tool of at
)

// row is a line of a list.
type row struct {
	kind rowKind
	at   int
	tool int
	text string // of words
}

// selectable says whether the cursor can stand on the row.
func (r row) selectable() bool { return r.kind != rowText && r.kind != rowTool }

// view is the list of one tab: its rows, where the cursor is, and which row is
// the first that is seen.
type view struct {
	rows              []row
	cursor, top, seen int
}

// move moves the cursor by n rows, on over rows that it cannot stand on.
func (v *view) move(n int) { v.moveTo(v.cursor+n, n < 0) }

// moveTo puts the cursor on the row nearest to at, looking first up or down.
func (v *view) moveTo(at int, up bool) {
	at = min(max(at, 0), max(len(v.rows)-1, 0))
	steps := [...]int{1, -1}
	if up {
		steps = [...]int{-1, 1}
	}
	for _, step := range steps {
		for i := at; i >= 0 && i < len(v.rows); i += step {
			if v.rows[i].selectable() {
				v.cursor = i
				return
			}
		}
	}
	v.cursor = at
}

// scroll keeps the cursor in the h rows that are seen.
func (v *view) scroll(h int) {
	v.seen = h
	v.top = max(min(v.top, v.cursor), v.cursor-h+1)
	v.top = max(min(v.top, len(v.rows)-h), 0)
}

// row is the one under the cursor; false when there is none to work on.
func (v *view) row() (row, bool) {
	if v.cursor >= len(v.rows) || !v.rows[v.cursor].selectable() {
		return row{}, false
	}
	return v.rows[v.cursor], true
}

// keyAt names what stands under the cursor of a tab, the same after another
// reading.
func (p *Pane) keyAt(t tab) string {
	r, ok := p.views[t].row()
	if !ok {
		return ""
	}
	return p.key(r)
}

func (p *Pane) key(r row) string {
	switch r.kind {
	case rowTopic:
		return "topic " + p.data.topics[r.at].Path
	case rowFilter:
		return "filter " + p.data.filters[r.at].Name
	case rowChange:
		return "change " + p.data.changes[r.at].ID
	case rowAll, rowLoose:
		return fmt.Sprint("row ", r.kind)
	case rowText, rowTool:
	}
	return ""
}

// find puts the cursor back on the row with a key, and otherwise leaves it near.
func (p *Pane) find(t tab, key string) {
	v := &p.views[t]
	for i, r := range v.rows {
		if key != "" && r.selectable() && p.key(r) == key {
			v.cursor = i
			return
		}
	}
	v.moveTo(v.cursor, false)
}

// build makes the rows of a tab.
func (p *Pane) build(t tab) []row {
	switch t {
	case tabFilters:
		return p.filterRows()
	case tabChanges:
		return p.changeRows()
	default:
	}
	rows := []row{{kind: rowAll}}
	for i := range p.data.topics {
		rows = append(rows, row{kind: rowTopic, at: i})
	}
	if rows = append(rows, row{kind: rowLoose}); len(p.data.topics) == 0 {
		rows = append(rows, words("", "There are no topics yet.", "t gives the pair in focus one,", "ctrl+t makes one, and so does", "the assistant.")...)
	}
	return rows
}

func (p *Pane) filterRows() []row {
	var rows []row
	for i := range p.data.filters {
		rows = append(rows, row{kind: rowFilter, at: i})
	}
	if len(rows) == 0 {
		return words("No filter is saved yet.", "A filter line with :save NAME saves it,", "and so does the assistant.")
	}
	return rows
}

func (p *Pane) changeRows() []row {
	var rows []row
	for i, c := range p.data.changes {
		rows = append(rows, row{kind: rowChange, at: i})
		for n := range c.Tools {
			rows = append(rows, row{kind: rowTool, at: i, tool: n})
		}
	}
	if len(rows) == 0 {
		return words("Nothing was changed in this session yet.", "Stars, flags, topics and saved filters that", "the assistant sets are listed here.")
	}
	return rows
}

func words(lines ...string) []row {
	rows := make([]row, len(lines))
	for i, l := range lines {
		rows[i] = row{kind: rowText, text: l}
	}
	return rows
}

// line is the filter line that shows the pairs of a row; ok is false when the
// row has none.
func (p *Pane) line(r row) (line string, ok bool) {
	switch r.kind {
	case rowAll:
		return "", true
	case rowTopic:
		return topicLine(p.data.topics[r.at].Path), true
	case rowLoose:
		return "!" + filter.PrintExpr(filter.Topic{Path: []filter.Pattern{{Parts: []string{"", ""}}}}), true
	case rowFilter:
		return "@" + p.data.filters[r.at].Name, true
	case rowText, rowChange, rowTool:
	}
	return "", false
}

// topicLine shows the pairs of a topic and of those below it.
func topicLine(path string) string {
	t := filter.Topic{Deep: true}
	for name := range strings.SplitSeq(path, history.TopicSeparator) {
		t.Path = append(t.Path, filter.Pattern{Parts: []string{name}})
	}
	return filter.PrintExpr(t)
}

// depth is how far below the root a topic stands, and its own name.
func depth(path string) (n int, name string) {
	names := strings.Split(path, history.TopicSeparator)
	return len(names) - 1, names[len(names)-1]
}

// effect is what a tool has done, in a line.
func effect(s checkpoint.ToolSummary) string {
	if s.Effect != "" {
		return s.Effect
	}
	return s.Name
}
