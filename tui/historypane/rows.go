package historypane

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// rowKind is the kind of a row.
type rowKind uint8

const (
	rowText         rowKind = iota // an explanation
	rowAll                         // all pairs
	rowTopic                       // a topic
	rowWithoutTopic                // the pairs without a topic
	rowFilter                      // a saved filter
	rowChange                      // a change
	rowTool                        // what a tool of a change did
)

// row is a line of a list.
type row struct {
	kind  rowKind
	index int    // index in the slice of contents that belongs to kind
	tool  int    // index of the tool in the change
	text  string // the explanation
}

// Selectable implements pane.Row.
func (r row) Selectable() bool { return r.kind != rowText && r.kind != rowTool }

// cursorRowID returns the ID of the row under the cursor of a tab.
func (p *Pane) cursorRowID(t int) string {
	r, _ := p.tabs.Lists[t].Current()
	return p.rowID(r)
}

// rowID identifies a row across reads; "" for rows to which the cursor need not return.
func (p *Pane) rowID(r row) string {
	switch r.kind {
	case rowTopic:
		return "topic " + p.data.Topics[r.index].Path
	case rowFilter:
		return "filter " + p.data.Filters[r.index].Name
	case rowChange:
		return "change " + p.data.changes[r.index].ID
	case rowAll, rowWithoutTopic:
		return fmt.Sprint("row ", r.kind)
	default:
	}
	return ""
}

func (p *Pane) topicRows() []row {
	rows := []row{{kind: rowAll}}
	for i := range p.data.Topics {
		rows = append(rows, row{kind: rowTopic, index: i})
	}
	if rows = append(rows, row{kind: rowWithoutTopic}); len(p.data.Topics) == 0 {
		rows = append(rows, textRows("", "There are no topics yet.", p.keys.Hint(keymap.Topics, "creates one,"), "or ask the assistant for one.")...)
	}
	return rows
}

func (p *Pane) filterRows() []row {
	var rows []row
	for i := range p.data.Filters {
		rows = append(rows, row{kind: rowFilter, index: i})
	}
	if len(rows) == 0 {
		return textRows("No filter is saved yet.", "To save one, end a filter line with", ":save NAME, or ask the assistant.")
	}
	return rows
}

func (p *Pane) changeRows() []row {
	var rows []row
	for i, c := range p.data.changes {
		rows = append(rows, row{kind: rowChange, index: i})
		for n := range c.Tools {
			rows = append(rows, row{kind: rowTool, index: i, tool: n})
		}
	}
	if len(rows) == 0 {
		return textRows("Nothing has been changed in this session yet.", "Stars, flags, topics and saved filters that", "the assistant sets are listed here.")
	}
	return rows
}

func textRows(lines ...string) []row {
	return pane.TextRows(func(text string) row { return row{kind: rowText, text: text} }, lines...)
}

// filterLine returns the filter line that shows the pairs of a row.
func (p *Pane) filterLine(r row) (line string, ok bool) {
	switch r.kind {
	case rowAll:
		return "", true
	case rowTopic:
		return topicLine(p.data.Topics[r.index].Path), true
	case rowWithoutTopic:
		return "!" + filter.PrintExpr(filter.Topic{Path: []filter.Pattern{{Parts: []string{"", ""}}}, Deep: true}), true
	case rowFilter:
		return "@" + p.data.Filters[r.index].Name, true
	default:
	}
	return "", false
}

// topicLine returns the filter line of a topic and the topics below it.
func topicLine(path string) string {
	t := filter.Topic{Deep: true}
	for name := range strings.SplitSeq(path, history.TopicSeparator) {
		t.Path = append(t.Path, filter.Pattern{Parts: []string{name}})
	}
	return filter.PrintExpr(t)
}

// Lines implements pane.Pane.
func (p *Pane) Lines(w, h int) []string {
	titles := slices.Clone(tabNames[:])
	if n := len(p.data.changes); n > 0 {
		titles[tabChanges] += " " + strconv.Itoa(n)
	}
	frame := pane.Frame{Styles: &p.st, Focused: p.focus, Titles: titles}
	return p.tabs.Draw(frame, w, h, pane.DrawFuncs[row]{Row: p.drawRow, Foot: p.foot})
}

// drawRow draws the cursor, the name, and a number at the end.
func (p *Pane) drawRow(r row, current bool, w int) string {
	name, number, st := p.rowTexts(r)
	lead := "  "
	if current {
		lead = p.st.Icons.Selected + " "
	}
	left := []pane.Piece{{Text: lead, Style: p.st.Rules.Title}, {Text: name, Style: st}}
	count := p.st.Rules.Count
	line := pane.Spread(w-1, style.Fit, p.st.Icons.Ellipsis, left, []pane.Piece{{Text: number, Style: count}}) + " "
	if current && p.focus {
		return p.st.Rules.Selected.Render(style.Strip(line))
	}
	return line
}

// rowTexts returns the name and number of a row, and the style of the name.
func (p *Pane) rowTexts(r row) (name, number string, st style.Style) {
	rules, d := p.st.Rules, &p.data
	switch r.kind {
	case rowAll:
		return "all messages", p.count(d.Pairs), rules.Text
	case rowWithoutTopic:
		return p.currentTopicIcon("") + "no topic", p.count(d.WithoutTopic), rules.Muted
	case rowTopic:
		t := d.Topics[r.index]
		names := strings.Split(t.Path, history.TopicSeparator)
		return strings.Repeat("  ", len(names)-1) + p.currentTopicIcon(t.Path) + pane.Visible(names[len(names)-1]), p.count(t.Total), rules.Text
	case rowFilter:
		f := d.Filters[r.index]
		return "@" + pane.Visible(f.Name) + "  " + pane.Visible(f.Line), "", rules.Text
	case rowChange:
		c := d.changes[r.index]
		if c.Undone {
			return pane.Visible(c.Description), "undone", rules.Removed
		}
		return pane.Visible(c.Description), c.Time.Local().Format("15:04"), rules.Text
	case rowTool:
		tool := d.changes[r.index].Tools[r.tool]
		icon, st := signDone.in(&p.st.Icons), rules.Muted
		if !tool.OK {
			icon, st = signFailed.in(&p.st.Icons), rules.Warn
		}
		effect := tool.Effect
		if effect == "" {
			effect = tool.Name
		}
		return "  " + icon + " " + pane.Visible(effect), "", st
	case rowText:
	}
	return r.text, "", rules.Muted
}

// sign is a symbol that the pane draws, an index into signs.
type sign uint8

const (
	signTopic sign = iota
	signDone
	signFailed
)

// signs contains what the pane draws for each sign, and what the help says about it.
var signs = pane.SignTable{
	signTopic:  {func(i *style.Icons) string { return i.Pending }, "the topic of new messages"},
	signDone:   {func(i *style.Icons) string { return i.ToolOK }, "a tool that succeeded"},
	signFailed: {func(i *style.Icons) string { return i.ToolBad }, "a tool that failed"},
}

// in returns the symbol of a sign in a set of icons.
func (s sign) in(icons *style.Icons) string { return signs[s].Icon(icons) }

// Legend implements pane.Legender.
func (p *Pane) Legend() []pane.Sign { return signs.Legend(&p.st.Icons) }

// currentTopicIcon returns the mark of the topic of new messages; "" for any other topic.
func (p *Pane) currentTopicIcon(path string) string {
	if p.data.topic == path {
		return signTopic.in(&p.st.Icons) + " "
	}
	return ""
}

// count formats a number of pairs; until they are counted, it returns an ellipsis.
func (p *Pane) count(n int) string {
	if !p.data.Read {
		return p.st.Icons.Ellipsis
	}
	return strconv.Itoa(n)
}

// foot returns a line about the row under the cursor, and the totals. The foot is omitted
// if the list would have fewer lines than the foot.
func (p *Pane) foot(w, h int) []string {
	const height = 3
	if h < 2*height {
		return nil
	}
	line := func(st style.Style, text string) string {
		return st.Render(style.Fit(" "+text, w, p.st.Icons.Ellipsis))
	}
	return []string{
		strings.Repeat(" ", w), line(p.st.Rules.Text, p.about()), line(p.st.Rules.Muted, p.totals()),
	}
}

// about describes the row under the cursor.
func (p *Pane) about() string {
	d := &p.data
	switch r, _ := p.tabs.List().Current(); r.kind {
	case rowAll:
		return p.keys.Hint(keymap.PaneHighlight, "shows the messages of all sessions")
	case rowWithoutTopic:
		return p.keys.Hint(keymap.PaneHighlight, "shows the messages without a topic")
	case rowTopic:
		t := d.Topics[r.index]
		switch {
		case !d.Read:
			return pane.Visible(t.Path)
		case t.Pairs == t.Total:
			return pane.Visible(t.Path) + ": " + assistant.Counted(t.Pairs, "message")
		}
		return fmt.Sprintf("%s: %s, %d with subtopics", pane.Visible(t.Path), assistant.Counted(t.Pairs, "message"), t.Total)
	case rowFilter:
		return pane.Visible(d.Filters[r.index].Line)
	case rowChange:
		c := d.changes[r.index]
		who := "the assistant"
		if c.Kind == checkpoint.KindEdit {
			who = "you"
		}
		return who + ", " + c.Time.Local().Format("2006-01-02 15:04:05")
	default:
	}
	return ""
}

// totals returns the numbers of the whole history or, on the tab of changes, how to roll back.
func (p *Pane) totals() string {
	d := &p.data
	switch {
	case p.tabs.Open == tabChanges:
		return p.keys.Hint(keymap.Checkpoints, "rolls back to before a change")
	case !d.Read:
		return "counting the messages" + p.st.Icons.Ellipsis
	}
	return strings.Join([]string{
		assistant.Counted(d.Pairs, "message"), assistant.Counted(len(d.Topics), "topic"), assistant.Counted(len(d.Filters), "saved filter"),
	}, ", ")
}
