package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/usecase"
)

// saving is the save that is under way. The zero value is no save.
type saving struct {
	step    saveStep
	request int64 // whose outcome it waits for
	quits   bool  // the program ends once nothing is unsaved any more
	plan    assistant.SavePlan
	merged  string // the notice when merging has ended
}

// saveStep is how far a save is: planning → asked → writing, and when another program has
// changed the file → conflicted → merging → planning.
type saveStep int

const (
	planning   saveStep = iota + 1
	asked               // the user sees the plan
	conflicted          // the user sees both versions of the file
	merging
	reloading // the other version, without the unsaved changes
	writing
)

// save shows what would be saved, and saves when the user confirms.
func (m *Model) save() tea.Cmd { return m.planSave(false) }

// planSave begins a save, with which the program may quit.
func (m *Model) planSave(quits bool) tea.Cmd {
	return m.saveStep(saving{step: planning, quits: quits}, func(request int64) tea.Cmd {
		switch refused := m.parts.refused(); {
		case !m.parts.saves():
			return m.info("there is nothing to save here")
		case refused != nil:
			return m.fail(refused)
		case m.parts.readOnly() != nil:
			return m.fail(m.parts.readOnly())
		}
		return m.commands.PlanSave(request)
	})
}

// saveStep begins a step of a save. Quitting does not wait for other acts.
func (m *Model) saveStep(s saving, begin func(request int64) tea.Cmd) tea.Cmd {
	run := func(request int64) tea.Cmd {
		s.request = request
		m.saving = s
		return begin(request)
	}
	if s.quits {
		return run(m.acts.query())
	}
	return m.acts.add(run)
}

// onSaving takes a save a step further.
func (m *Model) onSaving(o usecase.Outcome) tea.Cmd {
	s := m.saving
	m.saving = saving{}
	if s.step != planning {
		m.pane.Changed()
	}
	switch o := o.(type) {
	case usecase.SavePlanned:
		return m.askSave(s, o.Plan, nil)
	case usecase.PlanChanged:
		if s.step == writing {
			return m.askSave(s, o.Now.Plan, o.Now)
		}
		m.notice.Fail(oneLine(o.Now.Error()))
		return m.planSave(s.quits)
	case usecase.Conflicted:
		return m.askConflict(s, o.Conflict)
	case usecase.Merged:
		m.notice.Info(s.merged)
		if s.step == merging {
			return m.planSave(s.quits)
		}
		return m.saved(s)
	case usecase.Saved:
		m.notice.Info(o.Saved.Message)
		if o.Saved.Warning != "" { // to be read: the program does not end now
			m.notice.Fail("saved, but: " + oneLine(o.Saved.Warning))
			return nil
		}
		return m.saved(s)
	case usecase.Failed:
		return m.fail(o.Err)
	}
	return nil
}

// saved ends a save: nothing is unsaved any more.
func (m *Model) saved(s saving) tea.Cmd {
	if s.quits {
		return m.end()
	}
	return nil
}

// askSave shows a plan and saves it when the user confirms. changed is why it is shown
// again; nil: it is new.
func (m *Model) askSave(s saving, plan assistant.SavePlan, changed *assistant.PlanChanged) tea.Cmd {
	s.plan = plan
	switch {
	case plan.Conflict != nil:
		return m.askConflict(s, plan.Conflict)
	case plan.Empty():
		m.notice.Info("nothing to save: the file has the same rules")
		return m.saved(s)
	}
	s.step = asked
	m.saving = s
	lines := append(m.changedLines(changed), pane.SavePlanLines(plan, m.commands.Author(), &m.styles)...)
	return m.question(overlay.SaveSheet, "Save these changes?", append(lines, ""), keymap.AnswerNo, m.onSaveAnswer,
		says(keymap.AnswerYes, "save"), says(keymap.AnswerNo, "don't save"))
}

// askConflict shows both versions of a file that another program has changed, and asks
// which one wins. A merge then plans the save again.
func (m *Model) askConflict(s saving, c *assistant.Conflict) tea.Cmd {
	s.step = conflicted
	m.saving = s
	if len(c.Both) == 0 && !c.Busy && !c.Missing {
		return m.onSaveAnswer(keymap.AnswerYes)
	}
	lines := pane.ConflictLines(c, s.plan.Changes, &m.styles.Icons)
	lines = append(lines, assistant.OthersLines(s.plan.Changes, m.commands.Author())...)
	return m.question(overlay.Confirm, pane.ConflictTitle(c), lines, keymap.AnswerNo, m.onSaveAnswer,
		says(keymap.AnswerYes, "load their version and re-apply mine"), says(keymap.AnswerTheirs, "load theirs, drop mine"), says(keymap.AnswerNo, "don't save"))
}

// onSaveAnswer goes on with the save that the user has answered.
func (m *Model) onSaveAnswer(answer keymap.Action) tea.Cmd {
	s := m.saving
	m.saving = saving{}
	basis := assistant.Basis{Digest: s.plan.Digest}
	switch {
	case answer == keymap.AnswerYes && s.step == asked:
		s.step = writing
		return m.saveStep(s, func(request int64) tea.Cmd { return m.commands.Save(request, basis) })
	case answer == keymap.AnswerYes && s.step == conflicted:
		s.step, s.merged = merging, "merged the unsaved rules into the changed file"
		return m.saveStep(s, func(request int64) tea.Cmd { return m.commands.MergeSaved(request, "Merge with the changed file", nil) })
	case answer == keymap.AnswerTheirs && s.step == conflicted:
		s.step, s.merged = reloading, "loaded their version; the unsaved rules are dropped"
		return m.saveStep(s, func(request int64) tea.Cmd {
			return m.commands.MergeSaved(request, "Reload the changed file", &basis)
		})
	}
	return m.info("nothing was saved")
}

// changedLines begin a question that is asked again, because what it shows was changed.
func (m *Model) changedLines(changed *assistant.PlanChanged) []string {
	if changed == nil {
		return nil
	}
	return []string{m.styles.Rules.Warn.Render(m.styles.Icons.Warn + " " + oneLine(changed.Changed(m.commands.Author())) + ". This is what would be done now:"), ""}
}
