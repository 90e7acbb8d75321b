package rules

import (
	"context"
	"path/filepath"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Plan implements pane.Saver. It may run off the update loop.
func (p *Pane) Plan(ctx context.Context, st style.Styles) ([]string, bool, error) {
	plan, err := p.window.Plan(ctx)
	if err != nil {
		return nil, false, p.noteConflict(err)
	}
	if plan.Foreign {
		if err := p.checkFile(ctx); err != nil {
			return nil, false, err
		}
	}
	p.inbox.update(func(r *results) { r.creates, r.conflict = plan.Creates, nil })
	return pane.SavePlanLines(savePlan(plan), &st), !plan.Empty(), nil
}

// Save implements pane.Saver. It may run off the update loop.
func (p *Pane) Save(ctx context.Context) (string, error) {
	saved, err := p.window.Save(ctx, dotenv.User)
	if err != nil {
		return "", p.noteConflict(err)
	}
	p.inbox.update(func(r *results) { r.creates, r.conflict, r.drift = false, nil, nil })
	return saved.Message, nil
}

// Discard implements pane.Saver. It may run off the update loop.
func (p *Pane) Discard() error {
	_, err := p.window.Discard()
	return err
}

// checkFile looks whether somebody else has changed the file; the error is a
// *assistant.Conflict when they have.
func (p *Pane) checkFile(ctx context.Context) error {
	theirs, changed, err := p.window.Foreign(ctx)
	if err != nil || !changed {
		return err
	}
	c := conflictOf(theirs)
	p.inbox.update(func(r *results) { r.creates, r.conflict = false, c })
	return c
}

// noteConflict keeps a conflict for the pane's question about it.
func (p *Pane) noteConflict(err error) error {
	theirs, ok := modelfilter.ThreeWayOf(err)
	if !ok {
		return err
	}
	c := conflictOf(theirs)
	p.inbox.update(func(r *results) { r.creates, r.conflict = false, c })
	return c
}

// discardOrResolve asks before unsaved rules are lost. A file that somebody else
// has changed is asked about first.
func (p *Pane) discardOrResolve() pane.Action {
	if no := p.refuseLocked(); no != nil {
		return no
	}
	if found, _ := p.inbox.get(); found.conflict != nil {
		return p.resolveConflict(found.conflict)
	}
	if len(p.data.diff) == 0 {
		return pane.Notify{Text: "nothing is unsaved"}
	}
	return pane.Confirm{
		Title: "Discard the unsaved rules?", Lines: pane.RuleChangeLines(ruleChanges(p.data.diff), &p.st.Icons), Yes: "discard",
		Then: func() pane.Action { return p.discard() },
	}
}

// discard drops all unsaved changes.
func (p *Pane) discard() pane.Action {
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

// resolveConflict asks once, with both sides, whose version is to hold.
func (p *Pane) resolveConflict(c *assistant.Conflict) pane.Action {
	name, box := pane.Visible(filepath.Base(c.Path)), &p.inbox
	edit := func(description, done string, change func(context.Context) error) func() pane.Action {
		return func() pane.Action {
			return pane.Edit{Description: description, Done: func() string { return done }, Change: func() error {
				if err := change(context.Background()); err != nil {
					return err
				}
				box.update(func(r *results) { r.creates, r.conflict = false, nil })
				return nil
			}}
		}
	}
	theirs := edit("Reload "+name, "reloaded "+name+": the rules are those of the file", p.window.Reload)
	if len(p.data.diff) == 0 {
		return theirs()
	}
	return pane.Confirm{
		Title: pane.ConflictTitle(c), Lines: pane.ConflictLines(c, ruleChanges(p.data.diff), &p.st.Icons),
		Yes:  "load their version and re-apply mine",
		Then: edit("Merge with the changed "+name, "merged the unsaved rules into the changed "+name, p.window.Merge),
		More: []pane.Answer{{Key: "t", Label: "load theirs, drop mine", Then: theirs}, {Key: "d", Label: "discard mine", Then: p.discard}},
	}
}

// conflictOf, savePlan and ruleChanges are the window's facts in the terms of
// the assistant package.
func conflictOf(t modelfilter.ThreeWay) *assistant.Conflict {
	c := &assistant.Conflict{Path: t.Path, Missing: t.Missing, Busy: t.Busy, Theirs: fileLines(t.Theirs), Ours: fileLines(t.Ours)}
	values := map[string]*assistant.KeyChange{}
	for _, k := range t.Keys {
		values[k.Key] = &assistant.KeyChange{Key: k.Key}
	}
	for _, l := range t.Theirs {
		file := dotenv.Parse([]byte(l.Text))
		for _, key := range file.Keys() {
			value, _ := file.Raw(key)
			switch v := values[key]; {
			case v == nil:
			case l.Kind == dotenv.Added:
				v.After = value
			default:
				v.Before = value
			}
		}
	}
	for _, k := range t.Keys {
		c.Keys = append(c.Keys, *values[k.Key])
	}
	return c
}

func savePlan(plan modelfilter.Plan) assistant.SavePlan {
	out := assistant.SavePlan{Path: plan.Path, Creates: plan.Creates, Rules: ruleChanges(plan.Rules), Lines: fileLines(plan.Lines)}
	for _, e := range plan.Effects {
		out.Effects = append(out.Effects, assistant.ModelEffect{Provider: e.Provider, Known: e.Known, Shown: e.Shown, Hidden: e.Hidden})
	}
	return out
}

func ruleChanges(changes []modelfilter.RuleChange) []assistant.RuleChange {
	out := make([]assistant.RuleChange, len(changes))
	for i, c := range changes {
		out[i] = assistant.RuleChange{Provider: c.Provider, Type: "ignored", Pattern: c.Pattern, Added: c.Added}
		if c.List == modelfilter.Allow {
			out[i].Type = "whitelisted"
		}
	}
	return out
}

func fileLines(diff []dotenv.DiffLine) []assistant.FileLine {
	out := make([]assistant.FileLine, len(diff))
	for i, l := range diff {
		out[i] = assistant.FileLine{Kind: string(l.Kind), Line: l.Line, Text: l.Text}
	}
	return out
}
