package workspace

import (
	"context"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// Cost is what the answers of a session took, all answers to each message included.
type Cost struct {
	Answers int // with usage that their endpoint reported
	Unknown int // whose usage is not known
	Tokens  int // of the requests and the answers
	USD     float64
	Priced  int // answers whose model has a known price; USD is the sum of these
}

// costAtOnce is the number of pairs that Cost loads at a time.
const costAtOnce = 500

// Cost sums up the answers of the session, at the prices that are known of their models now.
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
	if usd, known := of.Cost(*a.Usage); known {
		c.Priced++
		c.USD += usd
	}
}

// String is the sum in a sentence.
func (c Cost) String() string {
	if c.Answers == 0 {
		return "no answer of this session has a usage that its endpoint reported"
	}
	text := fmt.Sprintf("this session: %s, %s", assistant.Counted(c.Answers, "answer"), TokenCount(c.Tokens))
	switch {
	case c.Priced == c.Answers:
		text += fmt.Sprintf(", $%.3f", c.USD)
	case c.Priced > 0:
		text += fmt.Sprintf(", $%.3f for the %d whose price is known", c.USD, c.Priced)
	default:
		text += ", price not known"
	}
	if c.Unknown > 0 {
		text += fmt.Sprintf("; the usage of %d more is not known", c.Unknown)
	}
	return text
}

// TokenCount is a number of tokens as people read it: "812 tokens", "1.3k tokens".
func TokenCount(n int) string {
	if n < 1000 {
		return assistant.Counted(n, "token")
	}
	return fmt.Sprintf("%.1fk tokens", float64(n)/1000)
}
