package plain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

// listPairs lists messages by their number in view; the oldest is 1.
func (c *console) listPairs(args string) {
	refs, b, n := c.s.Visible(), c.s.Boundary(), 10
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			c.out.line("/pairs and a number: how many.")
			return
		}
	}
	if len(refs) == 0 {
		c.out.line("There are no pairs in view.")
		return
	}
	from := max(0, len(refs)-n)
	var seqs []int64
	at := map[int64]int{}
	for i, r := range refs[from:] {
		seqs, at[r.Seq] = append(seqs, r.Seq), from+i
	}
	pairs, err := c.s.Pairs(c.ctx, seqs)
	if err != nil {
		c.fail(err)
		return
	}
	c.out.line(fmt.Sprintf("Pairs %d to %d of %d:", from+1, len(refs), len(refs)))
	for i := range pairs {
		p := &pairs[i]
		c.indented(fmt.Sprintf("%d %s%s", at[p.Seq]+1, oneLine(p.UserText), pairMarks(p, b.Includes(at[p.Seq]))))
	}
}

// pairMarks are the marks that a screen shows at a pair, as words.
func pairMarks(p *assistant.Pair, included bool) string {
	var all []string
	if !included {
		all = append(all, "not sent")
	}
	if p.State == assistant.PairError {
		all = append(all, "error "+p.ErrorCode)
	}
	if p.State == assistant.PairSending {
		all = append(all, "running")
	}
	if n := len(p.ToolCalls); n > 0 {
		all = append(all, assistant.Counted(n, "tool call"))
	}
	if p.Star > 0 {
		all = append(all, assistant.Counted(p.Star, "star"))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// pairNumbered loads the pair of a number in view; "" is the last.
func (c *console) pairNumbered(number string) (*assistant.Pair, bool) {
	refs := c.s.Visible()
	if number == "" {
		number = strconv.Itoa(len(refs))
	}
	i, ok := c.index(number, len(refs), fmt.Sprintf("There is no such pair; %s in view. /pairs lists them.", are(len(refs))))
	if !ok {
		return nil, false
	}
	return c.pair(refs[i].Seq)
}

func (c *console) pair(seq int64) (*assistant.Pair, bool) {
	pairs, err := c.s.Pairs(c.ctx, []int64{seq})
	if err == nil && len(pairs) == 0 {
		err = assistant.ErrNoPair
	}
	if err != nil {
		c.fail(err)
		return nil, false
	}
	return &pairs[0], true
}

// readPair shows a pair with everything in it.
func (c *console) readPair(number string) {
	p, ok := c.pairNumbered(number)
	if !ok {
		return
	}
	whole := func(label, text string) {
		w := sentenceWriter{out: c.out, label: label, width: c.o.Width}
		w.write(text)
		w.end()
	}
	c.out.labelled("You", p.UserText)
	if p.Reasoning != "" && c.thinking {
		whole("Thinking", p.Reasoning)
	}
	var calls []assistant.ToolCall
	for _, call := range p.ToolCalls {
		if !call.Silent {
			calls = append(calls, call)
		}
	}
	for _, piece := range assistant.Pieces(p.AssistantText, len(calls)) {
		if piece.Call < 0 {
			whole("Assistant", strings.TrimSpace(piece.Text))
		} else {
			c.readCall(calls[piece.Call])
		}
	}
	for _, payload := range p.Payloads {
		c.out.labelled(typeName(payload.Type), strings.TrimSpace(payload.Summary+" "+payload.Decision))
	}
	if p.Notice != "" {
		c.out.labelled("Notice", p.Notice)
	}
	if p.State == assistant.PairError {
		c.out.labelled("Error ("+p.ErrorCode+")", p.ErrorMessage)
	}
}

func (c *console) readCall(call assistant.ToolCall) {
	c.out.labelled("Tool", visible(call.Name+" "+string(call.Arguments)))
	switch r := call.Result; {
	case r == nil:
		c.out.line("It did not run.")
	case r.Success:
		c.out.labelled("Done", r.Message)
	default:
		c.out.labelled("Failed ("+r.ErrorCode+")", r.Message)
	}
}

// retry sends again what failed or was cancelled; of a good answer, the last one
// only, it makes a new one.
func (c *console) retry(string) {
	seq := c.failed
	if seq == 0 && c.unsent != "" {
		c.dispatch(assistant.Prompt{Text: c.unsent})
		return
	}
	if seq == 0 {
		p, ok := c.pairNumbered("")
		if !ok {
			return
		}
		seq = p.Seq
	}
	again := func(confirmed bool) *workspace.Confirm {
		r, confirm, err := c.w.Retry(c.ctx, seq, confirmed)
		switch {
		case err != nil:
			c.fail(err)
		case confirm == nil:
			c.dispatch(r.Prompt)
		}
		return confirm
	}
	if again(false) != nil {
		c.out.line("The last answer changed the window. That stays; a new answer may change it again. /undo undoes either.")
		c.askYes("Type yes for a new answer: ", func() { again(true) })
	}
}

// reAsk sends other words in place of what failed.
func (c *console) reAsk(text string) {
	if c.failed == 0 && c.unsent == "" {
		p, ok := c.pairNumbered("")
		if !ok {
			return
		}
		c.unsent = p.UserText
		if p.State == assistant.PairError {
			c.failed = p.Seq
		}
	}
	if c.failed != 0 {
		if _, _, err := c.w.BeginReAsk(c.ctx, c.failed); err != nil {
			c.fail(err)
			return
		}
	}
	if text != "" {
		c.send(text)
		return
	}
	c.out.labelled("The message was", c.unsent)
	c.out.line("The next message takes its place.")
}

// queued shows, sends or drops the queued message.
func (c *console) queued(args string) {
	p, waits := c.w.Queued()
	switch {
	case !waits:
		c.out.line("No message waits.")
	case args == "drop":
		if _, _, err := c.w.DropQueued(c.ctx); err != nil {
			c.fail(err)
		}
		c.unsent, c.failed = p.Text, 0
		c.out.line("Dropped; /retry sends it.")
	case args == "send" && c.turn == nil:
		c.w.TakeQueued()
		c.dispatch(assistant.Prompt{Text: p.Text, Attachments: p.Attachments})
	default:
		c.out.labelled("Queued", oneLine(p.Text))
	}
}

// deletePair deletes a pair; it asks, unless the pair failed.
func (c *console) deletePair(number string) {
	if number == "" {
		c.out.line("/delete and the number of a pair; /pairs lists them.")
		return
	}
	p, ok := c.pairNumbered(number)
	if !ok {
		return
	}
	remove := func(confirmed bool) *workspace.Confirm {
		confirm, err := c.w.Delete(c.ctx, []int64{p.Seq}, confirmed)
		switch {
		case err != nil:
			c.fail(err)
		case confirm == nil:
			if c.failed == p.Seq {
				c.failed = 0
			}
			c.out.line("Deleted: " + oneLine(p.UserText))
			c.showChanges()
		}
		return confirm
	}
	if remove(false) != nil {
		c.out.labelled("Pair "+number, oneLine(p.UserText))
		c.askYes("Type yes to delete it for good: ", func() { remove(true) })
	}
}

// mark changes what the user sets on a pair, and shows what it is now.
func (c *console) mark(number string, change func(p *assistant.Pair) (text string, err error)) {
	p, ok := c.pairNumbered(number)
	if !ok {
		return
	}
	text, err := change(p)
	if err == nil {
		c.out.line(fmt.Sprintf("%s: %s", oneLine(p.UserText), text))
		if err = c.w.Refilter(c.ctx); errors.Is(err, workspace.ErrNoHistory) {
			err = nil
		}
	}
	if err != nil {
		c.fail(err)
		return
	}
	c.showChanges()
}

func (c *console) star(args string) {
	number, stars, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(strings.TrimSpace(stars))
	const most = 3
	if err != nil || n < 0 || n > most {
		c.out.line("/star, the number of a pair, and 0 to 3; /pairs lists the pairs.")
		return
	}
	c.mark(number, func(p *assistant.Pair) (string, error) {
		return assistant.Counted(n, "star"), c.w.SetStars(c.ctx, p.Seq, n)
	})
}

func (c *console) flag(number string) {
	c.mark(number, func(p *assistant.Pair) (string, error) {
		flag, err := c.w.ToggleFlag(c.ctx, p.Seq)
		if flag {
			return "blue flag", err
		}
		return "grey flag", err
	})
}

// topic shows the topics, or gives new messages one.
func (c *console) topic(path string) {
	if path != "" {
		if path == "none" {
			path = ""
		}
		c.s.SetTopic(history.TopicPath(path))
	}
	name := "none"
	if c.s.Topic() != "" {
		name = oneLine(c.s.Topic())
	}
	c.out.labelled("Topic of new messages", name)
	if path == "" {
		topics, _ := c.w.Names(c.ctx)
		for _, t := range topics {
			c.indented(oneLine(t))
		}
	}
}
