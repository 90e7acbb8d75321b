package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/pane"
	"winnow/tui/style"
)

func rulesSaveCommand(a *app) *cobra.Command {
	var shown string
	c := command("save", "Write the staged rules to the .env file", 0, 0, a.withWorkspace(func(ctx context.Context, _ *journaledWindow, ws *workspace.Workspace, _ []string) error {
		switch {
		case shown != "":
			return a.saveShown(ctx, ws, shown)
		case a.asks():
			return a.askSave(ctx, ws)
		}
		saved, pending, err := a.saveOwn(ctx, ws)
		if err != nil {
			return a.saveError(err)
		}
		return errors.Join(a.printSaved(saved), pending)
	}))
	c.Flags().StringVar(&shown, "plan", "", "save only the plan with this digest, as printed by rules plan or rules diff (exit 3 if it has changed)")
	c.Long = "On a terminal, save shows the changes and who staged them, and asks. Otherwise --plan names\n" +
		"the plan to save; without it only your own changes are saved, and the exit status is 3 if\n" +
		"others have staged changes, which stay staged. Other programs' changes to the file are kept;\n" +
		"if they conflict with yours, nothing is written and both versions are shown."
	c.Example = "winnow rules diff\nwinnow rules save --plan 1f0c2b7a9d3e4f56"
	return c
}

func rulesDiscardCommand(a *app) *cobra.Command {
	var shown string
	c := command("discard", "Discard the staged changes", 0, 0, a.withWorkspace(func(_ context.Context, _ *journaledWindow, ws *workspace.Workspace, _ []string) error {
		switch {
		case shown != "":
			return a.discardPlan(ws, assistant.Basis{Digest: shown})
		case a.asks():
			return a.askDiscard(ws)
		}
		others, err := a.othersChanges(ws)
		if err != nil {
			return err
		}
		return errors.Join(a.discardPlan(ws, assistant.Basis{Only: a.userName()}), others)
	}))
	c.Flags().StringVar(&shown, "plan", "", "discard only the changes with this digest, as printed by rules diff (exit 3 if they have changed)")
	c.Long = "On a terminal, discard shows the changes and asks. Otherwise it discards your own; the exit\n" +
		"status is 3 if others have staged changes, which stay staged."
	return c
}

// asks reports whether the user can be asked a question.
func (a *app) asks() bool { return isTerminal(a.stdin) && isTerminal(a.stderr) && !a.flags.json }

// saveShown saves the plan with the given digest. If the plan has changed, it prints the new plan instead.
func (a *app) saveShown(ctx context.Context, ws *workspace.Workspace, digest string) error {
	saved, err := ws.Save(ctx, assistant.Basis{Digest: digest})
	if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		if changed.Plan.Empty() {
			a.printErr("nothing was saved: no change is staged; winnow rules plan shows changes without staging them")
			return cmp.Or(a.emit(changed.Plan, nothingStaged), error(errPending))
		}
		a.printErr("nothing was saved: %s", changed.Changed(a.userName()))
		return a.showPlan(changed.Plan)
	}
	if err != nil {
		return a.saveError(err)
	}
	return a.printSaved(saved)
}

// askSave shows what would be saved, and saves it if the user agrees.
func (a *app) askSave(ctx context.Context, ws *workspace.Workspace) error {
	plan, err := ws.PlanSave(ctx, "")
	if err == nil && plan.Conflict != nil {
		err = plan.Conflict
	}
	for err == nil {
		if plan.Empty() {
			return a.emit(plan, nothingStaged)
		}
		printLines(a, plan.Lines(a.userName()))
		if !a.askYesNo("Save these changes?") {
			a.printErr("nothing was saved")
			return errPending
		}
		var saved assistant.Saved
		saved, err = ws.Save(ctx, assistant.Basis{Digest: plan.Digest})
		if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
			a.printErr("%s. The new plan:", changed.Changed(a.userName()))
			plan, err = changed.Plan, nil
			continue
		}
		if err == nil {
			return a.printSaved(saved)
		}
	}
	return a.saveError(err)
}

// askDiscard shows what would be discarded, and discards it if the user agrees.
func (a *app) askDiscard(ws *workspace.Workspace) error {
	plan, err := ws.PlanDiscard("")
	if err != nil {
		return err
	}
	if plan.Empty() {
		return a.discardPlan(ws, assistant.Basis{Digest: plan.Digest})
	}
	printLines(a, plan.DiscardLines(a.userName()))
	if !a.askYesNo("Discard these changes?") {
		a.printErr("nothing was discarded")
		return errPending
	}
	return a.discardPlan(ws, assistant.Basis{Digest: plan.Digest})
}

// discardPlan discards the changes that basis selects. If the plan has changed, it prints the new plan instead.
func (a *app) discardPlan(ws *workspace.Workspace, basis assistant.Basis) error {
	lost, err := ws.Discard("discard staged rules", basis)
	if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		a.printErr("nothing was discarded: %s", changed.Changed(a.userName()))
		if err := a.showPlan(changed.Plan); err != nil {
			return err
		}
		return errPending
	}
	if err != nil && !errors.Is(err, workspace.ErrNothingUnsaved) {
		return err
	}
	text := "nothing is staged"
	if len(lost) > 0 {
		text = assistant.Counted(len(lost), "staged change") + " discarded; to undo this, roll back to the newest checkpoint in winnow checkpoints list"
	}
	return a.emit(map[string]any{"discarded": nonNil(lost)}, text)
}

// saveOwn saves what this user has staged. pending is errPending if other users have staged changes too, which stay
// staged.
func (a *app) saveOwn(ctx context.Context, ws *workspace.Workspace) (saved assistant.Saved, pending, err error) {
	if pending, err = a.othersChanges(ws); err != nil {
		return saved, nil, err
	}
	saved, err = ws.Save(ctx, assistant.Basis{Only: a.userName()})
	return saved, pending, err
}

// saveHelp is the help of the --save flag.
const saveHelp = "save your staged rules afterwards; rules staged by others stay staged (exit 3)"

// saveStaged calls saveOwn after a command has staged its changes, unless some of them failed.
func (a *app) saveStaged(ctx context.Context, ws *workspace.Workspace, failed []error) (saved assistant.Saved, pending, err error) {
	if len(failed) > 0 {
		saved.Warning = "Nothing was saved, because some changes could not be staged."
	} else if saved, pending, err = a.saveOwn(ctx, ws); err != nil {
		return saved, nil, a.saveError(err)
	}
	a.printErr("%s", saved.Warning)
	return saved, pending, nil
}

// othersChanges prints the changes staged by other users, and returns errPending if there are any.
func (a *app) othersChanges(ws *workspace.Workspace) (pending, err error) {
	plan, err := ws.PlanDiscard("")
	if err != nil || a.userName() == "" {
		return nil, err
	}
	if lines := assistant.OthersLines(plan.Changes, a.userName()); len(lines) > 0 {
		a.printErr("changes by others stay staged; winnow rules diff shows all changes and the digest for --plan")
		printLines(a, lines[1:])
		pending = errPending
	}
	return pending, nil
}

// printLines prints lines on standard error like printErr, but does not cut them: the user may be asked to confirm them.
func printLines[S ~string](a *app, lines []S) {
	for _, line := range lines {
		if line != "" {
			a.errLine(safetext.Clean(a.redactor.Redact(string(line))))
		}
	}
}

func (a *app) printSaved(saved assistant.Saved) error {
	a.printErr("%s", saved.Warning)
	if saved.Applied != nil && a.flags.json { // without --json, the result is printed when the program ends
		result := a.applier.WaitApplied(a.ctx)
		saved.Applied = &result
	}
	return a.emit(saved, string(saved.Message))
}

// saveError adds both sides of a conflict to err. If the rules were saved despite the conflict, it adds only that. It
// returns other errors unchanged.
func (a *app) saveError(err error) error {
	c, ok := errors.AsType[*assistant.Conflict](err)
	if !ok {
		return err
	}
	if c.Kept != "" {
		return fmt.Errorf("the rules were saved, but %w", err)
	}
	lines := []error{fmt.Errorf("nothing was saved: %w", err)}
	st := style.New(style.Options{Profile: style.NoColor, Unicode: a.unicode()})
	for _, line := range pane.ConflictLines(c, c.Both, a.userName(), &st.Icons) {
		lines = append(lines, errors.New(line))
	}
	return advise(errors.Join(lines...), "discard your changes with winnow rules discard, or save in the program, which shows both versions and asks which to keep")
}
