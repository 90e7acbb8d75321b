package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
)

// filter shows the filter, or sets it.
func (c *console) filter(line string) error {
	if line != "" {
		return c.setFilter(line)
	}
	c.out.labelled("Filter", filterName(c.session.Filter()))
	return nil
}

func filterName(line string) string {
	switch line {
	case "":
		return "none, all pairs of all sessions"
	case "x":
		return "x, the pairs of this session"
	}
	return line
}

// setFilter makes what a line matches the view, or executes its :command.
func (c *console) setFilter(line string) error {
	if q, err := filter.Parse(line); err == nil && q.Command != nil {
		return c.execute(line)
	}
	found, err := interruptible(c, func(ctx context.Context) (workspace.Filtered, error) { return c.workspace.SetFilter(ctx, line) })
	if err != nil {
		return err
	}
	for _, h := range found.Hints {
		c.out.line(h.String())
	}
	c.choices, c.counter = nil, c.session.Counter()
	c.out.line(assistant.Counted(len(found.Refs), "pair") + ". " + c.contextText())
	return nil
}

// execute executes the :command of a filter line. A change of many pairs, or for
// good, is asked about.
func (c *console) execute(line string) error {
	cmd, err := interruptible(c, func(ctx context.Context) (transfer.Command, error) { return c.workspace.PlanCommand(ctx, line) })
	if err != nil {
		return err
	}
	does := upperFirst(cmd.Describe())
	switch cmd.Confirm() {
	case transfer.ConfirmNewTopic:
		does = "There is no topic " + cmd.Topic + ". Create it? " + does + "."
	case transfer.ConfirmDelete:
		does += " for good?"
	case transfer.ConfirmMany:
		does += "?"
	default:
		return c.runCommand(cmd, line)
	}
	if c.turn != nil { // its question may come
		return assistant.ErrBusy
	}
	c.out.labelled("Question", does)
	c.askYes("Type yes to do it: ", func() error { return c.runCommand(cmd, line) })
	return nil
}

func (c *console) runCommand(cmd transfer.Command, line string) error {
	out, err := interruptible(c, func(ctx context.Context) (transfer.Outcome, error) { return c.workspace.Execute(ctx, cmd, line) })
	if err != nil {
		return err
	}
	for _, f := range out.Filters {
		c.out.indented("@" + f.Name + ": " + f.Line)
	}
	if out.Text != "" {
		c.out.line(upperFirst(out.Text) + ".")
	}
	if out.CanUndo() {
		c.out.line("/undo-pairs undoes it.")
	}
	c.showChanges()
	return nil
}

func (c *console) undoPairs(string) error {
	out, err := c.workspace.UndoCommand(c.ctx)
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return reply("There is no command on pairs to undo.")
	}
	if err == nil {
		c.out.line("Undone: " + out.Undone() + ".")
		c.showChanges()
	}
	return err
}

func (c *console) listSessions(text string) error {
	all, err := c.workspace.Sessions(c.ctx)
	if err != nil {
		return err
	}
	c.sessions = nil
	for _, s := range all {
		if strings.Contains(strings.ToLower(s.Title+" "+s.Folder), strings.ToLower(text)) {
			c.sessions = append(c.sessions, s)
		}
	}
	if len(c.sessions) == 0 {
		return reply("There is no such session with messages.")
	}
	c.numbered("Sessions, /session and the number resumes one:", len(c.sessions), func(i int) string {
		s := c.sessions[i]
		about := []string{assistant.Counted(s.Pairs, "pair"), s.Used.Local().Format("2006-01-02 15:04")}
		if s.Folder != "" {
			about = append(about, visibleLine(s.Folder))
		}
		if s.ID == c.session.ID() {
			about = append(about, "this one")
		}
		return fmt.Sprintf("%s (%s)", oneLine(s.Title), strings.Join(about, ", "))
	}, "/sessions TEXT finds those with TEXT in their first message or folder")
	return nil
}

// resume continues a session of the last list; it asks when something is unsaved.
func (c *console) resume(number string) error {
	i, err := index(number, len(c.sessions), "There is no session of that number; /sessions lists and numbers them.")
	if err != nil {
		return err
	}
	id := c.sessions[i].ID
	if id == c.session.ID() {
		return reply("That is the current session.")
	}
	return c.switchSession("Type yes to resume that session: ", "The session continues; /pairs lists its messages. Unsaved changes stay.",
		func(yes bool) (*workspace.Confirm, error) { return c.workspace.ResumeSession(c.ctx, id, yes) })
}

// newSession starts a new session; it asks when something is unsaved.
func (c *console) newSession(string) error {
	return c.switchSession("Type yes for a new session: ", "A new session. Earlier messages are not sent any more; unsaved changes stay.",
		func(yes bool) (*workspace.Confirm, error) { return c.workspace.NewSession(c.ctx, yes) })
}

func (c *console) switchSession(prompt, done string, change func(yes bool) (*workspace.Confirm, error)) error {
	before := c.session.ID()
	return c.withConfirm(func(yes bool) (*workspace.Confirm, error) {
		confirm, err := change(yes)
		if confirm == nil && (err == nil || c.session.ID() != before) { // also when only its pairs cannot be read
			c.choices, c.unsent, c.failedSeq, c.queuedLate = nil, "", 0, nil
			c.out.line(done)
			c.showChanges()
		}
		return confirm, err
	}, "There are unsaved changes; they stay.", prompt)
}
