package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

// filter shows the filter, or sets it.
func (c *console) filter(line string) error {
	if line != "" {
		return c.setFilter(line)
	}
	c.out.labelled("Filter", filterName(c.s.Filter()))
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
	found, err := get(c, func(ctx context.Context) (workspace.Filtered, error) { return c.w.SetFilter(ctx, line) })
	if err != nil {
		return err
	}
	for _, h := range found.Hints {
		c.out.line(h.String())
	}
	c.choices, c.counter = nil, c.s.Counter()
	c.out.line(assistant.Counted(len(found.Refs), "pair") + ". " + c.contextText())
	return nil
}

// execute executes the :command of a filter line. A change of many pairs, or for
// good, is asked about.
func (c *console) execute(line string) error {
	cmd, err := get(c, func(ctx context.Context) (history.Command, error) { return c.w.PlanCommand(ctx, line) })
	if err != nil {
		return err
	}
	does := upperFirst(cmd.Describe())
	switch cmd.Confirm() {
	case history.ConfirmNewTopic:
		does = "There is no topic " + cmd.Topic + ". Create it? " + does + "."
	case history.ConfirmDelete:
		does += " for good?"
	case history.ConfirmMany:
		does += "?"
	default:
		return c.executed(cmd, line)
	}
	if c.turn != nil { // its question may come
		return assistant.ErrBusy
	}
	c.out.labelled("Question", does)
	c.askYes("Type yes to do it: ", func() error { return c.executed(cmd, line) })
	return nil
}

func (c *console) executed(cmd history.Command, line string) error {
	out, err := get(c, func(ctx context.Context) (history.Outcome, error) { return c.w.Execute(ctx, cmd, line) })
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
	out, err := c.w.UndoCommand(c.ctx)
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return hint("There is no command on pairs to undo.")
	}
	if err == nil {
		c.out.line("Undone: " + out.Undone() + ".")
		c.showChanges()
	}
	return err
}

func (c *console) listSessions(text string) error {
	all, err := c.w.Sessions(c.ctx)
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
		return hint("There is no such session with messages.")
	}
	c.numbered("Sessions, /session and the number resumes one:", len(c.sessions), func(i int) string {
		s := c.sessions[i]
		about := []string{assistant.Counted(s.Pairs, "pair"), s.Used.Local().Format("2006-01-02 15:04")}
		if s.Folder != "" {
			about = append(about, visibleLine(s.Folder))
		}
		if s.ID == c.s.ID() {
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
	if id == c.s.ID() {
		return hint("This is that session.")
	}
	return c.switchSession("Type yes to resume that session: ", "The session continues; /pairs lists its messages. Unsaved changes stay.",
		func(yes bool) (*workspace.Confirm, error) { return c.w.ResumeSession(c.ctx, id, yes) })
}

// newSession starts a new session; it asks when something is unsaved.
func (c *console) newSession(string) error {
	return c.switchSession("Type yes for a new session: ", "A new session. Earlier messages are not sent any more; unsaved changes stay.",
		func(yes bool) (*workspace.Confirm, error) { return c.w.NewSession(c.ctx, yes) })
}

func (c *console) switchSession(prompt, done string, change func(yes bool) (*workspace.Confirm, error)) error {
	before := c.s.ID()
	return c.confirmed(func(yes bool) (*workspace.Confirm, error) {
		confirm, err := change(yes)
		if confirm == nil && (err == nil || c.s.ID() != before) { // also when only its pairs cannot be read
			c.choices, c.unsent, c.failed, c.late = nil, "", 0, nil
			c.out.line(done)
			c.showChanges()
		}
		return confirm, err
	}, "There are unsaved changes; they stay.", prompt)
}
