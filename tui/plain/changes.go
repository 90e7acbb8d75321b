package plain

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

func (c *console) listRules(context.Context, string) error {
	if c.opts.Rules == nil {
		return reply("This window has no rules.")
	}
	c.out.Indent(c.opts.Rules()...)
	return nil
}

// ruleCommand returns the command that adds a rule with its argument as the pattern or, for
// WhyModel, says why a model is hidden or shown.
func ruleCommand(action keymap.Action) func(*console, context.Context, string) error {
	return func(c *console, ctx context.Context, argument string) error {
		i := slices.IndexFunc(keymap.CommandTable(), func(s keymap.SlashCommand) bool { return s.Action == action })
		switch usage := keymap.CommandTable()[i].Console; {
		case c.opts.Act == nil:
			return reply("This window has no rules.")
		case argument == "":
			return reply("Usage: /" + usage)
		case action != keymap.WhyModel && strings.ContainsFunc(argument, unicode.IsSpace):
			c.out.Line("Model names have no spaces.")
			if !c.yes(ctx, "Type yes to add the rule: ") {
				c.nothingDone()
				return nil
			}
		}
		act, revision := c.opts.Act(action, argument)
		done, err := c.workspace.Act(context.WithoutCancel(ctx), act, revision)
		switch {
		case err != nil:
			return err
		case act.Step() == "":
			c.out.Line(Quote(done) + ".")
		default:
			c.changed(assistant.UpperFirst(Quote(done)) + ". /undo undoes it.")
		}
		return nil
	}
}

// changed prints what was changed, and then the state that has changed with it.
func (c *console) changed(text string) {
	c.out.Line(text)
	c.showChanges()
}

// warn prints what went wrong after an action had succeeded; "" prints nothing.
func (c *console) warn(warning safetext.Text) {
	if warning != "" {
		c.out.Label("Warning", Quote(warning))
	}
}

// showChanged says why a plan is shown again.
func (c *console) showChanged(changed *assistant.PlanChanged) {
	c.out.Label("Notice", Quote(changed.Changed(c.workspace.Author()))+". This is what would be done now:")
}

// save shows what would be written, and writes it if the user answers yes. done is false if
// something stays unsaved.
func (c *console) save(ctx context.Context) (done bool, err error) {
	st := style.New(style.Options{Profile: style.NoColor})
	plan, err := c.workspace.PlanSave(ctx, "")
	for err == nil {
		switch {
		case plan.Conflict != nil:
			return false, c.askConflict(ctx, plan, &st)
		case plan.Empty():
			c.out.Line("Nothing to save: the file has the same rules.")
			return true, nil
		}
		c.out.Indent(safetext.Strings(plan.Lines(c.workspace.Author()))...)
		if !c.yes(ctx, "Type yes to save: ") {
			c.nothingDone()
			return false, nil
		}
		saved, failed := c.workspace.Save(ctx, assistant.Basis{Digest: plan.Digest})
		changed, isChanged := errors.AsType[*assistant.PlanChanged](failed)
		conflict, isConflict := errors.AsType[*assistant.Conflict](failed)
		switch {
		case isChanged:
			c.showChanged(changed)
			plan = changed.Plan
		case isConflict && conflict.Kept == "":
			plan.Conflict = conflict
		case failed != nil:
			return false, failed
		default:
			c.unsaved = c.workspace.Unsaved()
			c.out.Label("Saved", string(saved.Message))
			c.warn(saved.Warning)
			return true, nil
		}
	}
	return false, err
}

// askConflict asks which version to use after another program has changed the file.
func (c *console) askConflict(ctx context.Context, plan assistant.SavePlan, st *style.Styles) error {
	c.out.Label("Notice", string(pane.ConflictTitle(plan.Conflict)+"."))
	c.out.Indent(pane.ConflictLines(plan.Conflict, plan.Changes, c.workspace.Author(), &st.Icons)...)
	var drop *assistant.Basis
	switch c.ask(ctx, "Type mine to load the file and re-apply your changes, or theirs to load it and drop your changes: ", "mine", "theirs") {
	case "":
		c.out.Line("Nothing was saved.")
		return nil
	case "theirs":
		drop = &assistant.Basis{Digest: plan.Digest}
	}
	_, err := c.workspace.RefreshSaved(ctx, "Load the changed file", drop)
	if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		c.showChanged(changed)
		_, err = c.save(ctx)
		return err
	}
	if err == nil {
		c.changed("The file was loaded. /save shows what is unsaved now.")
	}
	return err
}

// discard shows what would be lost, and discards it if the user answers yes.
func (c *console) discard(ctx context.Context, _ string) error {
	plan, err := c.workspace.PlanDiscard("")
	if err == nil {
		_, err = c.askDiscard(ctx, plan)
	}
	return err
}

func (c *console) askDiscard(ctx context.Context, plan assistant.SavePlan) (done bool, err error) {
	if plan.Empty() {
		c.out.Line("There are no unsaved changes.")
		return true, nil
	}
	c.out.Indent(safetext.Strings(plan.DiscardLines(c.workspace.Author()))...)
	if !c.yes(ctx, "Type yes to discard these changes: ") {
		c.nothingDone()
		return false, nil
	}
	return c.discardShown(ctx, plan.Digest)
}

// discardShown discards the changes that digest identifies, which the user has seen. If the
// changes are different now, it shows them and asks again.
func (c *console) discardShown(ctx context.Context, digest string) (done bool, err error) {
	lost, err := c.workspace.Discard("Discarded the unsaved changes", assistant.Basis{Digest: digest})
	if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		c.showChanged(changed)
		return c.askDiscard(ctx, changed.Plan)
	}
	if err == nil {
		c.changed("Discarded " + assistant.Counted(len(lost), "unsaved change") + ". /undo undoes it.")
	}
	return err == nil, err
}

func checkpointText(p checkpoint.Checkpoint) string {
	text := p.Time.Local().Format("15:04") + " " + Name(p.Description)
	if undoes := p.Undoes(); undoes != "" && undoes != p.Description {
		text += ": " + Quote(undoes)
	}
	return text
}

var scopes = map[string]checkpoint.Scope{
	"": checkpoint.ScopeBoth, "both": checkpoint.ScopeBoth, "window": checkpoint.ScopeWindow, "rules": checkpoint.ScopeWindow, "conversation": checkpoint.ScopeConversation,
}

// rollback lists the checkpoints, with "Session start" first, or rolls back to one of them.
func (c *console) rollback(ctx context.Context, args string) error {
	if args == "" || c.listed == nil {
		c.listed, c.newest = c.session.Checkpoints(), c.workspace.Newest()
	}
	if args == "" {
		c.out.Line("Checkpoints; /rollback NUMBER rolls back to before a checkpoint:")
		for i, p := range c.listed {
			c.out.Indent(strconv.Itoa(i+1) + " " + checkpointText(p))
		}
		return nil
	}
	number, what, _ := strings.Cut(args, " ")
	scope, known := scopes[strings.TrimSpace(what)]
	if !known {
		number = ""
	}
	i, err := index(number, len(c.listed), "Usage: /rollback NUMBER [rules|conversation]; /rollback lists the checkpoints.")
	if err != nil {
		return err
	}
	return c.rollBackTo(ctx, c.listed[i].ID, scope, c.newest)
}

// rollBackTo rolls back to a checkpoint. newest is the newest step that the user has seen;
// if there are newer steps, rollBackTo shows all steps that would be undone and asks.
func (c *console) rollBackTo(ctx context.Context, id string, scope checkpoint.Scope, newest string) error {
	back, err := c.workspace.Rollback(c.ctx, id, scope, newest)
	for changed, ok := errors.AsType[*assistant.PlanChanged](err); ok; changed, ok = errors.AsType[*assistant.PlanChanged](err) {
		c.showChanged(changed)
		for _, step := range changed.Steps {
			c.out.Indent(checkpointText(step))
		}
		if !c.yes(ctx, "Type yes to undo all of these: ") {
			c.nothingDone()
			return nil
		}
		back, err = c.workspace.Rollback(c.ctx, id, scope, changed.Newest)
	}
	if err != nil {
		return err
	}
	c.choices, c.listed = nil, nil
	c.out.Line("Rolled back to before “" + Name(back.Step.Description) + "”. Until you send a message, /undo rollback undoes the rollback.")
	if back.Text != "" {
		c.unsent = unsent{text: string(back.Text)}
		c.out.Label("The message was", Quote(back.Text))
		c.out.Line("/retry sends it again; /retry TEXT sends TEXT instead.")
	}
	c.warn(back.Warning)
	c.showChanges()
	return nil
}

// undo undoes the newest change, the last rollback, or the last command on pairs.
func (c *console) undo(ctx context.Context, what string) error {
	switch what {
	case "":
		return c.undoChange(ctx)
	case "rollback":
		return c.undoRollback(ctx)
	case "messages", "pairs": // pairs is the former name of messages
		out, err := c.workspace.UndoCommand(ctx)
		if errors.Is(err, workspace.ErrNothingToUndo) {
			return reply("There is no filter-line command, such as :star 2, to undo.")
		}
		if err == nil {
			c.changed(string("Undone: " + out.Undone() + "."))
		}
		return err
	}
	return reply("Usage: /undo for the newest change, /undo rollback, or /undo messages for the last command of a filter line, such as :star 2.")
}

// undoRollback undoes the last rollback. It asks first if another session made the
// rollback, or if steps made after the rollback would be lost.
func (c *console) undoRollback(ctx context.Context) error {
	warning, ask, err := c.workspace.UndoRollback(c.ctx, nil)
	for ask != nil {
		if ask.Changed {
			c.out.Label("Notice", "there have been changes since this question was shown.")
		}
		if ask.By != "" {
			c.out.Line("The last rollback was made by " + Name(ask.By) + ".")
		}
		if len(ask.Drops) > 0 {
			c.out.Line("Undoing the rollback loses these later steps:")
		}
		for _, step := range ask.Drops {
			c.out.Indent(checkpointText(step))
		}
		if !c.yes(ctx, "Type yes to undo the rollback: ") {
			c.nothingDone()
			return nil
		}
		warning, ask, err = c.workspace.UndoRollback(c.ctx, ask)
	}
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return reply("There is no rollback to undo.")
	}
	if err == nil {
		c.unsent, c.listed = unsent{}, nil
		c.changed("The rollback is undone.")
	}
	c.warn(warning)
	return err
}

// undoChange undoes the newest change. If the assistant made it, undoChange first asks whether
// to remove the messages too.
func (c *console) undoChange(ctx context.Context) error {
	step, ok, err := c.workspace.LastStep(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		return reply("There is no change to undo.")
	}
	scope := checkpoint.ScopeWindow
	if step.ByAssistant {
		c.out.Label("The assistant's change", checkpointText(step.Checkpoint))
		switch c.ask(ctx, "Type yes to undo it and remove "+assistant.Counted(step.Pairs, "message")+", or rules to undo only the change: ", "yes", "rules") {
		case "":
			c.nothingDone()
			return nil
		case "yes":
			scope = checkpoint.ScopeBoth
		}
	}
	return c.rollBackTo(ctx, step.ID, scope, step.ID)
}

// quit quits. It first asks what to do with unsaved changes.
func (c *console) quit(ctx context.Context, _ string) error {
	if !c.workspace.Unsaved() || !c.opts.Interactive || c.inputEnded {
		c.leave()
		return nil
	}
	plan, err := c.workspace.PlanDiscard("")
	if err != nil {
		return err
	}
	c.out.Indent(safetext.Strings(assistant.OthersLines(plan.Changes, c.workspace.Author()))...)
	c.out.Label("Question", "there are unsaved changes. save writes them, keep leaves them for next time, discard drops them, stay does not quit.")
	done := false
	switch c.ask(ctx, "Type save, keep, discard or stay: ", "save", "keep", "discard") {
	case "save":
		done, err = c.save(ctx)
	case "discard":
		done, err = c.discardShown(ctx, plan.Digest)
	case "keep":
		done = true
	}
	if done {
		c.leave()
	} else if !c.inputEnded {
		c.out.Line("Not quitting.")
	}
	return err
}
