package tui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// rolledBack is the notice after a rollback to a step chosen from a list.
const rolledBack = "rolled back"

// openCheckpoints lists the checkpoints, starting at the current state.
func (m *Model) openCheckpoints() tea.Cmd {
	newest, w := m.parts.Checkpoints.Newest(), m.wording()
	entries := []overlay.Entry{{Text: "current state", Mark: m.styles.Icons.Marked}}
	for _, c := range m.parts.Checkpoints.Of(m.parts.shownSession()) {
		text, detail := "before: "+c.Description, ""
		if undoes := c.Undoes(); undoes != c.Description { // the checkpoint covers several changes, or a save, which is not undone
			detail = "undoes: " + undoes
		}
		if c.Kind == checkpoint.KindStart {
			text, detail = c.Description, "undoes everything since then"
		}
		entry := overlay.Entry{Value: c.ID, Text: w.clock(c.Time) + "  " + text, Detail: detail, Mark: m.styles.Icons.Checkpoint}
		if c.Undone {
			entry.Extra = "undone"
		}
		entries = append(entries, entry)
	}
	picker := overlay.NewPicker("Checkpoints", entries, 0).WithFullText().Offer(keymap.CheckpointList,
		keymap.To("rolls back", keymap.LineAccept), keymap.To(m.parts.state()+" only", keymap.RollBackState), keymap.To("conversation only", keymap.RollBackConversation))
	return m.open(overlay.Checkpoints, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		scope := map[keymap.Action]checkpoint.Scope{keymap.RollBackState: checkpoint.ScopeWindow, keymap.RollBackConversation: checkpoint.ScopeConversation}[c.Action]
		return m.carryOut(m.rolling.begin(rollback{c.Value, scope, newest, rolledBack}))
	})
}

// rollback is a rollback that the user has chosen.
type rollback struct {
	id     string // id of the checkpoint
	scope  checkpoint.Scope
	newest string        // id of the newest step that the user has seen
	notice safetext.Text // start of the notice after the rollback
}

// rollingBack is a rollback in progress. The zero value means none.
type rollingBack struct {
	rollback
	request int64 // the request whose outcome the rollback waits for
	undone  bool  // the step was already undone when this rollback began
}

// begin rolls back to a checkpoint. It asks first if the rollback undoes changes by others.
func (b *rollingBack) begin(r rollback) intent {
	return act{begin: func(p *parts, request int64) intent { return b.start(p, request, r) }}
}

// start does the work of begin once the acts before it have ended.
func (b *rollingBack) start(p *parts, request int64, r rollback) intent {
	if err := p.refused(); err != nil {
		return showError{err}
	}
	newest := p.Checkpoints.Newest() // read before theirs, so that a later change is noticed
	others := p.others()
	if theirs := others.RollbackLines(p.Checkpoints.OthersSince(r.id, p.shownSession())); len(theirs) > 0 && r.scope != checkpoint.ScopeConversation {
		r.newest = newest
		cut := "No conversation is cut."
		if r.scope == checkpoint.ScopeBoth {
			cut = "Only your own conversation is cut."
		}
		lines := append(theirs, "", cut)
		return confirm("Undo others' changes as well?", lines, "undo theirs too", "don't roll back", b.now(r))
	}
	return b.run(p, request, r)
}

// now returns the rollback that runs after the user has confirmed it.
func (b *rollingBack) now(r rollback) intent {
	return act{begin: func(p *parts, request int64) intent { return b.run(p, request, r) }}
}

func (b *rollingBack) run(p *parts, request int64, r rollback) intent {
	undone := slices.ContainsFunc(p.Checkpoints.Of(p.shownSession()), func(c checkpoint.Checkpoint) bool { return c.ID == r.id && c.Undone })
	*b = rollingBack{r, request, undone}
	return useCase(func(c *usecase.Commands) tea.Cmd { return c.Rollback(request, r.id, r.scope, r.newest) })
}

// on handles the outcome of a rollback. It asks again if the rollback would now undo other steps.
func (b *rollingBack) on(o usecase.Outcome, w wording) intent {
	r, undone := b.rollback, b.undone
	*b = rollingBack{}
	switch o := o.(type) {
	case usecase.UndoPlanned:
		return b.askUndo(o.Step, w)
	case usecase.PlanChanged:
		return b.ask(o.Now, r, w)
	case usecase.RolledBack:
		said := notify{r.notice, []clause{{" · %s brings it back", keymap.UndoRollback}}}
		return several{giveBack{string(o.Result.Text)}, restored{said, o.Result.Warning}}
	case usecase.Failed:
		switch {
		case !errors.Is(o.Err, assistant.ErrNothingToRollBack):
			return showError{o.Err}
		case undone:
			return notify{"already undone; choose an older checkpoint", []clause{{" · %s undoes the undo", keymap.UndoRollback}}}
		}
		return notify{text: safetext.VisibleOnce(o.Err.Error())}
	}
	return nil
}

// ask asks again about a rollback that would now undo other steps.
func (b *rollingBack) ask(changed *assistant.PlanChanged, r rollback, w wording) intent {
	lines := append(w.changed(changed), w.steps(changed.Steps)...)
	r.newest = changed.Newest
	return confirm("Roll back?", lines, "roll back", "don't roll back", b.now(r))
}

// steps returns the lines of a question that list the steps to be undone: one line per step,
// and a last line that counts those left out.
func (w wording) steps(all []checkpoint.Checkpoint) (lines []string) {
	const shown = 10
	for _, c := range all[:min(len(all), shown)] {
		lines = append(lines, w.clock(c.Time)+"  undoes: "+string(oneLine(c.Description)))
	}
	if more := len(all) - shown; more > 0 {
		lines = append(lines, "and "+assistant.Counted(more, "more step"))
	}
	return lines
}

// undoRollback undoes the last rollback. It asks first if another session made the
// rollback, or if steps made after the rollback would be lost.
func (m *Model) undoRollback() tea.Cmd { return m.acts.add(m.commands.UndoRollback) }

// onRollbackUndone shows what was restored by undoing a rollback.
func (m *Model) onRollbackUndone(o usecase.RollbackUndone) tea.Cmd {
	if o.Nothing {
		return m.info("there is no rollback to undo")
	}
	return m.carryOut(restored{notify{text: "the rollback was undone"}, o.Warning})
}

// restored shows the window and the conversation after a rollback. warning says what failed
// after the rollback, or is "".
func (m *Model) restored(said notify, warning safetext.Text) tea.Cmd {
	m.pane.Changed()
	todo := m.carryOut(said)
	if warning != "" {
		m.notice.Fail(warning)
	}
	return tea.Batch(todo, m.reload())
}

// undo undoes the newest change to the window, whoever made it. If the assistant made it, undo
// asks first whether to remove the messages since then too; this is not possible for a change
// made in another session of a shared window.
func (m *Model) undo() tea.Cmd {
	return m.carryOut(act{begin: m.rolling.undo})
}

// undo does the work of (*Model).undo once the acts before it have ended.
func (b *rollingBack) undo(p *parts, request int64) intent {
	var step *checkpoint.Checkpoint
	if p.Checkpoints != nil { // nil before the session has started, and without a window
		step = p.Checkpoints.Last
	}
	switch refused := p.refused(); {
	case refused != nil:
		return showError{refused}
	case step == nil:
		return notify{text: "there is no change to undo"}
	case step.Kind != checkpoint.KindTurn, step.Session != p.shownSession() && p.others().Shared:
		return b.start(p, request, rollback{step.ID, checkpoint.ScopeWindow, step.ID, "undid “" + oneLine(step.Description) + "”"})
	}
	*b = rollingBack{request: request}
	return useCase(func(c *usecase.Commands) tea.Cmd { return c.PlanUndo(request, *step) })
}

// askUndo asks whether to undo a change that the assistant made.
func (b *rollingBack) askUndo(step workspace.Step, w wording) intent {
	lines := []string{w.clock(step.Time) + "  " + string(oneLine(step.Description))}
	if undoes := step.Undoes(); undoes != step.Description {
		lines = append(lines, string("undoes: "+oneLine(undoes)))
	}
	if step.OtherSession {
		lines = append(lines, "The change was made in another session.")
	}
	lines = append(lines, "", assistant.Counted(step.Pairs, "message")+" will be removed from the conversation.", "The message that asked for it goes back to the box.")
	return question{overlay.Confirm, "Undo the assistant's change?", lines, keymap.AnswerNo, func(answer keymap.Action) intent {
		switch answer {
		case keymap.AnswerYes:
			return b.begin(rollback{step.ID, checkpoint.ScopeBoth, step.ID, rolledBack})
		case keymap.AnswerStateOnly:
			return b.begin(rollback{step.ID, checkpoint.ScopeWindow, step.ID, rolledBack})
		default:
			return nil
		}
	}, []overlay.Answer{says(keymap.AnswerYes, w.state+" and conversation"), says(keymap.AnswerStateOnly, w.state+" only"), says(keymap.AnswerNo, "don't undo")}}
}

// askRecovery asks whether to recover or discard unsaved changes after a crash.
func (m *Model) askRecovery() {
	r := m.opts.Recovery
	m.question(overlay.Confirm, "winnow stopped unexpectedly last time", safetext.Strings(r.Lines), keymap.AnswerRecover, func(answer keymap.Action) tea.Cmd {
		if answer != keymap.AnswerDiscard {
			return m.info("recovered; nothing is saved yet")
		}
		return m.carryOut(m.discarding.discard(discarding{description: "Discard after a crash", plan: assistant.SavePlan{Digest: r.Digest}}))
	}, says(keymap.AnswerRecover, "recover"), says(keymap.AnswerDiscard, "discard the unsaved rules"))
}
