package plain

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/checkpoint"
)

// pairsRead is how many pairs are listed when no number is given.
const pairsRead = 10

// listPairs reads what was said, a line for each pair. Pairs are numbered as
// they are in view, the oldest is 1.
func (c *console) listPairs(args string) {
	refs, b := c.s.Visible(), c.s.Boundary()
	n := pairsRead
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
	seqs := make([]int64, 0, n)
	for _, r := range refs[from:] {
		seqs = append(seqs, r.Seq)
	}
	pairs, err := c.s.Pairs(c.ctx, seqs)
	if err != nil {
		c.fail(err)
		return
	}
	c.out.line(fmt.Sprintf("Pairs %d to %d of %d:", from+1, len(refs), len(refs)))
	at := map[int64]int{}
	for i, r := range refs {
		at[r.Seq] = i
	}
	for i := range pairs {
		p := &pairs[i]
		c.out.line(fmt.Sprintf("  %d %s%s", at[p.Seq]+1, oneLine(p.UserText), marks(p, b.Includes(at[p.Seq]))))
	}
}

// marks are the signs of a pair as words.
func marks(p *assistant.Pair, included bool) string {
	var all []string
	if !included {
		all = append(all, "not sent")
	}
	switch p.State {
	case assistant.PairError:
		all = append(all, "error "+p.ErrorCode)
	case assistant.PairSending:
		all = append(all, "running")
	case assistant.PairIdle, assistant.PairComplete:
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

// numbered loads the pair that the user calls by its number; "" is the last.
func (c *console) numbered(args string) (*assistant.Pair, bool) {
	refs := c.s.Visible()
	n := len(refs)
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil {
			n = 0
		}
	}
	if n < 1 || n > len(refs) {
		c.out.line(fmt.Sprintf("There is no such pair; %s in view. /pairs lists them.", are(len(refs))))
		return nil, false
	}
	pairs, err := c.s.Pairs(c.ctx, []int64{refs[n-1].Seq})
	if err == nil && len(pairs) == 0 {
		err = assistant.ErrNoPair
	}
	if err != nil {
		c.fail(err)
		return nil, false
	}
	return &pairs[0], true
}

// readPair reads a pair as it was when it came.
func (c *console) readPair(args string) {
	p, ok := c.numbered(args)
	if !ok {
		return
	}
	c.out.labelled("You", p.UserText)
	if p.Reasoning != "" && c.thinking {
		c.tellWhole("Thinking", p.Reasoning)
	}
	var shown []assistant.ToolCall
	for _, call := range p.ToolCalls {
		if !call.Silent {
			shown = append(shown, call)
		}
	}
	for _, piece := range assistant.Pieces(p.AssistantText, len(shown)) {
		if piece.Call < 0 {
			c.tellWhole("Assistant", strings.TrimSpace(piece.Text))
			continue
		}
		c.readCall(shown[piece.Call])
	}
	for _, payload := range p.Payloads {
		c.out.labelled(kind(payload.Type), strings.TrimSpace(payload.Summary+" "+payload.Decision))
	}
	if p.Notice != "" {
		c.out.labelled("Notice", p.Notice)
	}
	if p.State == assistant.PairError {
		c.out.labelled("Error ("+p.ErrorCode+")", p.ErrorMessage)
	}
}

// readCall reads a call with all that went in and came out.
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

// tellWhole reads a text that is there already.
func (c *console) tellWhole(label, text string) {
	s := speech{out: c.out, label: label, width: c.o.Width}
	s.write(text)
	s.end()
}

// retry sends again what failed or was cancelled; of a good answer, the last
// one only, it makes a new one.
func (c *console) retry(string) {
	if c.again.seq == 0 && c.again.text != "" {
		c.dispatch(assistant.Prompt{Text: c.again.text})
		return
	}
	p, ok := c.numbered("")
	if !ok {
		return
	}
	if c.again.seq != 0 && c.again.seq != p.Seq {
		if pairs, err := c.s.Pairs(c.ctx, []int64{c.again.seq}); err == nil && len(pairs) > 0 {
			p = &pairs[0]
		}
	}
	if p.State == assistant.PairError {
		c.dispatch(assistant.Prompt{Text: p.UserText, Retry: p.Seq, Attachments: p.Attachments})
		return
	}
	anew := func() {
		c.dispatch(assistant.Prompt{Text: p.UserText, Replaces: p.Seq, Attachments: p.Attachments})
	}
	for _, point := range c.s.Checkpoints() {
		if point.Position == p.Seq && point.Kind == checkpoint.KindTurn {
			c.out.line("The last answer changed the window. That stays; a new answer may change it again. /undo takes either back.")
			c.askYes("Type yes for a new answer: ", anew)
			return
		}
	}
	anew()
}

// reAsk sends other words in the place of what failed.
func (c *console) reAsk(args string) {
	if c.again.text == "" {
		p, ok := c.numbered("")
		if !ok {
			return
		}
		c.again = again{text: p.UserText}
		if p.State == assistant.PairError {
			c.again.seq = p.Seq
		}
	}
	c.again.reask = true
	if args != "" {
		c.send(args)
		return
	}
	c.out.labelled("The message was", c.again.text)
	c.out.line("The next message takes its place.")
}

// deletePair deletes a pair; it asks, except for one that failed.
func (c *console) deletePair(args string) {
	if args == "" {
		c.out.line("/delete and the number of a pair; /pairs lists them.")
		return
	}
	p, ok := c.numbered(args)
	if !ok {
		return
	}
	drop := func() {
		if err := c.s.Delete(c.ctx, p.Seq); err != nil {
			c.fail(err)
			return
		}
		if c.again.seq == p.Seq {
			c.again = again{text: c.again.text}
		}
		c.out.line("Deleted: " + oneLine(p.UserText))
		c.tell()
	}
	if p.State == assistant.PairError {
		drop()
		return
	}
	c.out.labelled("Pair "+args, oneLine(p.UserText))
	c.askYes("Type yes to delete it for good: ", drop)
}
