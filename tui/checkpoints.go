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
)

// rolledBack is the notice of a rollback to a step that was chosen from a list.
const rolledBack = "rolled back"

// openCheckpoints lists the checkpoints; it opens on the current state.
func (p *pickers) openCheckpoints() tea.Cmd {
	newest := p.work.Newest()
	entries := []overlay.Entry{{Text: "current state", Mark: p.styles.Icons.Marked}}
	for _, c := range slices.Backward(p.session.Checkpoints()) {
		text, detail := "before: "+c.Description, c.Undoes()
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
		return p.rollBack(rollback{c.Value, scope, newest, rolledBack})
	})
}

// rollback is what the user has decided to undo.
type rollback struct {
	id     string // of the checkpoint
	scope  checkpoint.Scope
	newest string // the newest step that was shown
	notice string // the beginning of the notice that follows
}

// rollBack rolls back to a checkpoint. It asks when that undoes what others did meanwhile.
func (p *pickers) rollBack(r rollback) tea.Cmd {
	if err := p.refused(); err != nil {
		return p.fail(err)
	}
	newest := p.work.Newest() // before the lines are read: what they miss is noticed
	if theirs := p.others.RollbackLines(r.id); len(theirs) > 0 && r.scope != checkpoint.ScopeConversation {
		r.newest = newest
		lines := append(theirs, "", "Their conversations stay; only your own is cut.")
		return p.ask("Undo others' changes as well?", lines, "undo theirs too", "don't roll back", func() tea.Cmd { return p.rollBackNow(r) })
	}
	return p.rollBackNow(r)
}

func (p *pickers) rollBackNow(r rollback) tea.Cmd {
	return p.change(async(func(ctx context.Context) (workspace.RolledBack, error) {
		return p.work.Rollback(ctx, r.id, r.scope, r.newest)
	}, func(out workspace.RolledBack, err error) tea.Cmd {
		if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
			return p.askRollback(changed, r)
		}
		if err != nil {
			return p.fail(err)
		}
		if out.Text != "" {
			p.input.giveBack(out.Text)
		}
		return p.restored(r.notice+p.hint(" · %s “Undo the last rollback” undoes it", "palette"), out.Warning)
	}))
}

// askRollback asks again about a rollback that would undo other steps by now.
func (p *pickers) askRollback(changed *assistant.PlanChanged, r rollback) tea.Cmd {
	const shown = 10
	lines := p.changedLines(changed)
	for _, c := range changed.Steps[:min(len(changed.Steps), shown)] {
		lines = append(lines, p.clock(c.Time)+"  undoes: "+oneLine(c.Description))
	}
	if more := len(changed.Steps) - shown; more > 0 {
		lines = append(lines, "and "+assistant.Counted(more, "more step"))
	}
	r.newest = changed.Newest
	return p.ask("Roll back?", lines, "roll back", "don't roll back", func() tea.Cmd { return p.rollBackNow(r) })
}

// undoRollback undoes the last rollback.
func (p *pickers) undoRollback() tea.Cmd {
	return p.change(async(p.work.UndoRollback, func(warning string, err error) tea.Cmd {
		switch {
		case errors.Is(err, workspace.ErrNothingToUndo):
			return p.info("there is no rollback to undo")
		case err != nil:
			return p.fail(err)
		}
		return p.restored("the rollback is undone", warning)
	}))
}

// restored shows the window and the conversation after a rollback. warning is what
// failed after it; "" is nothing.
func (p *pickers) restored(notice, warning string) tea.Cmd {
	p.pane.Changed()
	p.notice.Info(notice)
	if warning != "" {
		p.notice.Fail(oneLine(warning))
	}
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
		return p.rollBack(rollback{step.ID, checkpoint.ScopeRules, step.ID, "undone: " + oneLine(step.Description)})
	}
	leaves := map[bool]string{true: " leaves", false: " leave"}[step.Pairs == 1]
	lines := []string{
		p.clock(step.Time) + "  " + oneLine(step.Description), oneLine(step.Undoes()), "",
		"With the conversation, " + assistant.Counted(step.Pairs, "pair") + leaves + " the view.",
		"The message that asked for it goes back to the input.",
	}
	if step.OtherSession {
		lines[2] = "It was made in another session."
	}
	return p.question(overlay.Confirm, "Undo the assistant's change?", lines, "n", func(answer string) tea.Cmd {
		switch answer {
		case "y":
			return p.rollBack(rollback{step.ID, checkpoint.ScopeBoth, step.ID, rolledBack})
		case "r":
			return p.rollBack(rollback{step.ID, checkpoint.ScopeRules, step.ID, rolledBack})
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
		return m.discard(discarding{description: "Discard after a crash", plan: assistant.SavePlan{Digest: r.Digest}})
	}, "r", "recover", "d", "discard the unsaved rules")
}
