package budget

import "slices"

// Reason says why a boundary may no longer hold. Nothing else moves it: no
// keystroke, no scroll, no trimming.
type Reason uint8

// The triggers.
const (
	FilterExecuted       Reason = iota + 1 // a filter line was applied
	ModelChanged                           // another context window or TPM
	AllowanceChanged                       // another URA
	CharsPerTokenChanged                   // another CPT; the costs are replaced too
	ReplyArrived                           // the answer of a pair is whole
	PairDeleted
	PairEdited        // its text was changed and saved
	VisibilityChanged // topic, star or flag changed under a filter that reads it
	PairsLoaded       // import or bulk load
)

// Tracker keeps the boundary of the visible pairs. Changes mark it dirty; the
// next call of Boundary computes it anew from where it was, in time
// proportional to how far it moves. It belongs to one goroutine. The zero value
// has no pairs and the limit of an unknown model.
type Tracker struct {
	params Params
	limit  Limit
	sys    int // for the next computation; the one in force is at.SYS
	costs  []Cost

	at         Boundary // First, X, HistoryTokens kept right as costs change
	shown      Boundary // what Boundary returned last
	why        Reason   // 0 when clean
	last       Reason
	started    bool // a first boundary was computed
	recomputes int
	looked     int // pairs looked at, for tests
}

// NewTracker returns a Tracker without pairs.
func NewTracker(p Params, limit Limit) *Tracker { return &Tracker{params: p, limit: limit} }

// Dirty asks for a new computation at the next call of Boundary.
func (t *Tracker) Dirty(why Reason) { t.why = why }

// Boundary returns the boundary in force, computing it first when dirty.
func (t *Tracker) Boundary() Boundary {
	if t.started && t.why == 0 {
		return t.shown
	}
	t.last, t.why, t.started = t.why, 0, true
	t.recomputes++
	next := newBoundary(t.limit, t.sys, t.params)
	next.Y, next.First, next.X, next.HistoryTokens = len(t.costs), t.at.First, t.at.X, t.at.HistoryTokens
	t.looked += next.settle(t.costs)
	t.at, t.shown = next, next
	return t.shown
}

// Fit returns the boundary in force and how many of its oldest pairs, of how
// many tokens together, stand in the way of a message of aut tokens. Nothing is
// computed anew, also when a trigger has come; before the first computation no
// pair is included.
func (t *Tracker) Fit(aut int) (at Boundary, pairs, tokens int) {
	at = t.at
	if !t.started {
		at = newBoundary(t.limit, t.sys, t.params)
		at.First = len(t.costs)
	}
	at.Y = len(t.costs)
	for i := at.First; i < len(t.costs) && at.HistoryTokens-tokens+aut > at.Usable; i++ {
		if t.costs[i].Contributes {
			pairs++
			tokens += t.costs[i].tokens()
		}
	}
	return at, pairs, tokens
}

// Recomputes returns how often the boundary was computed, for tests and the HUD.
func (t *Tracker) Recomputes() int { return t.recomputes }

// SetParams takes other settings. After a change of CharsPerToken the caller
// must Replace the costs.
func (t *Tracker) SetParams(p Params) {
	if p.CPT() != t.params.CPT() {
		t.Dirty(CharsPerTokenChanged)
	}
	if p.URA() != t.params.URA() {
		t.Dirty(AllowanceChanged)
	}
	t.params = p
}

// Params returns the settings in force.
func (t *Tracker) Params() Params { return t.params }

// SetLimit takes the limit of the model now selected.
func (t *Tracker) SetLimit(l Limit) {
	if l != t.limit {
		t.limit = l
		t.Dirty(ModelChanged)
	}
}

// SetSystem takes the size of system prompt and tool schemas. It is no trigger:
// the size in force is frozen until something else makes the boundary dirty.
func (t *Tracker) SetSystem(tokens int) { t.sys = tokens }

// Len returns the number of visible pairs.
func (t *Tracker) Len() int { return len(t.costs) }

// Replace takes all visible pairs anew, oldest first. It copies them.
func (t *Tracker) Replace(visible []Cost, why Reason) {
	t.costs = append(t.costs[:0], visible...)
	t.at.First, t.at.X, t.at.HistoryTokens = len(visible), 0, 0
	t.Dirty(why)
}

// Append adds the newest pair. One that contributes nothing, as a pair that is
// being answered, moves no boundary: it counts in Y and is no trigger.
func (t *Tracker) Append(c Cost, why Reason) {
	t.costs = append(t.costs, c)
	t.shown.Y = len(t.costs)
	if c.Contributes {
		t.at.count(c, 1)
		t.Dirty(why)
	}
}

// Set changes the cost of pair i, as when its reply arrived. It panics when
// there is no such pair.
func (t *Tracker) Set(i int, c Cost, why Reason) {
	if i >= t.at.First {
		t.at.count(t.costs[i], -1)
		t.at.count(c, 1)
	}
	t.costs[i] = c
	t.Dirty(why)
}

// Remove takes pair i out. It panics when there is no such pair.
func (t *Tracker) Remove(i int, why Reason) {
	if i >= t.at.First {
		t.at.count(t.costs[i], -1)
	} else {
		t.at.First--
	}
	t.costs = slices.Delete(t.costs, i, i+1)
	t.Dirty(why)
}
