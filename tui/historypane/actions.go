package historypane

import (
	"fmt"

	"winnow/assistant"
	"winnow/tui/pane"
)

// Do implements pane.Pane.
func (p *Pane) Do(action string) pane.Action {
	p.take()
	v := &p.views[p.tab]
	page := max(1, v.seen-1)
	switch action {
	case "pane-down":
		v.move(1)
	case "pane-up":
		v.move(-1)
	case "pane-first":
		v.moveTo(0, false)
	case "pane-last":
		v.moveTo(len(v.rows)-1, true)
	case "pane-page-down":
		v.move(page)
	case "pane-page-up":
		v.move(-page)
	case "previous-tab":
		p.tab = (p.tab + tabCount - 1) % tabCount
	case "next-tab":
		p.tab = (p.tab + 1) % tabCount
	case "pane-highlight":
		return p.enter()
	case "pane-select":
		return p.choose()
	case "delete-rule":
		return p.forget()
	case "pane-search":
		return pane.Notify{Text: "the topics can be searched where they are selected: ctrl+t"}
	default:
		return pane.Notify{Text: "that is of no use over the history"}
	}
	return pane.Nothing{}
}

// enter shows the pairs of the row.
func (p *Pane) enter() pane.Action {
	r, ok := p.views[p.tab].row()
	if !ok {
		return pane.Nothing{}
	}
	if r.kind == rowChange {
		return pane.Notify{Text: "ctrl+g lists the checkpoints and goes back to one"}
	}
	if line, ok := p.line(r); ok {
		return pane.SetFilter{Line: line}
	}
	return pane.Nothing{}
}

// choose has new messages go to the topic of the row.
func (p *Pane) choose() pane.Action {
	r, ok := p.views[p.tab].row()
	switch {
	case ok && r.kind == rowTopic:
		path := p.data.topics[r.at].Path
		p.session.SetTopic(path)
		return pane.Notify{Text: "new messages go to " + path}
	case ok && r.kind == rowLoose:
		p.session.SetTopic("")
		return pane.Notify{Text: "new messages go to no topic"}
	}
	return pane.Notify{Text: "only a topic can be selected for new messages"}
}

// forget takes a saved filter away.
func (p *Pane) forget() pane.Action {
	r, ok := p.views[p.tab].row()
	if !ok || r.kind != rowFilter {
		return pane.Notify{Text: "only a saved filter can be taken away here; ctrl+t edits topics"}
	}
	return pane.SetFilter{Line: ":forget " + p.data.filters[r.at].Name}
}

// Hints implements pane.Hinter.
func (p *Pane) Hints() []pane.Hint {
	hints := []pane.Hint{{Key: "enter", Text: "show its pairs"}}
	switch r, ok := p.views[p.tab].row(); {
	case !ok || r.kind == rowChange:
		hints[0] = pane.Hint{Key: "ctrl+g", Text: "go back"}
	case r.kind == rowTopic || r.kind == rowLoose:
		hints = append(hints, pane.Hint{Key: "space", Text: "for new messages"}, pane.Hint{Key: "ctrl+t", Text: "edit topics"})
	case r.kind == rowFilter:
		hints = append(hints, pane.Hint{Key: "x", Text: "forget"})
	}
	return append(hints, pane.Hint{Key: "[ ]", Text: "tabs"}, pane.Hint{Key: "esc", Text: "leave"}, pane.Hint{Key: "f1", Text: "help"})
}

// Click implements pane.Pane: on a title it opens the tab, on a row it goes
// there, and once more on it shows its pairs.
func (p *Pane) Click(x, y int) pane.Action {
	p.take()
	v := &p.views[p.tab]
	if y == 0 {
		for t, at := range p.places {
			if x >= at[0] && x < at[1] {
				p.tab = tab(t)
			}
		}
		return pane.Nothing{}
	}
	at := v.top + y - 1
	if y > v.seen || at >= len(v.rows) || !v.rows[at].selectable() {
		return pane.Nothing{}
	}
	if at == v.cursor {
		return p.enter()
	}
	v.cursor = at
	return pane.Nothing{}
}

// own says how many pairs a topic has, and how many with those below it.
func own(pairs, all int) string {
	if pairs == all {
		return assistant.Counted(pairs, "pair")
	}
	return fmt.Sprintf("%s, %d with those below", assistant.Counted(pairs, "pair"), all)
}
