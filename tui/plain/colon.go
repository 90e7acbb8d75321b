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
	var o history.Order
	err := c.work(func(ctx context.Context) (err error) {
		o, err = c.o.History.Order(ctx, q, c.env())
		return err
	})
	if err == nil {
		err = o.Refused()
	}
	if err != nil {
		c.complain("Filter", err.Error())
		return
	}
	title, more := o.Question()
	switch {
	case c.turn != nil && o.Verb == filter.Delete && !o.DryRun, c.turn != nil && title != "": // one question at a time
		c.fail(assistant.ErrBusy)
	case title == "":
		c.carryOut(o, line)
	default:
		c.out.labelled("Question", strings.Join(append([]string{title}, more...), " "))
		c.askYes("Type yes to do it: ", func() { c.carryOut(o, line) })
	}
}

// carryOut does it and says what was done.
func (c *console) carryOut(o history.Order, line string) {
	out, err := c.o.History.CarryOut(c.ctx, o, c.s)
	if err != nil {
		c.fail(err)
		return
	}
	c.rememberLine(line)
	for _, f := range out.Filters {
		c.out.line("  @" + f.Name + ": " + f.Line)
	}
	if out.Said != "" {
		c.out.line(strings.ToUpper(out.Said[:1]) + out.Said[1:] + ".")
	}
	if out.CanTakeBack() {
		c.orders = append(c.orders, out)
		c.orders = c.orders[max(0, len(c.orders)-history.KeptOutcomes):]
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
	if err := c.o.History.TakeBack(c.ctx, last); err != nil {
		c.fail(err)
		return
	}
	c.orders = c.orders[:n-1]
	c.out.line("Taken back: " + last.TakenBack() + ".")
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
