package plain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/markup"
	"winnow/assistant/workspace"
)

// listPairs lists messages by their number in view; the oldest is 1.
func (c *console) listPairs(args string) error {
	refs, b, n := c.session.Visible(), c.session.Boundary(), 10
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return reply("Usage: /pairs NUMBER")
		}
	}
	if len(refs) == 0 {
		return reply("There are no pairs in view.")
	}
	from := max(0, len(refs)-n)
	var seqs []int64
	at := map[int64]int{}
	for i, r := range refs[from:] {
		seqs, at[r.Seq] = append(seqs, r.Seq), from+i
	}
	pairs, err := c.session.Pairs(c.ctx, seqs)
	if err != nil {
		return err
	}
	c.out.line(fmt.Sprintf("Pairs %d to %d of %d:", from+1, len(refs), len(refs)))
	for _, p := range pairs {
		c.out.indented(fmt.Sprintf("%d %s%s", at[p.Seq]+1, oneLine(p.UserText), pairMarks(&p, b.Includes(at[p.Seq]))))
	}
	return nil
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
func (c *console) pairNumbered(number string) (*assistant.Pair, error) {
	refs := c.session.Visible()
	if number == "" {
		number = strconv.Itoa(len(refs))
	}
	i, err := index(number, len(refs), fmt.Sprintf("There is no such pair; %s in view. /pairs lists them.", countAre(len(refs))))
	if err != nil {
		return nil, err
	}
	pairs, err := c.session.Pairs(c.ctx, []int64{refs[i].Seq})
	if err == nil && len(pairs) == 0 {
		err = assistant.ErrNoPair
	}
	if err != nil {
		return nil, err
	}
	return &pairs[0], nil
}

func countAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// readPair shows a pair with everything in it.
func (c *console) readPair(number string) error {
	p, err := c.pairNumbered(number)
	if err != nil {
		return err
	}
	whole := func(label, text string) {
		w := sentenceWriter{out: c.out, label: label}
		w.write(text)
		w.end()
	}
	c.out.labelled("You", p.UserText)
	if c.showReasoning {
		whole("Thinking", p.Reasoning)
	}
	var calls []assistant.ToolCall
	for _, call := range p.ToolCalls {
		if !call.Silent {
			calls = append(calls, call)
		}
	}
	for _, piece := range markup.Pieces(p.AssistantText, len(calls)) {
		if piece.Call < 0 {
			whole("Assistant", strings.TrimSpace(piece.Text))
		} else {
			c.readCall(calls[piece.Call])
		}
	}
	for _, payload := range p.Payloads {
		c.out.labelled(cardName(payload.Type), strings.TrimSpace(payload.Summary+" "+payload.Decision))
	}
	if p.Notice != "" {
		c.out.labelled("Notice", p.Notice)
	}
	if p.State == assistant.PairError {
		c.out.labelled("Error ("+p.ErrorCode+")", p.ErrorMessage)
	}
	return nil
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

// retry sends again what failed or was cancelled; without that it asks for the
// last answer anew.
func (c *console) retry(string) error {
	seq := c.failedSeq
	if seq == 0 && c.unsent != "" {
		c.dispatch(assistant.Prompt{Text: c.unsent})
		return nil
	}
	if seq == 0 {
		p, err := c.pairNumbered("")
		if err != nil {
			return err
		}
		seq = p.Seq
	}
	return c.withConfirm(func(yes bool) (*workspace.Confirm, error) {
		r, confirm, err := c.workspace.Retry(c.ctx, seq, yes)
		if err == nil && confirm == nil {
			c.dispatch(r.Prompt)
		}
		return confirm, err
	}, "The last answer changed the window. That stays; a new answer may change it again. /undo undoes either.", "Type yes for a new answer: ")
}

// withConfirm does something, after a confirmation if do asks for one: about and
// prompt are the question.
func (c *console) withConfirm(do func(yes bool) (*workspace.Confirm, error), about, prompt string) error {
	confirm, err := do(false)
	if confirm != nil {
		c.out.line(about)
		c.askYes(prompt, func() error { _, err := do(true); return err })
	}
	return err
}

// reAsk sends other words in place of what failed.
func (c *console) reAsk(text string) error {
	if c.failedSeq == 0 && c.unsent == "" {
		p, err := c.pairNumbered("")
		if err != nil {
			return err
		}
		c.unsent = p.UserText
		if p.State == assistant.PairError {
			c.failedSeq = p.Seq
		}
	}
	if c.failedSeq != 0 {
		if _, _, err := c.workspace.BeginReAsk(c.ctx, c.failedSeq); err != nil {
			return err
		}
	}
	if text != "" {
		c.send(text)
		return nil
	}
	c.out.labelled("The message was", c.unsent)
	return reply("The next message takes its place.")
}

// queued shows, sends or drops the queued message.
func (c *console) queued(args string) error {
	p, waits := c.workspace.Queued()
	switch {
	case !waits:
		return reply("No message is queued.")
	case args == "drop":
		_, _, err := c.workspace.DropQueued(c.ctx)
		c.unsent, c.failedSeq = p.Text, 0
		c.out.line("Dropped; /retry sends it.")
		return err
	case args == "send" && c.turn == nil:
		c.workspace.TakeQueued()
		c.dispatch(assistant.Prompt{Text: p.Text, Attachments: p.Attachments})
	default:
		c.out.labelled("Queued", oneLine(p.Text))
	}
	return nil
}

// deletePair deletes a pair; it asks, unless the pair failed.
func (c *console) deletePair(number string) error {
	if number == "" {
		return reply("Usage: /delete NUMBER; /pairs lists the numbers.")
	}
	p, err := c.pairNumbered(number)
	if err != nil {
		return err
	}
	return c.withConfirm(func(yes bool) (*workspace.Confirm, error) {
		confirm, err := c.workspace.Delete(c.ctx, []int64{p.Seq}, yes)
		if err == nil && confirm == nil {
			if c.failedSeq == p.Seq {
				c.failedSeq = 0
			}
			c.out.line("Deleted: " + oneLine(p.UserText))
			c.showChanges()
		}
		return confirm, err
	}, "Pair "+number+": "+oneLine(p.UserText), "Type yes to delete it for good: ")
}

// mark changes what the user sets on a pair, and shows what it is now.
func (c *console) mark(number string, change func(p *assistant.Pair) (text string, err error)) error {
	p, err := c.pairNumbered(number)
	if err != nil {
		return err
	}
	text, err := change(p)
	if err != nil {
		return err
	}
	c.out.line(fmt.Sprintf("%s: %s", oneLine(p.UserText), text))
	if err := c.workspace.Refilter(c.ctx); err != nil && !errors.Is(err, workspace.ErrNoHistory) {
		return err
	}
	c.showChanges()
	return nil
}

func (c *console) star(args string) error {
	number, stars, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(strings.TrimSpace(stars))
	if err != nil || n < 0 || n > 3 {
		return reply("Usage: /star NUMBER STARS, 0 to 3 of them; /pairs lists the numbers.")
	}
	return c.mark(number, func(p *assistant.Pair) (string, error) {
		return assistant.Counted(n, "star"), c.workspace.SetStars(c.ctx, p.Seq, n)
	})
}

func (c *console) flag(number string) error {
	return c.mark(number, func(p *assistant.Pair) (string, error) {
		flag, err := c.workspace.ToggleFlag(c.ctx, p.Seq)
		return map[bool]string{true: "blue flag", false: "grey flag"}[flag], err
	})
}

// topic shows the topics, or gives new messages one.
func (c *console) topic(path string) error {
	switch path {
	case "":
	case "none":
		c.session.SetTopic("")
	default:
		c.session.SetTopic(history.TopicPath(path))
	}
	name := "none"
	if c.session.Topic() != "" {
		name = oneLine(c.session.Topic())
	}
	c.out.labelled("Topic of new messages", name)
	if path == "" {
		topics, _ := c.workspace.TopicsAndFilters(c.ctx)
		for _, t := range topics {
			c.out.indented(oneLine(t))
		}
	}
	return nil
}
