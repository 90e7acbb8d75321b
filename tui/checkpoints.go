package tui

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// rolledBack is the notice of a rollback to a step that was chosen from a list.
const rolledBack = "rolled back"

// openCheckpoints lists the checkpoints; it opens on the current state.
func (m *Model) openCheckpoints() tea.Cmd {
	entries := []overlay.Entry{{Text: "current state", Mark: m.styles.Icons.Marked}}
	for _, c := range slices.Backward(m.session.Checkpoints()) {
		entries = append(entries, overlay.Entry{
			Value: c.ID, Text: m.clock(c.Time) + "  " + c.Description, More: c.Effect(),
			Mark: m.styles.Icons.Checkpoint, Extra: map[bool]string{true: "undone"}[c.Undone],
		})
	}
	picker := overlay.NewPicker("Checkpoints", entries, 0).WithKeys(
		"enter both · alt+r "+m.state()+" only · alt+c conversation only", "alt+r", "alt+c")
	return m.open(overlay.Checkpoints, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		scope := map[string]checkpoint.Scope{"alt+r": checkpoint.Rules, "alt+c": checkpoint.Conversation}[c.Key]
		return m.rollBack(c.Value, scope, rolledBack)
	})
}

// rollBack rolls back to a checkpoint; notice begins what the footer shows then.
func (m *Model) rollBack(id string, scope checkpoint.Scope, notice string) tea.Cmd {
	if m.session.Busy() {
		return m.fail(assistant.ErrBusy)
	}
	return m.change(async(func(ctx context.Context) (workspace.RolledBack, error) { return m.work.Rollback(ctx, id, scope) }, func(out workspace.RolledBack, err error) tea.Cmd {
		if err != nil {
			return m.fail(err)
		}
		if out.Text != "" {
			m.input.giveBack(out.Text)
		}
		return m.restored(notice + m.hint(" · %s “Undo the last rollback” undoes it", "palette"))
	}))
}

// undoRollback undoes the last rollback.
func (m *Model) undoRollback() tea.Cmd {
	return m.change(attempt(m.work.UndoRollback, func(err error) tea.Cmd {
		switch {
		case errors.Is(err, workspace.ErrNothingToUndo):
			return m.info("there is no rollback to undo")
		case err != nil:
			return m.fail(err)
		}
		return m.restored("the rollback is undone")
	}))
}

// restored shows the window and the conversation after a rollback.
func (m *Model) restored(notice string) tea.Cmd {
	m.pane.Changed()
	m.notice.info(notice)
	return tea.Batch(computeBoundary(m.session), m.reload())
}

// undo undoes the newest change of the window, whoever made it. It asks when that
// cuts the conversation.
func (m *Model) undo() tea.Cmd {
	step, ok := m.work.UndoStep()
	switch {
	case m.session.Busy():
		return m.fail(assistant.ErrBusy)
	case !ok:
		return m.info("there is no change of the " + m.state() + " to undo")
	case !step.ByAssistant:
		return m.rollBack(step.ID, checkpoint.Rules, "undone: "+oneLine(step.Description))
	}
	leaves := map[bool]string{true: " leaves", false: " leave"}[step.Pairs == 1]
	lines := []string{
		m.clock(step.Time) + "  " + oneLine(step.Description), oneLine(step.Effect()), "",
		"With the conversation, " + assistant.Counted(step.Pairs, "pair") + leaves + " the view.",
		"The message that asked for it goes back to the input.",
	}
	if step.OtherSession {
		lines[2] = "It was made in another session."
	}
	return m.question(overlay.Confirm, "Undo the assistant's change?", lines, "n", func(answer string) tea.Cmd {
		switch answer {
		case "y":
			return m.rollBack(step.ID, checkpoint.Both, rolledBack)
		case "r":
			return m.rollBack(step.ID, checkpoint.Rules, rolledBack)
		}
		return nil
	}, "y", m.state()+" and conversation", "r", m.state()+" only", "n", "don't undo")
}

// askRecovery asks what to do with what a crash left behind.
func (m *Model) askRecovery() {
	r := m.opts.Recovery
	m.question(overlay.Confirm, "winnow stopped unexpectedly last time", r.Lines, "r", func(answer string) tea.Cmd {
		if answer != "d" {
			return m.info("recovered; nothing is saved yet")
		}
		return m.perform(pane.Edit{Description: "Discard after a crash", Change: r.Discard})
	}, "r", "recover", "d", "discard the unsaved rules")
}
