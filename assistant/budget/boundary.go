package budget

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Defaults of Params, and the limit assumed for a model whose limit is unknown.
const (
	DefaultCharsPerToken        = 3.5
	DefaultUserRequestAllowance = 100
	DefaultMaxTrimAttempts      = 10
	UnknownContext              = 32_768
)

// Params are the settings for estimates and trimming. The zero value of each field means
// its default.
type Params struct {
	CharsPerToken        float64 // CPT: characters per token; 0 means 3.5
	UserRequestAllowance int     // URA: tokens reserved for the next message; 0 means 100, a negative value none
	MaxTrimAttempts      int     // NTA: pairs that one response may drop; 0 means 10, a negative value none
}

// CPT returns the characters per token.
func (p Params) CPT() float64 {
	if p.CharsPerToken > 0 && !math.IsInf(p.CharsPerToken, 1) {
		return p.CharsPerToken
	}
	return DefaultCharsPerToken
}

// URA returns the user request allowance, in tokens.
func (p Params) URA() int { return orDefault(p.UserRequestAllowance, DefaultUserRequestAllowance) }

// NTA returns how many pairs one response may drop.
func (p Params) NTA() int { return orDefault(p.MaxTrimAttempts, DefaultMaxTrimAttempts) }

// orDefault returns def for 0 and 0 for a negative value.
func orDefault(value, def int) int {
	if value == 0 {
		return def
	}
	return max(value, 0)
}

// Estimate returns the estimated tokens of text: ⌈characters / CPT⌉.
func (p Params) Estimate(text string) int {
	return int(math.Ceil(float64(utf8.RuneCountInString(text)) / p.CPT()))
}

// Estimate is Params.Estimate with the default settings.
func Estimate(text string) int { return Params{}.Estimate(text) }

// Limit is what is known about a model's limits.
type Limit struct {
	Context int  // context window in tokens; 0 if unknown
	TPM     int  // tokens per minute; 0 if there is no such limit
	Known   bool // Context is the model's own, not assumed
}

// ML returns the model limit: the smaller of context window and TPM.
func (l Limit) ML() int {
	ml := l.Context
	if ml <= 0 {
		ml = UnknownContext
	}
	if l.TPM > 0 {
		ml = min(ml, l.TPM)
	}
	return ml
}

// Cost is the size of one visible pair.
type Cost struct {
	Tokens      int  // estimated; negative values count as zero
	Contributes bool // adds at least one message; false for the running pair and a failed pair without results
}

// tokens returns what the pair adds to a request.
func (c Cost) tokens() int {
	if !c.Contributes {
		return 0
	}
	return max(c.Tokens, 0)
}

// Boundary says which visible pairs the next request includes: the pairs from First on. The
// zero value is the boundary of an empty history.
type Boundary struct {
	First         int  // index of the oldest included pair; Y if there is none
	X             int  // included pairs that contribute messages
	Y             int  // visible pairs
	HistoryTokens int  // size of the included pairs
	Usable        int  // ML − SYS; may be negative
	ML            int  // model limit
	SYS           int  // system prompt and tool schemas
	URA           int  // allowance reserved for the next message
	Known         bool // ML is the model's own, not assumed
}

// Includes reports whether the visible pair i is included.
func (b Boundary) Includes(i int) bool { return i >= b.First && i < b.Y }

// All reports whether every visible pair is included.
func (b Boundary) All() bool { return b.First == 0 }

// MustTrim returns how many of the oldest included pairs, with how many tokens in total, must
// be left out for a message of aut tokens. cost returns the cost of a visible pair.
func (b Boundary) MustTrim(aut int, cost func(i int) Cost) (pairs, tokens int) {
	for i := b.First; i < b.Y && b.HistoryTokens-tokens+aut > b.Usable; i++ {
		if c := cost(i); c.Contributes {
			pairs++
			tokens += c.tokens()
		}
	}
	return pairs, tokens
}

// nearLimit is the fraction of the usable tokens at which NearLimit becomes true: a few
// messages before pairs are left out.
const nearLimit = 0.8

// NearLimit reports whether the conversation is close to the model's limit, or beyond it.
func (b Boundary) NearLimit() bool {
	return b.Y > 0 && (!b.All() || float64(b.HistoryTokens+b.URA) >= nearLimit*float64(b.Usable))
}

// Counter returns the context counter: X/Y, or [X-T]/Y if the last send dropped pairs;
// dropped is their number, T.
func (b Boundary) Counter(dropped int) string {
	if dropped > 0 {
		return fmt.Sprintf("[%d-%d]/%d", b.X, dropped, b.Y)
	}
	return fmt.Sprintf("%d/%d", b.X, b.Y)
}

// fits reports whether a history of this many tokens leaves room for URA.
func (b Boundary) fits(history int) bool { return history+b.URA <= b.Usable }

// Predict returns the boundary of the visible pairs, which are ordered oldest first. It
// examines only the included pairs and one more.
func Predict(visible []Cost, limit Limit, sys int, p Params) Boundary {
	b := newBoundary(limit, sys, p)
	b.Y, b.First = len(visible), len(visible)
	b.move(visible)
	return b
}

func newBoundary(limit Limit, sys int, p Params) Boundary {
	ml := limit.ML()
	return Boundary{ML: ml, SYS: sys, Usable: ml - sys, URA: p.URA(), Known: limit.Known}
}

// move moves First to the oldest pair that fits, and returns how many pairs it examined.
// HistoryTokens and X must match First when it is called.
func (b *Boundary) move(visible []Cost) (examined int) {
	for b.First < len(visible) && !b.fits(b.HistoryTokens) {
		b.add(visible[b.First], -1)
		b.First++
		examined++
	}
	for b.First > 0 {
		examined++
		older := visible[b.First-1]
		if !b.fits(b.HistoryTokens + older.tokens()) {
			break
		}
		b.add(older, 1)
		b.First--
	}
	return examined
}

// add adds a pair to the included ones if sign is 1, and removes it if sign is −1.
func (b *Boundary) add(c Cost, sign int) {
	b.HistoryTokens += sign * c.tokens()
	if c.Contributes {
		b.X += sign
	}
}
