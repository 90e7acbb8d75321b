package plain

import (
	"context"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// order carries out the :command of a filter line. What changes many pairs, or
// for good, asks first.
func (c *console) order(q *filter.Query, line string) {
	var o history.Command
	err := c.work(func(ctx context.Context) (err error) {
		o, err = history.Prepare(ctx, c.o.History, q, c.env())
		return err
	})
	if err == nil {
		err = o.Refused()
	}
	if err != nil {
		c.complain("Filter", err.Error())
		return
	}
	question := commandQuestion(o)
	switch {
	case c.turn != nil && o.Verb == filter.Delete && !o.DryRun, c.turn != nil && question != "": // one question at a time
		c.fail(assistant.ErrBusy)
	case question == "":
		c.carryOut(o, line)
	default:
		c.out.labelled("Question", question)
		c.askYes("Type yes to do it: ", func() { c.carryOut(o, line) })
	}
}

// commandQuestion is what to confirm before a command is executed; "" is nothing.
func commandQuestion(o history.Command) string {
	what := o.Does()
	what = strings.ToUpper(what[:1]) + what[1:]
	switch o.Confirm() {
	case history.ConfirmNewTopic:
		return "There is no topic " + o.Topic + ". Create it? " + what + "."
	case history.ConfirmDelete:
		return what + " for good?"
	case history.ConfirmMany:
		return what + "?"
	default:
		return ""
	}
}

// carryOut does it and says what was done.
func (c *console) carryOut(o history.Command, line string) {
	out, err := history.Execute(c.ctx, c.o.History, o, c.s)
	if err != nil {
		c.fail(err)
		return
	}
	c.rememberLine(line)
	for _, f := range out.Filters {
		c.out.line("  @" + f.Name + ": " + f.Line)
	}
	if out.Text != "" {
		c.out.line(strings.ToUpper(out.Text[:1]) + out.Text[1:] + ".")
	}
	if out.CanUndo() {
		c.orders = append(c.orders, out)
		c.orders = c.orders[max(0, len(c.orders)-history.MaxUndo):]
		c.out.line("/undo-pairs takes it back.")
	}
	if o.Changes() && !o.DryRun {
		c.refilter()
	}
}

// undoPairs takes back what the last :command did.
func (c *console) undoPairs(string) {
	n := len(c.orders)
	if n == 0 {
		c.out.line("There is no command on pairs to take back.")
		return
	}
	last := c.orders[n-1]
	if err := history.Undo(c.ctx, c.o.History, last); err != nil {
		c.fail(err)
		return
	}
	c.orders = c.orders[:n-1]
	c.out.line("Taken back: " + last.Undone() + ".")
	c.refilter()
}

// rememberLine keeps a line that worked.
func (c *console) rememberLine(line string) {
	if line == "" {
		return
	}
	if err := c.o.History.AddFilterLine(c.ctx, line); err != nil {
		c.fail(err)
	}
}
