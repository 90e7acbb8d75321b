package plain

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// perform does what the window asks for.
func (c *console) perform(a pane.Action) {
	switch a := a.(type) {
	case pane.Edit:
		c.edit(a)
	case pane.Notify:
		c.out.line(a.Text)
	case pane.SetFilter:
		c.setFilter(a.Line)
	case pane.Pick:
		c.pick(a)
	case pane.Confirm:
		c.out.labelled("Question", a.Title)
		c.indented(a.Lines...)
		prompt := "Type yes to " + a.Yes
		answers := map[string]func(){"yes": func() { c.perform(a.Then()) }}
		for _, more := range a.More {
			prompt += ", " + more.Key + " to " + more.Label
			answers[more.Key] = func() { c.perform(more.Then()) }
		}
		c.ask(prompt+": ", answers, func() { c.out.line("Nothing was done.") })
	case pane.Run:
		c.out.line(a.Doing)
		notice := ""
		ok := c.run(func(ctx context.Context) (err error) { notice, err = a.Run(ctx); return err })
		c.o.Window.Changed()
		if ok {
			c.out.line(notice)
			c.showChanges()
		}
	case pane.Nothing:
	}
}

// edit changes the window, as one step that can be undone.
func (c *console) edit(e pane.Edit) {
	if err := c.w.Edit(e.Description, e.Change); err != nil {
		c.fail(err)
		return
	}
	c.o.Window.Changed()
	c.out.line(e.Notice() + ". /undo undoes it.")
	c.showChanges()
}

// pick lets the user choose from a list by its number.
func (c *console) pick(p pane.Pick) {
	c.out.labelled("Question", p.Title)
	for i, e := range p.Entries {
		c.indented(strings.TrimSpace(fmt.Sprintf("%d %s  %s", i+1, visibleLine(e.Text), visibleLine(e.Extra))))
	}
	c.ask("Type a number: ", nil, func() { c.out.line("Nothing was chosen.") })
	if c.question != nil {
		c.question.number = func(word string) bool {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > len(p.Entries) {
				return false
			}
			c.perform(p.Then(p.Entries[n-1].Value))
			return true
		}
	}
}

// choice is something that /1, /2… chooses: the next message, an action, or the
// answer to a proposal.
type choice struct {
	label    string
	message  string
	action   *assistant.SuggestedAction
	pair     int64 // of the proposal
	proposal string
	accept   bool
}

// ruleProposal is the type of payload that is accepted or rejected.
const ruleProposal = "rule_proposal"

// offer shows the choices of a pair, numbered as on the screen.
func (c *console) offer(seq int64) {
	pairs, err := c.s.Pairs(c.ctx, []int64{seq})
	if seq == 0 || err != nil || len(pairs) == 0 {
		return // the answer was shown; only its suggestions cannot be read
	}
	c.choices = nil
	for _, p := range pairs[0].Payloads {
		if p.Type == ruleProposal && p.Decision == "" {
			c.choices = append(c.choices, choice{label: "Accept: " + p.Summary, pair: seq, proposal: p.ID, accept: true},
				choice{label: "Reject it", pair: seq, proposal: p.ID})
		}
	}
	if s := pairs[0].Suggested; s != nil {
		for _, a := range s.Actions {
			c.choices = append(c.choices, choice{label: a.Label, action: &a})
		}
		for _, v := range s.Values {
			c.choices = append(c.choices, choice{label: v.Label, message: v.Value})
		}
	}
	c.listChoices("Choices")
}

func (c *console) listChoices(title string) {
	if len(c.choices) == 0 {
		return
	}
	c.out.line(title + ", a slash and the number chooses:")
	for i, ch := range c.choices {
		c.indented(fmt.Sprintf("/%d %s", i+1, visibleLine(ch.label)))
	}
}

func (c *console) choose(number string) {
	i, ok := c.index(number, len(c.choices), fmt.Sprintf("There is no choice %s; %s offered now.", visibleLine(number), are(len(c.choices))))
	if !ok {
		return
	}
	ch := c.choices[i]
	show := func(text string) {
		if c.o.Interactive {
			c.out.labelled("You", text)
		}
	}
	switch {
	case ch.proposal != "":
		c.decide(ch)
	case ch.action == nil:
		show(ch.message)
		c.dispatch(assistant.Prompt{Text: ch.message})
	case ch.action.Handler == "server":
		show(ch.label)
		c.dispatch(c.w.ActionPrompt(*ch.action))
	default:
		c.act(ch.action.Action)
	}
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// decide answers a proposal. Accepting it is a turn of its own.
func (c *console) decide(ch choice) {
	events, err := c.w.Decide(c.ctx, ch.pair, ch.proposal, ch.accept)
	switch {
	case err != nil:
		c.fail(err)
	case events == nil:
		c.out.line("Rejected; the assistant learns of it with your next message.")
		c.offer(ch.pair)
	default:
		c.follow(events, assistant.Prompt{Text: ch.label})
	}
}

// sameAs are the actions of windows that a command does.
var sameAs = map[string]string{
	"open-save": "save", "show-rules": "rules", "show-changes": "changes", "rollback": "checkpoints",
}

// act performs an action that an answer suggested: a command of this console, or
// one that the window knows.
func (c *console) act(action string) {
	name := strings.ReplaceAll(action, "_", "-")
	if same, ok := sameAs[name]; ok {
		name = same
	}
	if cmd := commandNamed(name); cmd != nil {
		cmd.run(c, "")
		return
	}
	if d, ok := c.o.Window.(doer); ok {
		a := d.Do(name)
		if _, nothing := a.(pane.Nothing); !nothing {
			c.perform(a)
			return
		}
	}
	c.listRules("")
}

func (c *console) listRules(string) {
	l, ok := c.o.Window.(Lister)
	if !ok {
		c.out.line("This window has nothing to list.")
		return
	}
	c.o.Window.Changed()
	rules := l.Rules()
	if len(rules) == 0 {
		c.out.line("There are no rules.")
	}
	c.indented(rules...)
	c.out.line(l.Summary())
}

func (c *console) listChanges(string) { c.planSave() }

// planSave shows what a save would change; it reports whether there is anything.
func (c *console) planSave() bool {
	var plan assistant.SavePlan
	if !c.run(func(ctx context.Context) (err error) { plan, err = c.w.PlanSave(ctx); return err }) {
		return false
	}
	st := style.New(style.Options{Colors: style.None})
	switch {
	case plan.Conflict != nil:
		c.out.labelled("Notice", pane.ConflictTitle(plan.Conflict)+".")
		c.indented(pane.ConflictLines(plan.Conflict, plan.Rules, &st.Icons)...)
		c.resolve()
		return false
	case plan.Empty():
		c.out.line("Nothing to save: the file says the same.")
		return false
	}
	c.indented(pane.SavePlanLines(plan, &st)...)
	return true
}

// resolve asks whose version of the rules holds when both sides changed them.
func (c *console) resolve() {
	load := func(drop bool) func() {
		return func() {
			if c.run(func(ctx context.Context) error {
				_, err := c.w.RefreshSaved(ctx, "Load the changed file", drop)
				return err
			}) {
				c.o.Window.Changed()
				c.out.line("The file was loaded. /changes shows what is unsaved now.")
				c.showChanges()
			}
		}
	}
	c.ask("Type mine to load their version and re-apply yours, theirs to drop yours: ",
		map[string]func(){"mine": load(false), "theirs": load(true)}, func() { c.out.line("Nothing was saved.") })
}

func (c *console) save(string) { c.saveThen(func() {}) }

// saveThen shows what would be written, writes after a yes, and continues.
func (c *console) saveThen(then func()) {
	if !c.planSave() {
		if c.question == nil {
			then()
		}
		return
	}
	c.askYes("Type yes to save: ", func() {
		var saved assistant.Saved
		ok := c.run(func(ctx context.Context) (err error) { saved, err = c.w.Save(ctx); return err })
		c.o.Window.Changed()
		c.unsaved = c.isUnsaved()
		if ok {
			c.out.labelled("Saved", saved.Message)
			then()
		}
	})
}

func (c *console) discard(string) {
	if c.planSave() {
		c.askYes("Type yes to discard these changes: ", c.discardNow)
	}
}

func (c *console) discardNow() {
	lost, err := c.w.Discard("Discarded the unsaved changes")
	if err != nil {
		c.fail(err)
		return
	}
	c.o.Window.Changed()
	c.out.line("Discarded " + assistant.Counted(len(lost), "unsaved change") + ". /undo undoes it.")
	c.showChanges()
}

// quit leaves, and asks first what becomes of unsaved changes.
func (c *console) quit(string) {
	check := c.w.QuitCheck()
	switch {
	case c.turn != nil:
		c.leaving = true
		c.cancel("")
	case !check.Unsaved || !c.o.Interactive || c.ended:
		c.leave()
	default:
		c.out.labelled("Question", "there are unsaved changes. save writes them, keep leaves them for next time, discard drops them, stay does not quit.")
		c.ask("Type save, keep, discard or stay: ", map[string]func(){
			"save": func() { c.saveThen(c.leave) }, "keep": c.leave, "discard": func() { c.discardNow(); c.leave() },
		}, func() {
			if !c.ended {
				c.out.line("You stay.")
			}
		})
	}
}
