package tui

import (
	"context"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Commands do what waits, for the disk or the network. They are functions of
// plain arguments and of the workspace, which any goroutine may use, never of
// the model.

// loadStart loads what the first screen needs: the pairs of the session, the
// draft that was there, and what completion offers. What cannot be read is not
// offered; the pairs are what counts.
func loadStart(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		ctx := context.Background()
		msg := startLoadedMsg{err: w.Session().LoadView(ctx)}
		msg.boundary = boundaryOf(w.Session())
		msg.draft, _ = w.Draft(ctx)
		msg.recall = w.Recall(ctx)
		msg.drawing = w.Drawing(ctx)
		msg.models = modelList{recent: w.RecentModels(ctx), favourites: w.FavouriteModels(ctx)}
		return msg
	}
}

// computeBoundary asks for the boundary after something that can have moved it.
func computeBoundary(s *assistant.Session) tea.Cmd {
	return func() tea.Msg { return boundaryOf(s) }
}

func boundaryOf(s *assistant.Session) boundaryComputedMsg {
	return boundaryComputedMsg{refs: s.Visible(), at: s.Boundary(), counter: s.Counter(), near: s.NearLimit()}
}

// loadPairs loads pairs that came onto the screen.
func loadPairs(s *assistant.Session, seqs []int64) tea.Cmd {
	return func() tea.Msg {
		pairs, err := s.Pairs(context.Background(), seqs)
		return pairsLoadedMsg{asked: seqs, pairs: pairs, err: err}
	}
}

// loadTurnPair loads the pair of a turn that has ended.
func loadTurnPair(s *assistant.Session, t turn) tea.Cmd {
	if t.seq == 0 {
		return nil
	}
	return func() tea.Msg {
		pairs, err := s.Pairs(context.Background(), []int64{t.seq})
		return pairsLoadedMsg{turn: t.n, asked: []int64{t.seq}, pairs: pairs, err: err}
	}
}

// checkPair asks whether the active line would show the pair just answered.
func checkPair(w *workspace.Workspace, seq int64) tea.Cmd {
	return func() tea.Msg {
		shown, err := w.Selects(context.Background(), seq)
		if err != nil {
			return failedMsg{err}
		}
		return pairCheckedMsg{seq: seq, shown: shown}
	}
}

// queueMessage stores a message that waits for the end of the turn.
func queueMessage(w *workspace.Workspace, p assistant.Prompt, typed string) tea.Cmd {
	return func() tea.Msg {
		_, _, err := w.Queue(context.Background(), p)
		return messageStoredMsg{prompt: p, typed: typed, err: err}
	}
}

// addSent remembers a message as it was typed.
func addSent(w *workspace.Workspace, text string) tea.Cmd {
	return failing(func(ctx context.Context) error { return w.AddSent(ctx, text) })
}

// failing is a command that is only heard of when it fails.
func failing(do func(context.Context) error) tea.Cmd {
	return func() tea.Msg {
		if err := do(context.Background()); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

// storeDraft stores the draft and what was cleared before it, so that no crash
// loses them.
func storeDraft(w *workspace.Workspace, d history.Draft) tea.Cmd {
	return func() tea.Msg {
		return draftStoredMsg{text: d.Text, err: w.SaveDraft(context.Background(), d)}
	}
}

// setFilter makes what a line selects the view.
func setFilter(w *workspace.Workspace, line string) tea.Cmd {
	return func() tea.Msg {
		f, err := w.SetFilter(context.Background(), line)
		msg := filterAppliedMsg{line: line, refs: f.Refs, boundary: boundaryOf(w.Session()), err: err}
		for _, h := range f.Hints {
			msg.hints = append(msg.hints, h.String())
		}
		return msg
	}
}

// refilter evaluates the active line again after pairs have changed.
func refilter(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		if err := w.Refilter(context.Background()); err != nil {
			return viewStaleMsg{err}
		}
		return boundaryOf(w.Session())
	}
}

// countFilter counts what a line would leave, while it is typed.
func countFilter(w *workspace.Workspace, line string) tea.Cmd {
	return func() tea.Msg {
		n, err := w.CountFilter(context.Background(), line)
		return filterCountedMsg{line: line, count: n, err: err}
	}
}

// findText asks the history which pairs contain a text.
func findText(w *workspace.Workspace, needle string, back bool) tea.Cmd {
	return func() tea.Msg {
		seqs, err := w.FindText(context.Background(), needle)
		return textFoundMsg{needle: needle, back: back, seqs: seqs, err: err}
	}
}

// planCommand prepares the :command of a line.
func planCommand(w *workspace.Workspace, line string) tea.Cmd {
	return func() tea.Msg {
		o, err := w.PlanCommand(context.Background(), line)
		return commandPlannedMsg{line: line, order: o, err: err}
	}
}

// executeCommand does what a prepared command says.
func executeCommand(w *workspace.Workspace, o history.Command, line string) tea.Cmd {
	return func() tea.Msg {
		out, err := w.Execute(context.Background(), o, line)
		return commandExecutedMsg{line: line, order: o, out: out, err: err}
	}
}

// undoCommand undoes the newest command on pairs.
func undoCommand(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		out, err := w.UndoCommand(context.Background())
		return commandUndoneMsg{out: out, err: err}
	}
}

// loadNames reads the names that a command may have changed.
func loadNames(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		topics, saved := w.Names(context.Background())
		return namesLoadedMsg{topics, saved}
	}
}

// confirming runs a use case that may want a yes: then it asks, and runs it
// again with that.
func confirming(do func(ctx context.Context, confirmed bool) (*workspace.Confirm, tea.Msg)) tea.Cmd {
	return func() tea.Msg {
		c, msg := do(context.Background(), false)
		if c == nil {
			return msg
		}
		return confirmWantedMsg{confirm: *c, yes: func() tea.Msg {
			_, msg := do(context.Background(), true)
			return msg
		}}
	}
}

// retryPair prepares a pair to be answered again.
func retryPair(w *workspace.Workspace, seq int64) tea.Cmd {
	return confirming(func(ctx context.Context, confirmed bool) (*workspace.Confirm, tea.Msg) {
		r, c, err := w.Retry(ctx, seq, confirmed)
		return c, retryPreparedMsg{prompt: r.Prompt, err: err}
	})
}

// reAskPair reads the message of a pair for the input.
func reAskPair(w *workspace.Workspace, seq int64) tea.Cmd {
	return func() tea.Msg {
		text, replaces, err := w.BeginReAsk(context.Background(), seq)
		return reAskReadMsg{text: text, replaces: replaces, err: err}
	}
}

// deletePair removes a pair for good.
func deletePair(w *workspace.Workspace, seq int64) tea.Cmd {
	return confirming(func(ctx context.Context, confirmed bool) (*workspace.Confirm, tea.Msg) {
		c, err := w.Delete(ctx, []int64{seq}, confirmed)
		return c, pairsChangedMsg{notice: "deleted", err: err}
	})
}

// markPair changes star, flag or topic of a pair; change says what it did.
func markPair(seq int64, change func(context.Context) (notice string, err error)) tea.Cmd {
	return func() tea.Msg {
		notice, err := change(context.Background())
		return pairsChangedMsg{notice: notice, seqs: []int64{seq}, err: err}
	}
}

// switchSession begins a new session, or goes on with one when it has an id.
func switchSession(w *workspace.Workspace, id string) tea.Cmd {
	return confirming(func(ctx context.Context, confirmed bool) (*workspace.Confirm, tea.Msg) {
		if id == "" {
			c, err := w.NewSession(ctx, confirmed)
			return c, sessionChangedMsg{switched: err == nil, err: err}
		}
		c, err := w.ResumeSession(ctx, id, confirmed)
		return c, sessionChangedMsg{resumed: true, switched: w.Session().ID() == id, err: err}
	})
}

func loadSessions(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		all, err := w.Sessions(context.Background())
		return sessionsLoadedMsg{all, err}
	}
}

// rollBack goes back to a checkpoint; notice begins what the footer says then.
func rollBack(w *workspace.Workspace, id string, scope checkpoint.Scope, notice string) tea.Cmd {
	return func() tea.Msg {
		out, err := w.Rollback(context.Background(), id, scope)
		return rolledBackMsg{notice: notice, text: out.Text, undoable: true, err: err}
	}
}

// undoRollback takes the last rollback back.
func undoRollback(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		return rolledBackMsg{notice: "the rollback is undone", err: w.UndoRollback(context.Background())}
	}
}

// editWindow makes a change by hand, as one step that can be undone.
func editWindow(w *workspace.Workspace, e pane.Edit) tea.Cmd {
	return func() tea.Msg {
		msg := editedMsg{view: e.View, err: w.Edit(e.Description, e.Change)}
		if msg.err == nil {
			msg.notice = e.Notice()
		}
		return msg
	}
}

// runAction does what takes time.
func runAction(a pane.Run) tea.Cmd {
	return func() tea.Msg {
		notice, err := a.Run(context.Background())
		return ranMsg{notice: notice, err: err}
	}
}

// planSave asks what a save would change.
func planSave(k pane.Saver, st style.Styles, quit bool) tea.Cmd {
	return func() tea.Msg {
		lines, changes, err := k.Plan(context.Background(), st)
		return savePlannedMsg{lines: lines, changes: changes, quit: quit, err: err}
	}
}

// saveWindow writes, and notes in the journal that nothing is unsaved.
func saveWindow(s *assistant.Session, k pane.Saver, quit bool) tea.Cmd {
	return func() tea.Msg {
		notice, err := k.Save(context.Background())
		if err == nil {
			err = s.Saved()
		}
		return savedMsg{notice: notice, quit: quit, err: err}
	}
}

// waitSavedChange waits for the next change that somebody else makes to what is
// saved.
func waitSavedChange(changes <-chan assistant.SavedChange) tea.Cmd {
	if changes == nil {
		return nil
	}
	return func() tea.Msg {
		change, open := <-changes
		if !open {
			return nil
		}
		return savedChangedMsg{change: change, more: changes}
	}
}

// refreshModels asks the endpoints which models they have.
func refreshModels(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg { return modelsLoadedMsg{w.RefreshModels(context.Background())} }
}

// pickModel selects a model for the next message.
func pickModel(w *workspace.Workspace, id string) tea.Cmd {
	return func() tea.Msg {
		err := w.PickModel(context.Background(), id)
		return modelPickedMsg{id: id, models: modelList{w.RecentModels(context.Background()), w.FavouriteModels(context.Background())}, err: err}
	}
}

// copyText puts text on the system's clipboard and into the buffer of tmux; the
// terminal gets it by OSC 52, which a tmux may drop.
func copyText(what, text string, native, tmux func(string) error) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		return copiedMsg{what: what, native: native(text) == nil, tmux: tmux != nil && tmux(text) == nil}
	})
}

// tmuxBuffer puts text into the buffer of the tmux around the program.
func tmuxBuffer(text string) error {
	cmd := exec.CommandContext(context.Background(), "tmux", "load-buffer", "-w", "-")
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

// after sends a message when a time has passed.
func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
