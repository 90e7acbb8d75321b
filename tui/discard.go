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

// discarding is a discard in progress. The zero value means none.
type discarding struct {
	request     int64  // the request whose outcome the discard waits for
	description string // description of the step that the discard makes
	quits       bool   // the program ends after the discard
	plan        assistant.SavePlan
}

const discardUnsaved = "Discard the unsaved rules"

// begin plans a discard. When the plan arrives, the user is shown what would be lost and asked
// for confirmation.
func (d *discarding) begin(description string, quits bool) intent {
	return d.next(discarding{description: description, quits: quits}, (*usecase.Commands).PlanDiscard)
}

// next starts a step of a discard. A discard that quits does not wait for other acts.
func (d *discarding) next(step discarding, do func(c *usecase.Commands, request int64) tea.Cmd) intent {
	return act{step.quits, func(_ *parts, request int64) intent {
		step.request = request
		*d = step
		return useCase(func(c *usecase.Commands) tea.Cmd { return do(c, request) })
	}}
}

// on handles the outcome of a step.
func (d *discarding) on(o usecase.Outcome, w wording) intent {
	was := *d
	*d = discarding{}
	switch o := o.(type) {
	case usecase.DiscardPlanned:
		return d.ask(was, o.Plan, nil, w)
	case usecase.PlanChanged:
		return d.ask(was, o.Now.Plan, o.Now, w)
	case usecase.Discarded:
		if was.quits {
			return end{}
		}
		return several{notify{safetext.Sprintf("discarded %s", assistant.Counted(o.Lost, "unsaved change")), []clause{{" · %s undoes it", keymap.Undo}}}, readEffects{}}
	case usecase.Failed:
		return showError{o.Err}
	}
	return nil
}

// ask asks before unsaved rules are lost. changed is the reason for asking again; nil the
// first time.
func (d *discarding) ask(was discarding, plan assistant.SavePlan, changed *assistant.PlanChanged, w wording) intent {
	was.plan = plan
	lines := append(w.changed(changed), pane.UnsavedLines(plan.Changes, w.author, &w.styles.Icons)...)
	if was.quits {
		return d.askQuit(was, lines)
	}
	if plan.Empty() {
		return notify{text: "there are no unsaved changes"}
	}
	return question{overlay.Confirm, "Discard the unsaved rules?", lines, keymap.AnswerNo, func(answer keymap.Action) intent {
		if answer != keymap.AnswerYes {
			return notify{text: "nothing was changed"}
		}
		return d.discard(was)
	}, []overlay.Answer{says(keymap.AnswerYes, "discard"), says(keymap.AnswerNo, "don't discard")}}
}

// discard discards the changes in the plan that was shown.
func (d *discarding) discard(step discarding) intent {
	return d.next(step, func(c *usecase.Commands, request int64) tea.Cmd {
		return c.Discard(request, step.description, assistant.Basis{Digest: step.plan.Digest})
	})
}

func (d *discarding) askQuit(was discarding, lines []string) intent {
	return question{overlay.Confirm, "There are unsaved rules", append(lines, "", "The file has not been changed."), keymap.AnswerNo, func(answer keymap.Action) intent {
		switch answer {
		case keymap.AnswerSave:
			return saveAndQuit{}
		case keymap.AnswerKeep:
			return end{}
		case keymap.AnswerDiscard:
			return several{cancelTurn{}, d.discard(was)}
		default:
			return nil
		}
	}, []overlay.Answer{says(keymap.AnswerSave, "save"), says(keymap.AnswerKeep, "keep for next time"), says(keymap.AnswerDiscard, "discard"), says(keymap.AnswerNo, "stay")}}
}

// quit quits once all running and queued acts and key presses have been handled, because they
// may leave rules unsaved. If the quit key is pressed again, or if this takes longer than
// quitTime, quit stops waiting.
func (m *Model) quit() tea.Cmd {
	if !m.ready || m.quitting != 0 || m.acts.running == 0 && len(m.queue.waiting) == 0 {
		return m.quitNow()
	}
	m.quitting = m.acts.query()
	m.notice.Info("quitting when the last change is done" + m.hint(" · %s quits now", keymap.Quit))
	return tick(quitTime, quitDueMsg{m.quitting})
}

// quitWhenIdle continues quitting once there are no acts and keys to wait for.
func (m *Model) quitWhenIdle() tea.Cmd {
	if m.quitting == 0 || m.acts.running != 0 || len(m.queue.waiting) > 0 {
		return nil
	}
	m.overlay.Close() // quitting continues as if the quit key had been pressed now
	return m.quitNow()
}

// quitNow quits. If there are unsaved rules that no other session shares, it first asks
// whether to save them, discard them or keep them for the next start.
func (m *Model) quitNow() tea.Cmd {
	m.quitting, m.queue.waiting, m.acts.released = 0, nil, true
	others := m.parts.others()
	if !m.parts.saves() || m.pane.Status().Unsaved == 0 || others.Shared {
		return m.end()
	}
	return m.carryOut(m.discarding.begin("Discard on quitting", true))
}
