package rules

import (
	"context"
	"fmt"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// The ways out when somebody else has changed the file.
const (
	wayMerge   = "merge"
	wayReload  = "reload"
	wayDiscard = "discard"
)

// pickForeign asks what to do about a file that somebody else has changed. The
// answer is asked again with both differences, since it cannot be seen from the
// name alone.
func (p *Pane) pickForeign(theirs modelfilter.ThreeWay) pane.Wish {
	entries := []overlay.Entry{
		{Value: wayMerge, Text: "merge", More: "take theirs over and do my changes to it again"},
		{Value: wayReload, Text: "reload", More: "take theirs over; my unsaved rules are lost"},
	}
	if len(p.data.diff) > 0 {
		entries = append(entries, overlay.Entry{Value: wayDiscard, Text: "discard", More: "drop my unsaved rules and look at theirs later"})
	}
	return pane.Pick{Title: shown(base(theirs.Path)) + " was changed by someone else", Entries: entries, Then: func(way string) pane.Wish {
		return p.askForeign(theirs, way)
	}}
}

func (p *Pane) askForeign(theirs modelfilter.ThreeWay, way string) pane.Wish {
	lines := p.threeWay(theirs)
	w, box := p.window, &p.inbox
	take := func(over func(context.Context) error) func() error {
		return func() error {
			if err := over(context.Background()); err != nil {
				return err
			}
			box.setFile(false, nil)
			return nil
		}
	}
	name := shown(base(theirs.Path))
	ask := func(title, yes string, e pane.Edit) pane.Wish {
		return pane.Ask{Title: title, Lines: lines, Yes: yes, Then: func() pane.Wish { return e }}
	}
	done := func(said string) func() string { return func() string { return said } }
	switch way {
	case wayMerge:
		return ask("Merge my rules into the changed "+name+"?", "merge them", pane.Edit{
			Description: "Merge with the changed " + name, Change: take(w.Merge), Done: done("merged my rules into the changed " + name),
		})
	case wayReload:
		return ask("Reload "+name+" and lose my unsaved rules?", "reload it", pane.Edit{
			Description: "Reload " + name, Change: take(w.Reload), Done: done("reloaded " + name + ": the rules are those of the file"),
		})
	}
	return ask("Discard the unsaved rules?", "discard them", p.discardEdit())
}

// threeWay is what they did to the file, and what a save would have done.
func (p *Pane) threeWay(f modelfilter.ThreeWay) []string {
	theirs := "theirs:"
	switch {
	case f.Missing:
		theirs = "theirs: the file is gone"
	case f.Busy:
		theirs = "theirs (they may not have finished):"
	}
	lines := append([]string{theirs}, p.diffLines(f.Theirs)...)
	return append(append(lines, "", "mine:"), p.diffLines(f.Ours)...)
}

func (p *Pane) diffLines(diff []dotenv.DiffLine) []string {
	var lines []string
	for _, l := range diff[:min(len(diff), maxAsked)] {
		lines = append(lines, l.String())
	}
	switch n := len(diff) - maxAsked; {
	case len(diff) == 0:
		lines = append(lines, "no change")
	case n > 0:
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return lines
}
