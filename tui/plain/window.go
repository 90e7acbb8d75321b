package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// nothingDone says that a question was answered with no.
func (c *console) nothingDone() { c.out.line("Nothing was done.") }

// perform does what the window asks for.
func (c *console) perform(a pane.Action) error {
	switch a := a.(type) {
	case pane.Edit:
		return c.edit(a)
	case pane.Notify:
		c.out.line(a.Text)
	case pane.SetFilter:
		return c.setFilter(a.Line)
	case pane.Pick:
		c.pick(a)
	case pane.Confirm:
		c.out.labelled("Question", a.Title)
		c.out.indented(a.Lines...)
		prompt := "Type yes to " + a.Yes
		answers := map[string]func() error{"yes": func() error { return c.perform(a.Then()) }}
		for _, more := range a.More {
			prompt += ", " + more.Key + " to " + more.Label
			answers[more.Key] = func() error { return c.perform(more.Then()) }
		}
		c.ask(prompt+": ", answers, c.nothingDone)
	case pane.Run:
		c.out.line(a.Doing)
		notice, err := interruptible(c, a.Run)
		c.opts.Window.Changed()
		if err != nil {
			return err
		}
		c.out.line(notice)
		c.showChanges()
	case pane.Nothing:
	}
	return nil
}

// edit changes the window, as one step that can be undone.
func (c *console) edit(e pane.Edit) error {
	if err := c.workspace.Edit(e.Description, e.Change); err != nil {
		return err
	}
	c.changed(e.Notice() + ". /undo undoes it.")
	return nil
}

// changed reports a change of the window, and shows what follows from it.
func (c *console) changed(text string) {
	c.opts.Window.Changed()
	c.out.line(text)
	c.showChanges()
}

// pick lets the user choose from a list by its number.
func (c *console) pick(p pane.Pick) {
	c.out.labelled("Question", p.Title)
	answers := map[string]func() error{}
	for i, e := range p.Entries {
		answers[strconv.Itoa(i+1)] = func() error { return c.perform(p.Then(e.Value)) }
		c.out.indented(strings.TrimSpace(fmt.Sprintf("%d %s  %s", i+1, visibleLine(e.Text), visibleLine(e.Extra))))
	}
	c.ask("Type a number: ", answers, func() { c.out.line("Nothing was chosen.") })
}

// offer shows the choices of a pair, numbered as on the screen.
func (c *console) offer(seq int64) {
	pairs, err := c.session.Pairs(c.ctx, []int64{seq})
	if seq == 0 || err != nil || len(pairs) == 0 {
		return // the answer was shown; only its suggestions cannot be read
	}
	c.choices, c.choicesSeq = pane.Choices(&pairs[0], func(t string) bool { return t == pane.RuleProposal }), seq
	c.listChoices("Choices")
}

func (c *console) listChoices(title string) {
	if len(c.choices) == 0 {
		return
	}
	c.out.line(title + " (/NUMBER chooses):")
	for i, ch := range c.choices {
		c.out.indented(fmt.Sprintf("/%d %s", i+1, visibleLine(choiceText(ch))))
	}
}

// choiceText is a choice in words: a proposal is accepted by what it proposes.
func choiceText(ch pane.Choice) string {
	if ch.Accept {
		return ch.Label + ": " + ch.Summary
	}
	return ch.Label
}

func (c *console) choose(number string) error {
	i, err := index(number, len(c.choices), fmt.Sprintf("There is no choice %s; %s offered now.", visibleLine(number), countAre(len(c.choices))))
	if err != nil {
		return err
	}
	ch := c.choices[i]
	if ch.PayloadID != "" {
		return c.decide(ch)
	}
	p, isPrompt := ch.Prompt(c.workspace)
	if !isPrompt {
		return c.act(ch.Action.Action)
	}
	if c.opts.Interactive {
		c.out.labelled("You", cmp.Or(ch.Value, ch.Label))
	}
	c.dispatch(p)
	return nil
}

// decide answers a proposal. Accepting it is a turn of its own.
func (c *console) decide(ch pane.Choice) error {
	seq := c.choicesSeq
	events, err := c.workspace.Decide(c.ctx, seq, ch.PayloadID, ch.Accept)
	switch {
	case err != nil:
		return err
	case events == nil:
		c.out.line("Rejected; the assistant learns of it with your next message.")
		c.offer(seq)
	default:
		c.follow(events, assistant.Prompt{Text: choiceText(ch)})
	}
	return nil
}

// commandFor maps actions of the screen to commands of another name.
var commandFor = map[string]string{"show-rules": "rules", "show-changes": "changes", "rollback": "checkpoints"}

// act performs an action that an answer suggested: a command of this console, or
// one that the window knows.
func (c *console) act(action string) error {
	name := pane.ActionName(action)
	if cmd := commandNamed(cmp.Or(commandFor[name], name)); cmd != nil {
		return cmd.run(c, "")
	}
	a := c.opts.Window.Do(name)
	if _, nothing := a.(pane.Nothing); nothing {
		return c.listRules("")
	}
	return c.perform(a)
}

func (c *console) listRules(string) error {
	if c.opts.Rules == nil {
		return reply("This window has nothing to list.")
	}
	c.out.indented(c.opts.Rules()...)
	return nil
}

// planSave shows what a save would change; hasChanges reports whether there is
// anything.
func (c *console) planSave() (hasChanges bool, err error) {
	plan, err := interruptible(c, c.workspace.PlanSave)
	if err != nil {
		return false, err
	}
	st := style.New(style.Options{Profile: style.NoColor})
	switch {
	case plan.Conflict != nil:
		c.askConflict(plan, &st)
		return false, nil //nolint:nilerr // the conflict is asked about
	case plan.Empty():
		c.out.line("Nothing to save: the file has the same rules.")
		return false, nil
	}
	c.out.indented(pane.SavePlanLines(plan, &st)...)
	return true, nil
}

// askConflict asks which version to use when someone else has changed the file.
func (c *console) askConflict(plan assistant.SavePlan, st *style.Styles) {
	c.out.labelled("Notice", pane.ConflictTitle(plan.Conflict)+".")
	c.out.indented(pane.ConflictLines(plan.Conflict, plan.Rules, &st.Icons)...)
	load := func(drop bool) func() error {
		return func() error {
			_, err := interruptible(c, func(ctx context.Context) (assistant.Refreshed, error) {
				return c.workspace.RefreshSaved(ctx, "Load the changed file", drop)
			})
			if err == nil {
				c.changed("The file was loaded. /changes shows what is unsaved now.")
			}
			return err
		}
	}
	c.ask("Type mine to load their version and re-apply yours, theirs to drop yours: ",
		map[string]func() error{"mine": load(false), "theirs": load(true)}, func() { c.out.line("Nothing was saved.") })
}

// saveThen shows what would be written, writes after a yes, and continues.
func (c *console) saveThen(then func()) error {
	hasChanges, err := c.planSave()
	if err != nil {
		return err
	}
	if !hasChanges {
		if c.question == nil {
			then()
		}
		return nil
	}
	c.askYes("Type yes to save: ", func() error {
		saved, err := interruptible(c, c.workspace.Save)
		c.opts.Window.Changed()
		c.unsaved = c.isUnsaved()
		if err == nil {
			c.out.labelled("Saved", saved.Message)
			then()
		}
		return err
	})
	return nil
}

func (c *console) discard(string) error {
	hasChanges, err := c.planSave()
	if hasChanges {
		c.askYes("Type yes to discard these changes: ", c.discardNow)
	}
	return err
}

func (c *console) discardNow() error {
	lost, err := c.workspace.Discard("Discarded the unsaved changes")
	if err == nil {
		c.changed("Discarded " + assistant.Counted(len(lost), "unsaved change") + ". /undo undoes it.")
	}
	return err
}

// listCheckpoints lists the points to go back to, "Session start" first.
func (c *console) listCheckpoints(string) error {
	all := c.session.Checkpoints()
	if len(all) == 0 {
		return reply("There are no checkpoints.")
	}
	c.out.line("Checkpoints, /rollback and the number goes back to before it:")
	for i, p := range all {
		c.out.indented(strconv.Itoa(i+1) + " " + checkpointText(p))
	}
	return nil
}

func checkpointText(p checkpoint.Checkpoint) string {
	text := p.Time.Local().Format("15:04") + " " + visibleLine(p.Description)
	if effect := p.Effect(); effect != "" {
		text += ": " + oneLine(effect)
	}
	return text
}

var scopes = map[string]checkpoint.Scope{
	"": checkpoint.ScopeBoth, "both": checkpoint.ScopeBoth, "rules": checkpoint.ScopeRules, "conversation": checkpoint.ScopeConversation,
}

func (c *console) rollback(args string) error {
	number, what, _ := strings.Cut(args, " ")
	scope, known := scopes[strings.TrimSpace(what)]
	if !known {
		number = ""
	}
	all := c.session.Checkpoints()
	i, err := index(number, len(all), "/rollback, the number of a checkpoint, and perhaps rules or conversation. /checkpoints lists them.")
	if err != nil {
		return err
	}
	return c.reportRollback(c.workspace.Rollback(c.ctx, all[i].ID, scope))
}

func (c *console) reportRollback(back workspace.RolledBack, err error) error {
	if err != nil {
		return err
	}
	c.choices = nil
	c.out.line("Rolled back to before " + visibleLine(back.Step.Description) + ". /undo-rollback undoes that until the next message.")
	if back.Text != "" {
		c.unsent, c.failedSeq = back.Text, 0
		c.out.labelled("The message was", oneLine(back.Text))
		c.out.line("/retry sends it again, /reask asks with other words.")
	}
	c.opts.Window.Changed()
	c.showChanges()
	return nil
}

// undo undoes the newest change. It asks when that cuts the conversation.
func (c *console) undo(string) error {
	step, ok := c.workspace.UndoStep()
	undo := func(scope checkpoint.Scope) func() error {
		return func() error { return c.reportRollback(c.workspace.Undo(c.ctx, scope)) }
	}
	switch {
	case !ok:
		return reply("There is no change to undo.")
	case !step.ByAssistant:
		return undo(checkpoint.ScopeRules)()
	}
	c.out.labelled("The assistant's change", checkpointText(step.Checkpoint))
	c.ask("Type yes to undo it with its message, rules to undo only the change: ",
		map[string]func() error{"yes": undo(checkpoint.ScopeBoth), "rules": undo(checkpoint.ScopeRules)}, c.nothingDone)
	return nil
}

func (c *console) undoRollback(string) error {
	err := c.workspace.UndoRollback(c.ctx)
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return reply("There is no rollback to undo.")
	}
	if err == nil {
		c.unsent, c.failedSeq = "", 0
		c.changed("The rollback is undone.")
	}
	return err
}
