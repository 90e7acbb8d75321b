package plain

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// carry does what the window asks for.
func (c *console) carry(w pane.Action) {
	switch w := w.(type) {
	case pane.Edit:
		c.edit(w)
	case pane.Notify:
		c.out.line(w.Text)
	case pane.SetFilter:
		c.apply(w.Line)
	case pane.Pick:
		c.pick(w)
	case pane.Confirm:
		c.out.labelled("Question", w.Title)
		for _, l := range w.Lines {
			c.out.line("  " + l)
		}
		c.askYes("Type yes to "+w.Yes+": ", func() { c.carry(w.Then()) })
	case pane.Run:
		c.runAction(w)
	case pane.Nothing:
	}
}

// edit changes the window by hand, as one step that can be undone.
func (c *console) edit(e pane.Edit) {
	if err := c.s.Edit(e.Description, e.Change); err != nil {
		c.fail(err)
		return
	}
	c.o.Window.Changed()
	c.out.line(e.Notice() + ". /undo takes it back.")
	c.tell()
}

func (c *console) runAction(w pane.Run) {
	c.out.line(w.Doing)
	said := ""
	err := c.work(func(ctx context.Context) (err error) {
		said, err = w.Run(ctx)
		return err
	})
	c.o.Window.Changed()
	if err != nil {
		c.fail(err)
		return
	}
	c.out.line(said)
	c.tell()
}

// pick lets the user choose from a list by its number.
func (c *console) pick(w pane.Pick) {
	c.out.labelled("Question", w.Title)
	for i, e := range w.Entries {
		c.out.line(fmt.Sprintf("  %d %s", i+1, entryWords(e)))
	}
	c.ask(question{
		prompt: "Type a number: ",
		take: func(answer string) bool {
			n, err := strconv.Atoi(answer)
			if err != nil || n < 1 || n > len(w.Entries) {
				return false
			}
			c.carry(w.Then(w.Entries[n-1].Value))
			return true
		},
		no: func() { c.out.line("Nothing was chosen.") },
	})
}

func entryWords(e overlay.Entry) string {
	return strings.TrimSpace(shown(e.Text) + "  " + shown(e.Extra))
}

// listRules reads the rules of the window.
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
	for _, r := range rules {
		c.out.line("  " + r)
	}
	c.out.line(l.Summary())
}

// plan shows what a save would change; it reports whether there is anything.
func (c *console) plan() (k pane.Saver, changes bool) {
	k, ok := c.o.Window.(pane.Saver)
	if !ok {
		c.out.line("There is nothing to save here.")
		return nil, false
	}
	var lines []string
	err := c.work(func(ctx context.Context) (err error) {
		lines, changes, err = k.Plan(ctx, style.New(style.Options{Colors: style.None}))
		return err
	})
	switch {
	case err != nil:
		c.fail(err)
		return nil, false
	case !changes:
		c.out.line("Nothing to save: the file says the same.")
		return nil, false
	}
	for _, l := range lines {
		c.out.line("  " + l)
	}
	return k, true
}

func (c *console) showChanges(string) { c.plan() }

func (c *console) save(string) { c.saveThen(func() {}) }

// saveThen shows what would be written, writes when the user says so, and goes on.
func (c *console) saveThen(then func()) {
	k, changes := c.plan()
	if !changes {
		then()
		return
	}
	c.askYes("Type yes to save: ", func() {
		said := ""
		err := c.work(func(ctx context.Context) (err error) {
			said, err = k.Save(ctx)
			return err
		})
		if err == nil {
			err = c.s.Saved()
		}
		c.o.Window.Changed()
		c.unsaved = c.isUnsaved()
		if err != nil {
			c.fail(err)
			return
		}
		c.out.labelled("Saved", said)
		then()
	})
}

func (c *console) discard(string) {
	k, changes := c.plan()
	if !changes {
		return
	}
	c.askYes("Type yes to discard these changes: ", func() { c.edit(pane.Edit{Description: "Discarded the unsaved changes", Change: k.Discard}) })
}

// renew begins a new session; it asks when something is unsaved.
func (c *console) renew(string) {
	begin := func() {
		if err := c.fresh(); err != nil {
			c.fail(err)
			return
		}
		c.choices, c.again, c.late = nil, again{}, nil
		c.counter = c.s.Counter()
		c.out.line("A new session. Earlier messages are not sent any more; unsaved changes stay.")
	}
	if !c.isUnsaved() {
		begin()
		return
	}
	c.askYes("There are unsaved changes; they stay. Type yes for a new session: ", begin)
}

// fresh begins a new session, where there is a history in the place of this one.
func (c *console) fresh() error {
	if c.o.History == nil {
		return c.s.Renew(c.ctx)
	}
	return history.RenewSession(c.ctx, c.o.History, c.s)
}

// quit leaves, and asks first what becomes of unsaved changes.
func (c *console) quit() {
	if c.turn != nil {
		c.leaving = true
		c.cancel()
		return
	}
	k, keeps := c.o.Window.(pane.Saver)
	if !keeps || !c.isUnsaved() || !c.o.Interactive || c.ended {
		c.leave()
		return
	}
	c.out.labelled("Question", "there are unsaved changes. save writes them, keep leaves them for next time, discard drops them, stay does not quit.")
	c.ask(question{
		prompt: "Type save, keep, discard or stay: ",
		take: func(answer string) bool {
			switch strings.ToLower(answer) {
			case "save":
				c.saveThen(c.leave)
			case "keep":
				c.leave()
			case "discard":
				c.edit(pane.Edit{Description: "Discarded on quitting", Change: k.Discard})
				c.leave()
			default:
				return false
			}
			return true
		},
		no: func() {
			if c.ended {
				return // leaving anyway
			}
			c.out.line("You stay.")
		},
	})
}

// setThinking says whether the text of the thinking is read.
func (c *console) setThinking(args string) {
	switch args {
	case "on":
		c.thinking = true
	case "off":
		c.thinking = false
	case "":
		c.thinking = !c.thinking
	default:
		c.out.line("/thinking on or /thinking off")
		return
	}
	if c.thinking {
		c.out.line("The thinking is read.")
	} else {
		c.out.line("The thinking is not read.")
	}
}

// queueDo sends or drops the message that waits after a turn that failed.
func (c *console) queueDo(args string) {
	p, waits := c.s.Queued()
	switch {
	case !waits:
		c.out.line("No message waits.")
	case args == "drop":
		c.s.TakeQueued()
		c.again = again{text: p.Text}
		c.keepSent(p.Text)
		c.out.line("Dropped; /retry sends it.")
	case args == "send" && c.turn == nil:
		c.s.TakeQueued()
		c.dispatch(assistant.Prompt{Text: p.Text, Attachments: p.Attachments})
	default:
		c.out.labelled("Queued", oneLine(p.Text))
	}
}
