package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/usecase"
)

// saving is a save in progress. The zero value means none.
type saving struct {
	step    saveStep
	request int64 // the request whose outcome the save waits for
	quits   bool  // the program ends once there are no unsaved changes
	plan    assistant.SavePlan
	merged  safetext.Text // the notice after merging or reloading
}

// saveStep is the step of a save. A save goes from planning to asked to writing. If another
// program has changed the file, the save goes to conflicted, and then either to merging and
// back to planning, or to reloading, which ends it.
type saveStep int

const (
	planning   saveStep = iota + 1
	asked               // the user sees the plan
	conflicted          // the user sees both versions of the file
	merging
	reloading // loading the other version and dropping the unsaved changes
	writing
)

// save shows what would be saved, and saves it if the user confirms.
func (m *Model) save() tea.Cmd { return m.carryOut(m.saving.begin(false)) }

// begin plans a save. If quits is set, the program ends once nothing is unsaved.
func (s *saving) begin(quits bool) intent {
	return s.next(saving{step: planning, quits: quits}, func(p *parts, request int64) intent {
		switch refused := p.refused(); {
		case !p.saves():
			return notify{text: "there is nothing to save here"}
		case refused != nil:
			return showError{refused}
		case p.readOnly() != nil:
			return showError{p.readOnly()}
		}
		return useCase(func(c *usecase.Commands) tea.Cmd { return c.PlanSave(request) })
	})
}

// next starts a step of a save. A save that quits does not wait for other acts.
func (s *saving) next(step saving, begin func(p *parts, request int64) intent) intent {
	return act{step.quits, func(p *parts, request int64) intent {
		step.request = request
		*s = step
		return begin(p, request)
	}}
}

// on handles the outcome of a step.
func (s *saving) on(o usecase.Outcome, w wording) intent {
	was := *s
	*s = saving{}
	switch o := o.(type) {
	case usecase.SavePlanned:
		return s.ask(was, o.Plan, nil, w)
	case usecase.PlanChanged:
		if was.step == writing {
			return s.ask(was, o.Now.Plan, o.Now, w)
		}
		return several{warn{safetext.VisibleOnce(o.Now.Error())}, s.begin(was.quits)}
	case usecase.Conflicted:
		return s.askConflict(was, o.Conflict, w)
	case usecase.Merged:
		after := was.done()
		if was.step == merging {
			after = s.begin(was.quits)
		}
		return several{notify{text: was.merged}, after}
	case usecase.Saved:
		var applies intent
		if a := o.Saved.Applied; a != nil && a.State == assistant.AppliedRunning {
			applies = waitApplied{}
		}
		if o.Saved.Warning != "" { // do not quit, so that the user can read the warning
			return several{applies, notify{text: o.Saved.Message}, warn{"saved, but: " + o.Saved.Warning}}
		}
		return several{applies, notify{text: o.Saved.Message}, was.done()}
	case usecase.Failed:
		return showError{o.Err}
	}
	return nil
}

// done returns what follows a save after which there are no unsaved changes: the end of the
// program if the save quits.
func (s *saving) done() intent {
	if s.quits {
		return end{}
	}
	return nil
}

// ask shows a plan and saves it if the user confirms. changed is the reason for showing the
// plan again; nil the first time.
func (s *saving) ask(was saving, plan assistant.SavePlan, changed *assistant.PlanChanged, w wording) intent {
	was.plan = plan
	switch {
	case plan.Conflict != nil:
		return s.askConflict(was, plan.Conflict, w)
	case plan.Empty():
		return several{notify{text: "nothing to save: the file has the same rules"}, was.done()}
	}
	was.step = asked
	*s = was
	lines := append(w.changed(changed), pane.SavePlanLines(plan, w.author, w.styles)...)
	return question{
		overlay.SaveSheet, "Save these changes?", lines, keymap.AnswerNo, s.answered,
		[]overlay.Answer{says(keymap.AnswerYes, "save"), says(keymap.AnswerNo, "don't save")},
	}
}

// askConflict handles a file that another program has changed, removed or is writing. If the
// changes can be merged, it merges them without asking; otherwise it shows the conflict and
// asks what to do.
func (s *saving) askConflict(was saving, c *assistant.Conflict, w wording) intent {
	was.step = conflicted
	*s = was
	if len(c.Both) == 0 && !c.Busy && !c.Missing {
		return s.answered(keymap.AnswerYes)
	}
	lines := pane.ConflictLines(c, was.plan.Changes, w.author, &w.styles.Icons)
	return question{overlay.Confirm, pane.ConflictTitle(c), lines, keymap.AnswerNo, s.answered, []overlay.Answer{
		says(keymap.AnswerYes, "load their version and re-apply mine"), says(keymap.AnswerTheirs, "load theirs, drop mine"), says(keymap.AnswerNo, "don't save"),
	}}
}

// answered continues the save after the user's answer.
func (s *saving) answered(answer keymap.Action) intent {
	step := *s
	*s = saving{}
	basis := assistant.Basis{Digest: step.plan.Digest}
	var do func(c *usecase.Commands, request int64) tea.Cmd
	switch {
	case answer == keymap.AnswerYes && step.step == asked:
		step.step = writing
		do = func(c *usecase.Commands, request int64) tea.Cmd { return c.Save(request, basis) }
	case answer == keymap.AnswerYes && step.step == conflicted:
		step.step, step.merged = merging, "loaded the changed file and re-applied the unsaved rules"
		do = func(c *usecase.Commands, request int64) tea.Cmd {
			return c.MergeSaved(request, "Merge with the changed file", nil)
		}
	case answer == keymap.AnswerTheirs && step.step == conflicted:
		step.step, step.merged = reloading, "loaded their version and dropped the unsaved rules"
		do = func(c *usecase.Commands, request int64) tea.Cmd {
			return c.MergeSaved(request, "Reload the changed file", &basis)
		}
	default:
		return notify{text: "nothing was saved"}
	}
	return s.next(step, func(_ *parts, request int64) intent {
		return useCase(func(c *usecase.Commands) tea.Cmd { return do(c, request) })
	})
}
