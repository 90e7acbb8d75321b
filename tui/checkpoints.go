package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// rolledBack is the notice of a rollback to a step that was chosen from a list.
const rolledBack = "rolled back"

// openCheckpoints lists the checkpoints; it opens on the current state.
func (m *Model) openCheckpoints() tea.Cmd {
	newest := m.parts.Checkpoints.Newest()
	entries := []overlay.Entry{{Text: "current state", Mark: m.styles.Icons.Marked}}
	for _, c := range m.parts.Checkpoints.Of(m.parts.shownSession()) {
		text, detail := "before: "+c.Description, ""
		if undoes := c.Undoes(); undoes != c.Description { // several changes, or a save that stays
			detail = "undoes: " + undoes
		}
		if c.Kind == checkpoint.KindStart {
			text, detail = c.Description, "undoes everything since then"
		}
		entry := overlay.Entry{Value: c.ID, Text: m.clock(c.Time) + "  " + text, Detail: detail, Mark: m.styles.Icons.Checkpoint}
		if c.Undone {
			entry.Extra = "undone"
		}
		entries = append(entries, entry)
	}
	picker := overlay.NewPicker("Checkpoints", entries, 0).Offer(keymap.CheckpointList,
		keymap.To("rolls back", keymap.LineAccept), keymap.To(m.parts.state()+" only", keymap.RollBackState), keymap.To("conversation only", keymap.RollBackConversation))
	return m.open(overlay.Checkpoints, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		scope := map[keymap.Action]checkpoint.Scope{keymap.RollBackState: checkpoint.ScopeWindow, keymap.RollBackConversation: checkpoint.ScopeConversation}[c.Action]
		return m.rollBack(rollback{c.Value, scope, newest, rolledBack})
	})
}

// rollback is what the user has decided to undo.
type rollback struct {
	id     string // of the checkpoint
	scope  checkpoint.Scope
	newest string // the newest step that was shown
	notice string // the beginning of the notice that follows
}

// rollingBack is the rollback that is under way. The zero value is no rollback.
type rollingBack struct {
	rollback
	request int64 // whose outcome it waits for
}

// rollBack rolls back to a checkpoint. It asks when that undoes what others did meanwhile.
func (m *Model) rollBack(r rollback) tea.Cmd {
	return m.acts.add(func(request int64) tea.Cmd { return m.rollBackTo(request, r) })
}

// rollBackTo is rollBack when its turn has come.
func (m *Model) rollBackTo(request int64, r rollback) tea.Cmd {
	if err := m.parts.refused(); err != nil {
		return m.fail(err)
	}
	newest := m.parts.Checkpoints.Newest() // before the lines are read: what they miss is noticed
	others := m.parts.others()
	if theirs := others.RollbackLines(m.parts.Checkpoints.OthersSince(r.id, m.parts.shownSession())); len(theirs) > 0 && r.scope != checkpoint.ScopeConversation {
		r.newest = newest
		lines := append(theirs, "", "Their conversations stay; only your own is cut.")
		m.ask("Undo others' changes as well?", lines, "undo theirs too", "don't roll back", func() tea.Cmd { return m.rollBackNow(r) })
		return nil
	}
	m.rolling = rollingBack{r, request}
	return m.commands.Rollback(request, r.id, r.scope, r.newest)
}

// rollBackNow rolls back after a question.
func (m *Model) rollBackNow(r rollback) tea.Cmd {
	return m.acts.add(func(request int64) tea.Cmd {
		m.rolling = rollingBack{r, request}
		return m.commands.Rollback(request, r.id, r.scope, r.newest)
	})
}

// onRollingBack ends a rollback, or asks again.
func (m *Model) onRollingBack(o usecase.Outcome) tea.Cmd {
	r := m.rolling.rollback
	m.rolling = rollingBack{}
	switch o := o.(type) {
	case usecase.PlanChanged:
		return m.askRollback(o.Now, r)
	case usecase.RolledBack:
		if o.Result.Text != "" {
			m.input.giveBack(o.Result.Text)
		}
		return m.restored(r.notice+m.hint(" · %s “Undo the last rollback” undoes it", keymap.Palette), o.Result.Warning)
	case usecase.Failed:
		return m.fail(o.Err)
	}
	return nil
}

// askRollback asks again about a rollback that would undo other steps by now.
func (m *Model) askRollback(changed *assistant.PlanChanged, r rollback) tea.Cmd {
	const shown = 10
	lines := m.changedLines(changed)
	for _, c := range changed.Steps[:min(len(changed.Steps), shown)] {
		lines = append(lines, m.clock(c.Time)+"  undoes: "+oneLine(c.Description))
	}
	if more := len(changed.Steps) - shown; more > 0 {
		lines = append(lines, "and "+assistant.Counted(more, "more step"))
	}
	r.newest = changed.Newest
	return m.ask("Roll back?", lines, "roll back", "don't roll back", func() tea.Cmd { return m.rollBackNow(r) })
}

// undoRollback undoes the last rollback.
func (m *Model) undoRollback() tea.Cmd { return m.acts.add(m.commands.UndoRollback) }

// onRollbackUndone shows what a rollback had undone.
func (m *Model) onRollbackUndone(o usecase.RollbackUndone) tea.Cmd {
	if o.Nothing {
		return m.info("there is no rollback to undo")
	}
	return m.restored("the rollback is undone", o.Warning)
}

// restored shows the window and the conversation after a rollback. warning is what
// failed after it; "" is nothing.
func (m *Model) restored(notice, warning string) tea.Cmd {
	m.pane.Changed()
	m.notice.Info(notice)
	if warning != "" {
		m.notice.Fail(oneLine(warning))
	}
	return m.reload()
}

// undo undoes the newest change of the window, whoever made it. It asks when that
// cuts the conversation.
func (m *Model) undo() tea.Cmd { return m.acts.add(m.undoStep) }

// undoStep is undo when its turn has come.
func (m *Model) undoStep(request int64) tea.Cmd {
	step, ok := m.parts.lastStep()
	switch refused := m.parts.refused(); {
	case refused != nil:
		return m.fail(refused)
	case !ok:
		return m.info("there is no change of the " + m.parts.state() + " to undo")
	case !step.ByAssistant, step.OtherSession && m.parts.others().Shared:
		return m.rollBackTo(request, rollback{step.ID, checkpoint.ScopeWindow, step.ID, "undone: " + oneLine(step.Description)})
	}
	leaves := " leave"
	if step.Pairs == 1 {
		leaves = " leaves"
	}
	lines := []string{
		m.clock(step.Time) + "  " + oneLine(step.Description), oneLine(step.Undoes()), "",
		"With the conversation, " + assistant.Counted(step.Pairs, "pair") + leaves + " the view.",
		"The message that asked for it goes back to the input.",
	}
	if step.OtherSession {
		lines[2] = "It was made in another session."
	}
	m.question(overlay.Confirm, "Undo the assistant's change?", lines, keymap.AnswerNo, func(answer keymap.Action) tea.Cmd {
		switch answer {
		case keymap.AnswerYes:
			return m.rollBack(rollback{step.ID, checkpoint.ScopeBoth, step.ID, rolledBack})
		case keymap.AnswerStateOnly:
			return m.rollBack(rollback{step.ID, checkpoint.ScopeWindow, step.ID, rolledBack})
		default:
			return nil
		}
	}, says(keymap.AnswerYes, m.parts.state()+" and conversation"), says(keymap.AnswerStateOnly, m.parts.state()+" only"), says(keymap.AnswerNo, "don't undo"))
	return nil
}

// askRecovery asks whether to recover or discard what a crash left behind.
func (m *Model) askRecovery() {
	r := m.opts.Recovery
	m.question(overlay.Confirm, "winnow stopped unexpectedly last time", r.Lines, keymap.AnswerRecover, func(answer keymap.Action) tea.Cmd {
		if answer != keymap.AnswerDiscard {
			return m.info("recovered; nothing is saved yet")
		}
		return m.discard(discarding{description: "Discard after a crash", plan: assistant.SavePlan{Digest: r.Digest}})
	}, says(keymap.AnswerRecover, "recover"), says(keymap.AnswerDiscard, "discard the unsaved rules"))
}
