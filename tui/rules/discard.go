package rules

import (
	"fmt"

	"winnow/assistant"
	"winnow/tui/pane"
)

// maxAsked is how many lines of a list a question shows.
const maxAsked = 20

// askDiscard asks before unsaved rules are lost. Where somebody else has
// changed the file, what to do about that is asked first.
func (p *Pane) askDiscard() pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	if theirs := p.inbox.theirs(); theirs != nil {
		return p.pickForeign(*theirs)
	}
	if len(p.data.diff) == 0 {
		return pane.Notify{Text: "nothing is unsaved"}
	}
	return pane.Confirm{
		Title: "Discard the unsaved rules?", Lines: p.changeLines(), Yes: "discard them",
		Then: func() pane.Action { return p.discardEdit() },
	}
}

// changeLines are the staged changes in words.
func (p *Pane) changeLines() []string {
	var lines []string
	for _, c := range p.data.diff[:min(len(p.data.diff), maxAsked)] {
		sign := p.st.Icons.Remove
		if c.Added {
			sign = p.st.Icons.Add
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", sign, shown(c.Provider), c.List, shown(c.Pattern)))
	}
	if n := len(p.data.diff) - maxAsked; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return lines
}

// discardEdit drops all that is staged.
func (p *Pane) discardEdit() pane.Edit {
	w, lost := p.window, 0
	return pane.Edit{
		Description: "Discard the unsaved rules",
		Change: func() error {
			changes, err := w.Discard()
			lost = len(changes)
			return err
		},
		Done: func() string { return "discarded " + assistant.Counted(lost, "unsaved change") },
	}
}
