package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// Cost is what the answers of a session cost, including the alternative answers to each
// message.
type Cost struct {
	Answers int
	Took    time.Duration // total time of all answers
	Counted int           // answers whose usage the endpoint reported
	Tokens  int           // tokens of the Counted answers and their requests
	USD     float64       // total price of the Priced answers
	Priced  int           // answers whose usage and price are known
}

// costAtOnce is the number of pairs that Cost loads at a time.
const costAtOnce = 500

// Cost adds up the answers of the session. It uses the prices known when they arrived, or
// else the current prices of their models.
func (w *Workspace) Cost(ctx context.Context) (sum Cost, err error) {
	refs, err := w.session.SessionRefs(ctx)
	if err != nil {
		return sum, err
	}
	facts := map[string]llm.Facts{}
	for _, m := range w.session.Registry().Models() {
		facts[m.ID] = m.Facts
	}
	for piece := range slices.Chunk(refs, costAtOnce) {
		seqs := make([]int64, len(piece))
		for i, r := range piece {
			seqs[i] = r.Seq
		}
		pairs, err := w.session.Pairs(ctx, seqs)
		if err != nil {
			return sum, err
		}
		for i := range pairs {
			all, _ := pairs[i].Answers()
			for _, a := range all {
				sum.add(a, facts[a.Model])
			}
		}
	}
	return sum, nil
}

func (c *Cost) add(a assistant.Variant, of llm.Facts) {
	if a.Usage == nil && a.AssistantText == "" && len(a.ToolCalls) == 0 {
		return // no answer arrived
	}
	c.Answers++
	c.Took += a.Took
	if a.Usage == nil {
		return
	}
	c.Counted++
	c.Tokens += a.Usage.Prompt + a.Usage.Completion
	usd, known := of.Cost(*a.Usage)
	switch {
	case a.Price != nil:
		usd, known = *a.Price, true
	case a.Usage.Prompt+a.Usage.Completion == 0: // answered by the built-in rules
		usd, known = 0, true
	}
	if known {
		c.Priced++
		c.USD += usd
	}
}

// AnswersText returns the number of answers and the time that they took.
func (c Cost) AnswersText() string {
	text := assistant.Counted(c.Answers, "answer")
	if c.Took > 0 {
		text += " in " + assistant.Seconds(c.Took)
	}
	return text
}

// TokensText returns the total number of tokens and, if the usage of some answers is unknown, the number of answers
// that it covers.
func (c Cost) TokensText() string {
	switch {
	case c.Counted == 0:
		return "not reported"
	case c.Counted < c.Answers:
		return fmt.Sprintf("%s for the %s whose usage was reported", assistant.TokenCount(c.Tokens), assistant.Counted(c.Counted, "answer"))
	}
	return assistant.TokenCount(c.Tokens)
}

// PriceText returns the total price and, if the price of some answers is unknown, the number of answers that it covers.
func (c Cost) PriceText() string {
	switch {
	case c.Priced == 0:
		return "not known"
	case c.Priced < c.Counted:
		return fmt.Sprintf("%s for the %s whose price is known", assistant.Dollars(c.USD), assistant.Counted(c.Priced, "answer"))
	}
	return assistant.Dollars(c.USD)
}

// String returns the cost as a sentence.
func (c Cost) String() string {
	switch {
	case c.Answers == 0:
		return "this session has no answers yet"
	case c.Counted == 0:
		return "this session: " + c.AnswersText() + ", tokens " + c.TokensText()
	}
	price := c.PriceText()
	if c.Priced == 0 {
		price = "price " + price
	}
	return "this session: " + c.AnswersText() + ", " + c.TokensText() + ", " + price
}
