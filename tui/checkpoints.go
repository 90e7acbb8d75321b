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
func (p *pickers) openCheckpoints() tea.Cmd {
	entries := []overlay.Entry{{Text: "current state", Mark: p.styles.Icons.Marked}}
	for _, c := range slices.Backward(p.session.Checkpoints()) {
		text, detail := "before: "+c.Description, c.Effect()
		if detail != "" {
			detail = "undoes: " + detail
		}
		if c.Kind == checkpoint.KindStart {
			text, detail = c.Description, "undoes everything since then"
		}
		entries = append(entries, overlay.Entry{
			Value: c.ID, Text: p.clock(c.Time) + "  " + text, Detail: detail,
			Mark: p.styles.Icons.Checkpoint, Extra: map[bool]string{true: "undone"}[c.Undone],
		})
	}
	picker := overlay.NewPicker("Checkpoints", entries, 0).WithKeys(
		"enter rolls back · alt+r "+p.state()+" only · alt+c conversation only", "alt+r", "alt+c")
	return p.open(overlay.Checkpoints, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		scope := map[string]checkpoint.Scope{"alt+r": checkpoint.ScopeRules, "alt+c": checkpoint.ScopeConversation}[c.Key]
		return p.rollBack(c.Value, scope, rolledBack)
	})
}

// rollBack rolls back to a checkpoint; notice is the beginning of the notice that follows.
// It asks when that undoes what others did meanwhile.
func (p *pickers) rollBack(id string, scope checkpoint.Scope, notice string) tea.Cmd {
	if err := p.refused(); err != nil {
		return p.fail(err)
	}
	if theirs := p.others.RollbackLines(id); len(theirs) > 0 && scope != checkpoint.ScopeConversation {
		lines := append(theirs, "", "Their conversations stay; only your own is cut.")
		return p.ask("Undo others' changes as well?", lines, "undo theirs too", "don't roll back", func() tea.Cmd {
			return p.rollBackNow(id, scope, notice)
		})
	}
	return p.rollBackNow(id, scope, notice)
}

func (p *pickers) rollBackNow(id string, scope checkpoint.Scope, notice string) tea.Cmd {
	return p.change(async(func(ctx context.Context) (workspace.RolledBack, error) { return p.work.Rollback(ctx, id, scope) }, func(out workspace.RolledBack, err error) tea.Cmd {
		if err != nil {
			return p.fail(err)
		}
		if out.Text != "" {
			p.input.giveBack(out.Text)
		}
		return p.restored(notice + p.hint(" · %s “Undo the last rollback” undoes it", "palette"))
	}))
}

// undoRollback undoes the last rollback.
func (p *pickers) undoRollback() tea.Cmd {
	return p.change(attempt(p.work.UndoRollback, func(err error) tea.Cmd {
		switch {
		case errors.Is(err, workspace.ErrNothingToUndo):
			return p.info("there is no rollback to undo")
		case err != nil:
			return p.fail(err)
		}
		return p.restored("the rollback is undone")
	}))
}

// restored shows the window and the conversation after a rollback.
func (p *pickers) restored(notice string) tea.Cmd {
	p.pane.Changed()
	p.notice.Info(notice)
	return tea.Batch(p.computeBoundary(), p.conv.reload())
}

// undo undoes the newest change of the window, whoever made it. It asks when that
// cuts the conversation.
func (p *pickers) undo() tea.Cmd {
	step, ok := p.work.LastStep()
	switch refused := p.refused(); {
	case refused != nil:
		return p.fail(refused)
	case !ok:
		return p.info("there is no change of the " + p.state() + " to undo")
	case !step.ByAssistant, step.OtherSession && p.others.Shared():
		return p.rollBack(step.ID, checkpoint.ScopeRules, "undone: "+oneLine(step.Description))
	}
	leaves := map[bool]string{true: " leaves", false: " leave"}[step.Pairs == 1]
	lines := []string{
		p.clock(step.Time) + "  " + oneLine(step.Description), oneLine(step.Effect()), "",
		"With the conversation, " + assistant.Counted(step.Pairs, "pair") + leaves + " the view.",
		"The message that asked for it goes back to the input.",
	}
	if step.OtherSession {
		lines[2] = "It was made in another session."
	}
	return p.question(overlay.Confirm, "Undo the assistant's change?", lines, "n", func(answer string) tea.Cmd {
		switch answer {
		case "y":
			return p.rollBack(step.ID, checkpoint.ScopeBoth, rolledBack)
		case "r":
			return p.rollBack(step.ID, checkpoint.ScopeRules, rolledBack)
		}
		return nil
	}, "y", p.state()+" and conversation", "r", p.state()+" only", "n", "don't undo")
}

// askRecovery asks whether to recover or discard what a crash left behind.
func (m *Model) askRecovery() {
	r := m.opts.Recovery
	m.question(overlay.Confirm, "winnow stopped unexpectedly last time", r.Lines, "r", func(answer string) tea.Cmd {
		if answer != "d" {
			return m.info("recovered; nothing is saved yet")
		}
		return m.perform(pane.Edit{Description: "Discard after a crash", Change: r.Discard})
	}, "r", "recover", "d", "discard the unsaved rules")
}
