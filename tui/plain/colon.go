package plain

import (
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// manyPairs is how many pairs a command may change without asking.
const manyPairs = 50

// onSelected runs the :command of a filter line on the pairs that the line
// selects. What changes many of them, or for good, asks first.
func (c *console) onSelected(q *filter.Query, refs []assistant.Ref) {
	cmd := *q.Command
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	what := fmt.Sprintf(":%s on %s", cmd.Verb, count(len(seqs), "pair"))
	run := func() {
		said, err := c.runVerb(cmd, filter.PrintExpr(q.Expr), seqs)
		if err != nil {
			c.fail(err)
			return
		}
		c.out.line(said)
		c.refilter()
	}
	if cmd.Verb == filter.Delete {
		if why, unsafe := filter.UnsafeForDelete(q.Expr); unsafe {
			c.complain("Filter", why)
			return
		}
	}
	switch {
	case cmd.DryRun:
		c.out.line(what + " would be done.")
	case c.turn != nil && cmd.Verb == filter.Delete:
		c.fail(assistant.ErrBusy)
	case cmd.Verb == filter.Delete && len(seqs) > manyPairs && !cmd.Force:
		c.complain("Filter", fmt.Sprintf("%d pairs: more than %d are deleted only with --force", len(seqs), manyPairs))
	case cmd.Verb == filter.Delete, marking(cmd.Verb) && len(seqs) > manyPairs && !cmd.NoConfirm:
		if c.turn != nil {
			c.fail(assistant.ErrBusy) // one question at a time
			return
		}
		c.out.labelled("Question", what)
		c.askYes("Type yes to do it: ", run)
	default:
		run()
	}
}

func marking(v filter.Verb) bool {
	return slices.Contains([]filter.Verb{filter.SetTopic, filter.Star, filter.FlagOn, filter.FlagOff}, v)
}

// runVerb carries a command out and says what was done.
func (c *console) runVerb(cmd filter.Command, line string, seqs []int64) (string, error) {
	h := c.o.History
	yes, no, topic, stars := true, false, cmd.Topic, cmd.Stars
	if topic == "" {
		topic = c.s.Topic()
	}
	mark := history.Mark{}
	switch cmd.Verb {
	case filter.Export:
		return c.export(cmd, seqs)
	case filter.Save:
		return "Saved as @" + cmd.Name + ".", h.SaveFilter(c.ctx, cmd.Name, line)
	case filter.Forget:
		return "@" + cmd.Name + " is forgotten.", h.SaveFilter(c.ctx, cmd.Name, "")
	case filter.Filters:
		return c.savedFilters()
	case filter.Delete:
		return count(len(seqs), "pair") + " deleted.", c.s.Delete(c.ctx, seqs...)
	case filter.SetTopic:
		mark.Topic = &topic
	case filter.Star:
		mark.Star = &stars
	case filter.FlagOn:
		mark.Flag = &yes
	case filter.FlagOff:
		mark.Flag = &no
	}
	n, err := h.Mark(c.ctx, seqs, mark)
	return fmt.Sprintf(":%s on %s is done.", cmd.Verb, count(n, "pair")), err
}

func (c *console) savedFilters() (string, error) {
	saved, err := c.o.History.SavedFilters(c.ctx)
	if err != nil {
		return "", err
	}
	var all []string
	for name, line := range saved {
		all = append(all, "  @"+name+": "+line)
	}
	if len(all) == 0 {
		return "No filter is saved; a line with :save NAME saves it.", nil
	}
	slices.Sort(all)
	return strings.Join(all, "\n"), nil
}

// export writes pairs to a file.
func (c *console) export(cmd filter.Command, seqs []int64) (string, error) {
	format := cmd.Format
	if format == "" {
		format = "json"
	}
	path := cmd.Path
	if path == "" {
		path = "winnow-" + c.o.Now().Format("20060102-150405") + "." + format
	}
	err := c.o.History.ExportFile(c.ctx, path, cmd.Force, history.Format(format), history.ExportOptions{Seqs: seqs})
	if err != nil {
		return "", err
	}
	return count(len(seqs), "pair") + " exported to " + path + ".", nil
}
