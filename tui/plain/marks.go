package plain

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
)

// mark changes what a user sets on a pair, and says what it is now.
func (c *console) mark(args, said string, change func(*assistant.Pair)) {
	p, ok := c.numbered(args)
	if !ok {
		return
	}
	if err := c.s.Mark(c.ctx, p.Seq, change); err != nil {
		c.fail(err)
		return
	}
	c.out.line(fmt.Sprintf("%s: %s", oneLine(p.UserText), said))
	c.refilter()
}

// star gives a pair stars: its number, and how many.
func (c *console) star(args string) {
	pair, stars, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(strings.TrimSpace(stars))
	const most = 3
	if err != nil || n < 0 || n > most {
		c.out.line("/star, the number of a pair, and 0 to 3; /pairs lists the pairs.")
		return
	}
	c.mark(pair, assistant.Counted(n, "star"), func(p *assistant.Pair) { p.Star = n })
}

// flag turns the flag of a pair over.
func (c *console) flag(args string) {
	p, ok := c.numbered(args)
	if !ok {
		return
	}
	said, flag := "blue flag", !p.Flag
	if !flag {
		said = "grey flag"
	}
	c.mark(args, said, func(p *assistant.Pair) { p.Flag = flag })
}

// topic gives the messages to come a topic.
func (c *console) topic(args string) {
	if args == "" {
		c.out.labelled("Topic of new messages", orNone(c.s.Topic()))
		if c.o.History == nil {
			return
		}
		paths, err := c.o.History.TopicPaths(c.ctx)
		if err != nil {
			c.fail(err)
			return
		}
		for _, path := range paths {
			c.out.line("  " + oneLine(path))
		}
		return
	}
	if args == "none" {
		args = ""
	}
	c.s.SetTopic(history.TopicPath(args))
	c.out.labelled("Topic of new messages", orNone(c.s.Topic()))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return oneLine(text)
}
