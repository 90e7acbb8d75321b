package rules

import (
	"context"
	"fmt"
	"slices"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/style"
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
func (p *Pane) pickForeign(theirs modelfilter.ThreeWay) pane.Action {
	entries := []overlay.Entry{
		{Value: wayMerge, Text: "merge", More: "take theirs over and do my changes to it again"},
		{Value: wayReload, Text: "reload", More: "take theirs over; my unsaved rules are lost"},
	}
	if len(p.data.diff) > 0 {
		entries = append(entries, overlay.Entry{Value: wayDiscard, Text: "discard", More: "drop my unsaved rules and look at theirs later"})
	}
	return pane.Pick{Title: shown(base(theirs.Path)) + " was changed by someone else", Entries: entries, Then: func(way string) pane.Action {
		return p.askForeign(theirs, way)
	}}
}

func (p *Pane) askForeign(theirs modelfilter.ThreeWay, way string) pane.Action {
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
	ask := func(title, yes string, e pane.Edit) pane.Action {
		return pane.Confirm{Title: title, Lines: lines, Yes: yes, Then: func() pane.Action { return e }}
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

// threeWay is what they did to the file, and what is staged here.
func (p *Pane) threeWay(f modelfilter.ThreeWay) []string {
	theirs := "theirs:"
	switch {
	case f.Missing:
		theirs = "theirs: the file is gone"
	case f.Busy:
		theirs = "theirs (they may not have finished):"
	}
	lines := append([]string{theirs}, p.diffLines(f.Theirs)...)
	mine := p.changeLines()
	if len(mine) == 0 {
		mine = []string{"no change"}
	}
	return append(append(lines, "", "mine:"), mine...)
}

// diffLines are the lines that differ. Those that hold rules are long, and
// alike but for a rule or two: of these the rules are shown that differ.
func (p *Pane) diffLines(diff []dotenv.DiffLine) []string {
	var lines, keys []string
	rules := map[string]*ruleDiff{}
	for _, l := range diff {
		key, items, ok := ruleLine(l.Text)
		if !ok {
			lines = append(lines, string(l.Kind)+" "+l.Text)
			continue
		}
		d := rules[key]
		if d == nil {
			d = &ruleDiff{}
			rules[key], keys = d, append(keys, key)
		}
		if l.Kind == dotenv.Added {
			d.after = append(d.after, items...)
		} else {
			d.before = append(d.before, items...)
		}
	}
	for _, key := range keys {
		lines = append(lines, rules[key].lines(key, &p.st.Icons)...)
	}
	switch n := len(lines) - maxAsked; {
	case len(lines) == 0:
		lines = []string{"no change"}
	case n > 0:
		lines = append(lines[:maxAsked], fmt.Sprintf("and %d more", n))
	}
	return lines
}

// ruleLine takes a line of the file apart that holds rules.
func ruleLine(text string) (key string, items []string, ok bool) {
	file := dotenv.Parse([]byte(text))
	for _, key := range file.Keys() {
		if _, ok := listOfVariable(key); ok {
			value, _ := file.Raw(key)
			return key, dotenv.SplitList(value), true
		}
	}
	return "", nil, false
}

// ruleDiff is a variable that holds rules, before and after a change.
type ruleDiff struct{ before, after []string }

// lines are the rules that were added and removed; where there are none, the
// rules are the same and only written otherwise, or in another order.
func (d *ruleDiff) lines(key string, icons *style.Icons) []string {
	var lines []string
	for _, part := range []struct {
		sign       string
		have, lack []string
	}{{icons.Add, d.after, d.before}, {icons.Remove, d.before, d.after}} {
		for _, item := range part.have {
			if !slices.Contains(part.lack, item) {
				lines = append(lines, fmt.Sprintf("%s %s %s", part.sign, shown(key), shown(item)))
			}
		}
	}
	if lines == nil {
		lines = []string{shown(key) + ": the same rules, written otherwise"}
	}
	return lines
}
