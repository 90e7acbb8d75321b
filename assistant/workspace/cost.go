package workspace

import (
	"context"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// Cost is what the answers of a session cost, including the alternative answers to each
// message.
type Cost struct {
	Answers int // answers whose endpoint reported their usage
	Unknown int // answers whose usage is unknown
	Tokens  int // of requests and answers
	USD     float64
	Priced  int // answers whose model has a known price; USD is the sum of these
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
	if a.Usage == nil {
		c.Unknown++
		return
	}
	c.Answers++
	c.Tokens += a.Usage.Prompt + a.Usage.Completion
	usd, known := of.Cost(*a.Usage)
	if a.Price != nil {
		usd, known = *a.Price, true
	}
	if known {
		c.Priced++
		c.USD += usd
	}
}

// String returns the sum as a sentence.
func (c Cost) String() string {
	if c.Answers == 0 {
		return "no answer of this session has a usage that its endpoint reported"
	}
	text := fmt.Sprintf("this session: %s, %s", assistant.Counted(c.Answers, "answer"), assistant.TokenCount(c.Tokens))
	switch {
	case c.Priced == c.Answers:
		text += fmt.Sprintf(", %s", assistant.Dollars(c.USD))
	case c.Priced > 0:
		text += fmt.Sprintf(", %s for the %d whose price is known", assistant.Dollars(c.USD), c.Priced)
	default:
		text += ", price not known"
	}
	if c.Unknown > 0 {
		text += fmt.Sprintf("; the usage of %d more is not known", c.Unknown)
	}
	return text
}
