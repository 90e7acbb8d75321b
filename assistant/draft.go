package assistant

import "strings"

// DraftCost is what sending a text would cost now, in estimated tokens.
type DraftCost struct {
	AUT   int // the text itself
	Total int // the whole request: system prompt, included pairs and text
	Left  int // what the model could still take beside all that; below zero it is too much

	// OverReserve says that the text is longer than what the boundary keeps free
	// for it, so that the endpoint may find the whole too long: then Trims of the
	// oldest included pairs will probably be left out.
	OverReserve bool
	Trims       int // 0 without OverReserve
	TrimTokens  int // of those pairs

	// OverBudget says that text and system prompt alone are more than the model
	// takes: it would not be sent.
	OverBudget bool

	// OverQuota says that the endpoint has not enough left for the whole request
	// now; Quota tells when it has.
	OverQuota bool
	Quota     Quota // the zero value when the endpoint never spoke of quotas
}

// Draft estimates what sending text would cost. It is for every keystroke: it
// looks at the text and at what is in memory, and computes no boundary anew.
func (s *Session) Draft(text string) DraftCost {
	aut := s.Settings().Budget.Estimate(strings.TrimSpace(text))
	q, known := s.Quota()
	s.mu.Lock()
	at, pairs, tokens := s.view.tracker.Fit(aut)
	s.mu.Unlock()
	c := DraftCost{
		AUT: aut, Total: at.SYS + at.HistoryTokens + aut, Left: at.Usable - at.HistoryTokens - aut, Quota: q,
		OverBudget: aut+at.SYS > at.ML,
	}
	if c.Left < 0 && !c.OverBudget {
		c.OverReserve, c.Trims, c.TrimTokens = true, pairs, tokens
	}
	c.OverQuota = known && aut > 0 && q.Refuses(c.Total)
	return c
}
