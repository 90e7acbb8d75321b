package budget

import "slices"

// Tracker tracks the boundary of the visible pairs. Changes to the pairs, the limit or the
// settings mark the Tracker dirty; trimming does not. The next call to Boundary then
// computes the boundary from the previous one, in time proportional to how far it moves. A
// Tracker must be used by one goroutine. The zero value has no pairs and the limit of an
// unknown model.
type Tracker struct {
	params Params
	limit  Limit
	sys    int // size of the system prompt for the next computation; the current boundary uses result.SYS
	costs  []Cost

	current    Boundary // First, X and HistoryTokens are updated with every change to the costs
	result     Boundary // returned by the last call to Boundary
	valid      bool     // result is up to date; false means dirty
	recomputes int
	changes    int // see Changes
	examined   int // number of examined pairs, for tests
}

// NewTracker returns a Tracker without pairs.
func NewTracker(p Params, limit Limit) *Tracker { return &Tracker{params: p, limit: limit} }

// Dirty makes the next call to Boundary compute the boundary again.
func (t *Tracker) Dirty() {
	t.valid = false
	t.changes++
}

// Boundary returns the boundary in effect, computing it first if dirty.
func (t *Tracker) Boundary() Boundary {
	if t.valid {
		return t.result
	}
	t.valid = true
	t.recomputes++
	next := newBoundary(t.limit, t.sys, t.params)
	next.Y, next.First, next.X, next.HistoryTokens = len(t.costs), t.current.First, t.current.X, t.current.HistoryTokens
	t.examined += next.move(t.costs)
	t.current, t.result = next, next
	return next
}

// Fit returns the boundary in effect and how many of its oldest pairs, with how many tokens
// in total, must be left out for a message of aut tokens. It does not compute the boundary,
// even if the Tracker is dirty; before the first computation no pair is included.
func (t *Tracker) Fit(aut int) (at Boundary, pairs, tokens int) {
	at = t.current
	if t.recomputes == 0 {
		at = newBoundary(t.limit, t.sys, t.params)
		at.First = len(t.costs)
	}
	at.Y = len(t.costs)
	pairs, tokens = at.MustTrim(aut, func(i int) Cost { return t.costs[i] })
	return at, pairs, tokens
}

// Recomputes returns how often the boundary was computed.
func (t *Tracker) Recomputes() int { return t.recomputes }

// Changes counts the changes that can affect the pairs or the next result of Boundary.
func (t *Tracker) Changes() int { return t.changes }

// Limit returns the limit of the selected model.
func (t *Tracker) Limit() Limit { return t.limit }

// SetParams changes the settings. If CharsPerToken changes, the caller must Replace the
// costs.
func (t *Tracker) SetParams(p Params) {
	if p.CPT() != t.params.CPT() || p.URA() != t.params.URA() {
		t.Dirty()
	}
	t.params = p
}

// SetLimit sets the limit of the selected model.
func (t *Tracker) SetLimit(l Limit) {
	if l != t.limit {
		t.Dirty()
	}
	t.limit = l
}

// SetSystem changes the size of system prompt and tool schemas. It does not mark the
// Tracker dirty: the new size takes effect with the next computation.
func (t *Tracker) SetSystem(tokens int) { t.sys = tokens }

// Replace replaces all visible pairs, oldest first. It copies them.
func (t *Tracker) Replace(visible []Cost) {
	t.costs = append(t.costs[:0], visible...)
	t.current.First, t.current.X, t.current.HistoryTokens = len(visible), 0, 0
	t.Dirty()
}

// Append adds the newest pair. A pair that contributes nothing, such as one that is being
// answered, counts only in Y and does not mark the Tracker dirty.
func (t *Tracker) Append(c Cost) {
	t.costs = append(t.costs, c)
	t.changes++
	t.result.Y = len(t.costs)
	if c.Contributes {
		t.current.add(c, 1)
		t.Dirty()
	}
}

// Set changes the cost of pair i. It panics if there is no such pair.
func (t *Tracker) Set(i int, c Cost) {
	if i >= t.current.First {
		t.current.add(t.costs[i], -1)
		t.current.add(c, 1)
	}
	t.costs[i] = c
	t.Dirty()
}

// Remove removes pair i. It panics if there is no such pair.
func (t *Tracker) Remove(i int) {
	if i >= t.current.First {
		t.current.add(t.costs[i], -1)
	} else {
		t.current.First--
	}
	t.costs = slices.Delete(t.costs, i, i+1)
	t.Dirty()
}
