package budget

import "fmt"

// Cost is the size of one visible pair.
type Cost struct {
	Tokens      int  // estimated; below zero counts as zero
	Contributes bool // gives at least one message; false for the running pair and an error pair without results
}

// tokens is what the pair adds to a request.
func (c Cost) tokens() int {
	if !c.Contributes {
		return 0
	}
	return max(c.Tokens, 0)
}

// Boundary tells which visible pairs are included in the next request: those
// from First on. The zero value is the boundary of an empty history before
// anything was computed.
type Boundary struct {
	First         int  // index of the oldest included pair; Y when none is
	X             int  // included pairs that contribute messages
	Y             int  // visible pairs
	HistoryTokens int  // size of the included pairs
	Usable        int  // ML − SYS; may be negative
	ML            int  // model limit
	SYS           int  // system prompt and tool schemas
	URA           int  // allowance kept free for the next message
	Known         bool // ML is the model's own; else shown as ~
}

// Includes reports whether the visible pair i is sent.
func (b Boundary) Includes(i int) bool { return i >= b.First && i < b.Y }

// All reports whether no visible pair is off-context.
func (b Boundary) All() bool { return b.First == 0 }

// Counter returns the context counter, X/Y, and [X-T]/Y when the last send
// dropped trimmed pairs.
func (b Boundary) Counter(trimmed int) string {
	if trimmed > 0 {
		return fmt.Sprintf("[%d-%d]/%d", b.X, trimmed, b.Y)
	}
	return fmt.Sprintf("%d/%d", b.X, b.Y)
}

// fits reports whether a history of so many tokens leaves room for URA.
func (b Boundary) fits(history int) bool { return history+b.URA <= b.Usable }

// Predict returns the boundary of the visible pairs, oldest first. It looks
// only at the included pairs and one more.
func Predict(visible []Cost, limit Limit, sys int, p Params) Boundary {
	b := newBoundary(limit, sys, p)
	b.Y, b.First = len(visible), len(visible)
	b.settle(visible)
	return b
}

func newBoundary(limit Limit, sys int, p Params) Boundary {
	ml := limit.ML()
	return Boundary{ML: ml, SYS: sys, Usable: ml - sys, URA: p.URA(), Known: limit.Known}
}

// settle moves First from wherever it is to where it belongs and returns how
// many pairs it looked at. HistoryTokens and X must be those of First.
func (b *Boundary) settle(visible []Cost) (looked int) {
	for b.First < len(visible) && !b.fits(b.HistoryTokens) {
		b.count(visible[b.First], -1)
		b.First++
		looked++
	}
	for b.First > 0 {
		looked++
		older := visible[b.First-1]
		if !b.fits(b.HistoryTokens + older.tokens()) {
			break
		}
		b.count(older, 1)
		b.First--
	}
	return looked
}

// count adds a pair to the included ones, or takes it out for sign −1.
func (b *Boundary) count(c Cost, sign int) {
	b.HistoryTokens += sign * c.tokens()
	if c.Contributes {
		b.X += sign
	}
}
