package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// filter makes what a line selects the view. An error applies nothing.
func (c *console) filter(line string) {
	if line == "" {
		c.out.labelled("Filter", filterName(c.s.Filter()))
		return
	}
	c.apply(line)
}

func (c *console) showAll(string) { c.apply("") }

func (c *console) apply(line string) {
	if c.o.History == nil {
		c.out.line("Without a history there is only this session.")
		return
	}
	q, err := filter.Parse(line)
	if err != nil {
		c.complain("Filter", err.Error())
		return
	}
	if q.Command != nil {
		c.order(q, line)
		return
	}
	r, err := c.search(q)
	if err != nil {
		c.fail(err)
		return
	}
	c.rememberLine(line)
	for _, h := range r.Hints {
		c.out.line(h.String())
	}
	c.s.SetView(r.Refs, line, budget.FilterExecuted)
	c.choices = nil
	c.counter = c.s.Counter()
	c.out.line(assistant.Counted(len(r.Refs), "pair") + ". " + c.contextWords())
}

func (c *console) search(q *filter.Query) (history.Result, error) {
	var r history.Result
	err := c.work(func(ctx context.Context) (err error) {
		r, err = c.o.History.Filter(ctx, q, c.env())
		return err
	})
	return r, err
}

// refilter evaluates the active line again, after pairs have changed.
func (c *console) refilter() {
	q, err := filter.Parse(c.s.Filter())
	if err != nil {
		return // the line was applied before, so it can be read
	}
	r, err := c.search(q)
	if err != nil {
		c.fail(err)
		return
	}
	c.s.RefreshView(r.Refs, c.s.Filter())
	c.tell()
}

// env is what a line depends on now.
func (c *console) env() history.Env { return history.EnvOf(c.s, c.o.Now()) }

// showRequest reads the exact request that a text would send.
func (c *console) showRequest(text string) {
	if text == "" {
		text = c.again.text
	}
	_, body, err := c.s.Request(c.ctx, text)
	if err != nil {
		c.fail(err)
		return
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(body)
	}
	for l := range strings.SplitSeq(pretty.String(), "\n") {
		c.out.line(l)
	}
}
