package rules

import (
	"context"
	"errors"
	"path/filepath"

	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Plan implements pane.Saver. It may run off the update loop.
func (p *Pane) Plan(ctx context.Context, st style.Styles) ([]string, bool, error) {
	plan, err := p.window.PlanSave(ctx)
	if err != nil {
		return nil, false, err
	}
	p.inbox.update(func(r *results) { r.creates, r.conflict = plan.Creates, plan.Conflict })
	if plan.Conflict != nil {
		return nil, false, plan.Conflict
	}
	return pane.SavePlanLines(plan, &st), !plan.Empty(), nil
}

// Save implements pane.Saver. It may run off the update loop.
func (p *Pane) Save(ctx context.Context) (string, error) {
	saved, err := p.window.Save(ctx)
	if err != nil {
		return "", p.noteConflict(err)
	}
	p.inbox.update(func(r *results) { r.creates, r.conflict, r.drift = false, nil, map[string]models.Drift{} })
	return saved.Message, nil
}

// Discard implements pane.Saver. It may run off the update loop.
func (p *Pane) Discard() error {
	_, err := p.window.Discard()
	return err
}

// checkFile looks whether somebody else has changed the file; the error is a
// *assistant.Conflict when that cannot be merged.
func (p *Pane) checkFile(ctx context.Context) error {
	plan, err := p.window.PlanSave(ctx)
	if err != nil || plan.Conflict == nil {
		return err
	}
	return p.noteConflict(plan.Conflict)
}

// noteConflict keeps a conflict for the pane's question about it.
func (p *Pane) noteConflict(err error) error {
	var c *assistant.Conflict
	if errors.As(err, &c) {
		p.inbox.update(func(r *results) { r.creates, r.conflict = false, c })
	}
	return err
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
		Title: "Discard the unsaved rules?", Lines: pane.RuleChangeLines(p.data.diff, &p.st.Icons), Yes: "discard",
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
	edit := func(description, done string, dropUnsaved bool) func() pane.Action {
		return func() pane.Action {
			return pane.Edit{Description: description, Done: func() string { return done }, Change: func() error {
				if _, err := p.window.RefreshSaved(context.Background(), dropUnsaved); err != nil {
					return err
				}
				box.update(func(r *results) { r.creates, r.conflict = false, nil })
				return nil
			}}
		}
	}
	theirs := edit("Reload "+name, "reloaded "+name+": the rules are those of the file", true)
	if len(p.data.diff) == 0 {
		return theirs()
	}
	return pane.Confirm{
		Title: pane.ConflictTitle(c), Lines: pane.ConflictLines(c, p.data.diff, &p.st.Icons),
		Yes:  "load their version and re-apply mine",
		Then: edit("Merge with the changed "+name, "merged the unsaved rules into the changed "+name, false),
		More: []pane.Answer{{Key: "t", Label: "load theirs, drop mine", Then: theirs}, {Key: "d", Label: "discard mine", Then: p.discard}},
	}
}
