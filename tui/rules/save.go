package rules

import (
	"context"
	"fmt"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/tui/style"
)

// maxNamed is how many models of each kind the save sheet names.
const maxNamed = 30

// Plan implements pane.Saver: the bytes of the file, then the models of each
// provider. It may run beside the program.
func (p *Pane) Plan(ctx context.Context, st style.Styles) ([]string, bool, error) {
	plan, err := p.window.Plan(ctx)
	if err != nil {
		return nil, false, p.remember(err)
	}
	if plan.Foreign {
		theirs, changed, err := p.window.Foreign(ctx)
		if err != nil {
			return nil, false, err
		}
		if changed {
			p.inbox.setFile(false, &theirs)
			return nil, false, errForeign(theirs)
		}
	}
	p.inbox.setFile(plan.Creates, nil)
	return planLines(plan, st), !plan.Empty(), nil
}

// errForeign says what the user can do about a file that was changed.
func errForeign(theirs modelfilter.ThreeWay) error {
	return fmt.Errorf("%s was changed by someone else: D in the pane shows the difference, and merges or reloads", shown(base(theirs.Path)))
}

// remember keeps the difference that stands in the way of a save.
func (p *Pane) remember(err error) error {
	theirs, ok := modelfilter.ThreeWayOf(err)
	if !ok {
		return err
	}
	p.inbox.setFile(false, &theirs)
	return errForeign(theirs)
}

// planLines is the save sheet.
func planLines(plan modelfilter.Plan, st style.Styles) []string {
	if plan.Empty() {
		return []string{st.Diff.Same.Render("nothing would change")}
	}
	head := shown(plan.Path)
	if plan.Creates {
		head += " (new file)"
	}
	lines := []string{st.Diff.Hunk.Render(head)}
	for _, l := range plan.Lines {
		lines = append(lines, sign(st, l.Kind == dotenv.Added, l.Text))
	}
	for _, e := range plan.Effects {
		lines = append(lines, "")
		lines = append(lines, effectLines(e, st)...)
	}
	return append(lines, "", st.Rules.Warn.Render(st.Icons.Warn+" restart the proxy afterwards: it reads the rules when it starts"))
}

// effectLines are the models of a provider that a save shows or hides.
func effectLines(e modelfilter.Effect, st style.Styles) []string {
	head := fmt.Sprintf("%s: %s%d shown  %s%d hidden", shown(e.Provider), st.Icons.Add, len(e.Shown), st.Icons.Remove, len(e.Hidden))
	switch {
	case !e.Known:
		head = shown(e.Provider) + ": no models are known"
	case len(e.Shown)+len(e.Hidden) == 0:
		head = shown(e.Provider) + ": no model changes"
	}
	lines := []string{st.Diff.Hunk.Render(head)}
	for _, part := range []struct {
		added bool
		ids   []string
	}{{true, e.Shown}, {false, e.Hidden}} {
		for _, id := range part.ids[:min(len(part.ids), maxNamed)] {
			lines = append(lines, sign(st, part.added, shown(id)))
		}
		if n := len(part.ids) - maxNamed; n > 0 {
			lines = append(lines, sign(st, part.added, fmt.Sprintf("and %d more", n)))
		}
	}
	return lines
}

// sign is a line of a difference.
func sign(st style.Styles, added bool, text string) string {
	if added {
		return st.Diff.Add.Render(st.Icons.Add + " " + text)
	}
	return st.Diff.Remove.Render(st.Icons.Remove + " " + text)
}

// Save implements pane.Saver. It may run beside the program.
func (p *Pane) Save(ctx context.Context) (string, error) {
	saved, err := p.window.Save(ctx, dotenv.User)
	if err != nil {
		return "", p.remember(err)
	}
	p.inbox.saved()
	return saved.Message, nil
}

// Discard implements pane.Saver. It may run beside the program.
func (p *Pane) Discard() error {
	_, err := p.window.Discard()
	return err
}
