package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/savetext"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// save shows what would be saved, and saves when the user confirms.
func (m *Model) save() tea.Cmd { return m.planSave(func() tea.Cmd { return nil }) }

// planSave is save; then follows when nothing is unsaved any more.
func (m *Model) planSave(then func() tea.Cmd) tea.Cmd {
	switch refused := m.refused(); {
	case !m.saves():
		return m.info("there is nothing to save here")
	case refused != nil:
		return m.fail(refused)
	case m.session.Journal().Unwritable() != nil:
		return m.fail(m.session.Journal().Unwritable())
	}
	return async(func(ctx context.Context) (assistant.SavePlan, error) { return m.work.PlanSave(ctx, "") }, func(plan assistant.SavePlan, err error) tea.Cmd {
		if err != nil {
			return m.fail(err)
		}
		return m.askSave(plan, nil, then)
	})
}

// askSave shows a plan and saves it when the user confirms. changed is why it is shown
// again; nil: it is new.
func (m *Model) askSave(plan assistant.SavePlan, changed *assistant.PlanChanged, then func() tea.Cmd) tea.Cmd {
	switch {
	case plan.Conflict != nil:
		return m.askConflict(plan.Conflict, plan, then)
	case plan.Empty():
		m.notice.Info("nothing to save: the file has the same rules")
		return then()
	}
	lines := append(m.changedLines(changed), pane.SavePlanLines(plan, m.work.Author(), &m.styles)...)
	return m.question(overlay.SaveSheet, "Save these changes?", append(lines, ""), "n", func(answer string) tea.Cmd {
		if answer != "y" {
			return m.info("nothing was saved")
		}
		return async(func(ctx context.Context) (assistant.Saved, error) {
			return m.work.Save(ctx, assistant.Basis{Digest: plan.Digest})
		}, func(saved assistant.Saved, err error) tea.Cmd {
			m.pane.Changed()
			if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
				return m.askSave(now.Plan, now, then)
			}
			if c, ok := errors.AsType[*assistant.Conflict](err); ok {
				return m.askConflict(c, plan, then)
			}
			if err != nil {
				return m.fail(err)
			}
			m.notice.Info(saved.Message)
			if saved.Warning != "" { // to be read: the program does not end now
				m.notice.Fail("saved, but: " + oneLine(saved.Warning))
				return nil
			}
			return then()
		})
	}, "y", "save", "n", "don't save")
}

// changedLines begin a question that is asked again, because what it shows was changed.
func (s *shared) changedLines(changed *assistant.PlanChanged) []string {
	if changed == nil {
		return nil
	}
	return []string{s.styles.Rules.Warn.Render(s.styles.Icons.Warn + " " + oneLine(changed.Changed(s.work.Author())) + ". This is what would be done now:"), ""}
}

// askConflict shows both versions of a file that another program has changed, and asks
// which one wins. A merge then plans the save again.
func (m *Model) askConflict(c *assistant.Conflict, mine assistant.SavePlan, then func() tea.Cmd) tea.Cmd {
	refresh := func(description, notice string, drop *assistant.Basis, next func() tea.Cmd) tea.Cmd {
		return m.change(async(func(ctx context.Context) (assistant.Refreshed, error) {
			return m.work.RefreshSaved(ctx, description, drop)
		}, func(_ assistant.Refreshed, err error) tea.Cmd {
			m.pane.Changed()
			if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
				m.notice.Fail(oneLine(now.Error()))
				return m.planSave(then)
			}
			if err != nil {
				return m.fail(err)
			}
			m.notice.Info(notice)
			return next()
		}))
	}
	merge := func() tea.Cmd {
		return refresh("Merge with the changed file", "merged the unsaved rules into the changed file", nil, func() tea.Cmd { return m.planSave(then) })
	}
	if len(c.Rules) == 0 && !c.Busy && !c.Missing {
		return merge()
	}
	lines := pane.ConflictLines(c, mine.Rules, &m.styles.Icons)
	lines = append(lines, savetext.OthersLines(mine.Rules, m.work.Author())...)
	return m.question(overlay.Confirm, pane.ConflictTitle(c), lines, "n", func(answer string) tea.Cmd {
		switch answer {
		case "y":
			return merge()
		case "t":
			return refresh("Reload the changed file", "loaded their version; the unsaved rules are dropped", &assistant.Basis{Digest: mine.Digest}, then)
		}
		return m.info("nothing was saved")
	}, "y", "load their version and re-apply mine", "t", "load theirs, drop mine", "n", "don't save")
}

// planDiscard shows what a discard would lose; ask asks about it.
func (m *Model) planDiscard(ask func(plan assistant.SavePlan, changed *assistant.PlanChanged) tea.Cmd) tea.Cmd {
	return async(func(context.Context) (assistant.SavePlan, error) { return m.work.PlanDiscard("") }, func(plan assistant.SavePlan, err error) tea.Cmd {
		if err != nil {
			return m.fail(err)
		}
		return ask(plan, nil)
	})
}

// discard discards the plan that was shown; then follows, and ask when it is another one
// by now.
func (m *Model) discard(description string, plan assistant.SavePlan, ask func(assistant.SavePlan, *assistant.PlanChanged) tea.Cmd, then func(lost int) tea.Cmd) tea.Cmd {
	return m.change(async(func(context.Context) ([]assistant.RuleChange, error) {
		return m.work.Discard(description, assistant.Basis{Digest: plan.Digest})
	}, func(lost []assistant.RuleChange, err error) tea.Cmd {
		m.pane.Changed()
		if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
			return ask(now.Plan, now)
		}
		if err != nil && !errors.Is(err, workspace.ErrNothingUnsaved) {
			return m.fail(err)
		}
		return then(len(lost))
	}))
}

// askDiscard asks before unsaved rules are lost.
func (m *Model) askDiscard(plan assistant.SavePlan, changed *assistant.PlanChanged) tea.Cmd {
	if len(plan.Rules) == 0 {
		return m.info("there are no unsaved changes")
	}
	return m.question(overlay.Confirm, "Discard the unsaved rules?", m.discardLines(plan, changed), "n", func(answer string) tea.Cmd {
		if answer != "y" {
			return m.info("nothing was changed")
		}
		return m.discard("Discard the unsaved rules", plan, m.askDiscard, func(lost int) tea.Cmd {
			m.notice.Info("discarded " + assistant.Counted(lost, "unsaved change") + m.hint(" · %s undoes it", "undo"))
			return m.conv.computeEffects()
		})
	}, "y", "discard", "n", "don't discard")
}

// discardLines are the changes that a discard would lose.
func (m *Model) discardLines(plan assistant.SavePlan, changed *assistant.PlanChanged) []string {
	lines := append(m.changedLines(changed), pane.RuleChangeLines(plan.Rules, &m.styles.Icons)...)
	return append(lines, savetext.OthersLines(plan.Rules, m.work.Author())...)
}

// quit asks when rules are unsaved, unless others have them as well; they can also be
// kept for the next time.
func (m *Model) quit() tea.Cmd {
	if !m.saves() || !m.pane.Status().Unsaved || m.others.Shared() {
		return m.end()
	}
	return m.planDiscard(m.askQuit)
}

func (m *Model) askQuit(unsaved assistant.SavePlan, changed *assistant.PlanChanged) tea.Cmd {
	lines := append(m.discardLines(unsaved, changed), "", "The file has not been changed.")
	return m.question(overlay.Confirm, "There are unsaved rules", lines, "n", func(answer string) tea.Cmd {
		switch answer {
		case "s":
			return m.planSave(m.end)
		case "k":
			return m.end()
		case "d":
			m.work.Cancel()
			return m.discard("Discard on quitting", unsaved, m.askQuit, func(int) tea.Cmd { return m.end() })
		}
		return nil
	}, "s", "save", "k", "keep for next time", "d", "discard", "n", "stay")
}
