package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/usecase"
)

// discarding is the discard that is under way. The zero value is no discard.
type discarding struct {
	request     int64  // whose outcome it waits for
	description string // of the step
	quits       bool   // the program ends with it
	plan        assistant.SavePlan
}

const discardUnsaved = "Discard the unsaved rules"

// planDiscard shows what a discard would lose, and asks about it.
func (m *Model) planDiscard() tea.Cmd {
	return m.discardStep(discarding{description: discardUnsaved}, m.commands.PlanDiscard)
}

// discardStep begins a step of a discard. Quitting does not wait for other acts.
func (m *Model) discardStep(d discarding, begin func(request int64) tea.Cmd) tea.Cmd {
	run := func(request int64) tea.Cmd {
		d.request = request
		m.discarding = d
		return begin(request)
	}
	if d.quits {
		return run(m.acts.query())
	}
	return m.acts.add(run)
}

// onDiscarding takes a discard a step further.
func (m *Model) onDiscarding(o usecase.Outcome) tea.Cmd {
	d := m.discarding
	m.discarding = discarding{}
	if _, planned := o.(usecase.DiscardPlanned); !planned {
		m.pane.Changed()
	}
	switch o := o.(type) {
	case usecase.DiscardPlanned:
		return m.askDiscard(d, o.Plan, nil)
	case usecase.PlanChanged:
		return m.askDiscard(d, o.Now.Plan, o.Now)
	case usecase.Discarded:
		if d.quits {
			return m.end()
		}
		m.notice.Info("discarded " + assistant.Counted(o.Lost, "unsaved change") + m.hint(" · %s undoes it", keymap.Undo))
		return m.computeEffects()
	case usecase.Failed:
		return m.fail(o.Err)
	}
	return nil
}

// askDiscard asks before unsaved rules are lost. changed is why it asks again; nil: it is
// the first time.
func (m *Model) askDiscard(d discarding, plan assistant.SavePlan, changed *assistant.PlanChanged) tea.Cmd {
	d.plan = plan
	lines := append(m.changedLines(changed), pane.ChangeLines(plan.Changes, &m.styles.Icons)...)
	lines = append(lines, assistant.OthersLines(plan.Changes, m.commands.Author())...)
	if d.quits {
		return m.askQuit(d, lines)
	}
	if plan.Empty() {
		return m.info("there are no unsaved changes")
	}
	return m.question(overlay.Confirm, "Discard the unsaved rules?", lines, keymap.AnswerNo, func(answer keymap.Action) tea.Cmd {
		if answer != keymap.AnswerYes {
			return m.info("nothing was changed")
		}
		return m.discard(d)
	}, says(keymap.AnswerYes, "discard"), says(keymap.AnswerNo, "don't discard"))
}

// discard discards the plan that was shown.
func (m *Model) discard(d discarding) tea.Cmd {
	return m.discardStep(d, func(request int64) tea.Cmd {
		return m.commands.Discard(request, d.description, assistant.Basis{Digest: d.plan.Digest})
	})
}

// quit asks when rules are unsaved, unless others have them as well; they can also be
// kept for the next time.
func (m *Model) quit() tea.Cmd {
	if !m.parts.saves() || !m.pane.Status().Unsaved || m.parts.others().Shared {
		return m.end()
	}
	return m.discardStep(discarding{description: "Discard on quitting", quits: true}, m.commands.PlanDiscard)
}

func (m *Model) askQuit(d discarding, lines []string) tea.Cmd {
	return m.question(overlay.Confirm, "There are unsaved rules", append(lines, "", "The file has not been changed."), keymap.AnswerNo, func(answer keymap.Action) tea.Cmd {
		switch answer {
		case keymap.AnswerSave:
			return m.planSave(true)
		case keymap.AnswerKeep:
			return m.end()
		case keymap.AnswerDiscard:
			m.commands.Cancel()
			return m.discard(d)
		default:
			return nil
		}
	}, says(keymap.AnswerSave, "save"), says(keymap.AnswerKeep, "keep for next time"), says(keymap.AnswerDiscard, "discard"), says(keymap.AnswerNo, "stay"))
}
