package filter

import (
	"strings"
	"time"
)

// Pair is what the language reads of a message pair.
type Pair struct {
	ID             string
	Session        string
	Topic          string // the path, "AI > Agents"; empty for none
	Model          string // provider/name
	Star           int    // 0 to 3
	Flag           bool
	IsError        bool
	HasAttachments bool
	CreatedAt      time.Time

	// Text returns the texts; called at most once per pair and evaluation, and
	// only when the line asks for them. Nil means both are empty.
	Text func() (user, assistant string)
}

// Env is what a line depends on besides the pairs. The zero value has nothing
// selected, no saved filters, and includes every pair.
type Env struct {
	Now           time.Time      // unset means the clock
	Location      *time.Location // of calendar days; nil means local
	SelectedTopic string         // path
	SelectedModel string         // provider/name
	Session       string         // id of this session

	// Saved returns the line of a saved filter; nil knows none.
	Saved func(name string) (line string, ok bool)
	// Included returns how many of the newest pairs of base, given by their
	// indices, fit in a request; nil means all. Called once, and only for a
	// line with o.
	Included func(base []int) int
}

// Eval returns the indices of the pairs, oldest first, that q selects, in
// ascending order. The error is an *Error at a saved filter, see Expand; nothing
// else fails.
func Eval(q *Query, pairs []Pair, env Env) ([]int, error) {
	x, err := Expand(q, env.Saved)
	if err != nil {
		return nil, err
	}
	return EvalExpr(x, pairs, env), nil
}

// EvalBase is Eval of the line without its o.
func EvalBase(q *Query, pairs []Pair, env Env) ([]int, error) {
	x, err := Expand(q, env.Saved)
	if err != nil {
		return nil, err
	}
	return EvalExpr(Base(x), pairs, env), nil
}

// EvalExpr is Eval of an expression without saved filters; one that is left
// selects nothing.
func EvalExpr(x Expr, pairs []Pair, env Env) []int {
	c := newCompiler(pairs, env)
	if !UsesBoundary(x) {
		return c.all(x)
	}
	base := c.all(Base(x))
	included := len(base)
	if env.Included != nil {
		included = min(max(env.Included(base), 0), len(base))
	}
	c.rank = make([]int, len(pairs))
	for i, pair := range base {
		c.rank[pair] = i - (len(base) - included)
	}
	test := c.compile(x)
	kept := base[:0:0]
	for _, i := range base {
		if test(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// compiler turns an expression into closures over one set of pairs.
type compiler struct {
	pairs []Pair
	env   Env
	rank  []int // place of a pair of the base from the boundary; from 0 on it is included

	textOf          int // the pair whose texts are held; −1 for none
	user, assistant string
	lowUser, lowAns string
}

func newCompiler(pairs []Pair, env Env) *compiler {
	if env.Now.IsZero() {
		env.Now = time.Now()
	}
	if env.Location == nil {
		env.Location = time.Local
	}
	return &compiler{pairs: pairs, env: env, textOf: -1}
}

// all returns the pairs for which x is true.
func (c *compiler) all(x Expr) []int {
	kept := make([]int, 0, len(c.pairs))
	if x == nil {
		for i := range c.pairs {
			kept = append(kept, i)
		}
		return kept
	}
	test := c.compile(x)
	for i := range c.pairs {
		if test(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// load fetches the texts of pair i, unless they are held already.
func (c *compiler) load(i int) {
	if c.textOf == i {
		return
	}
	c.textOf, c.user, c.assistant = i, "", ""
	if fetch := c.pairs[i].Text; fetch != nil {
		c.user, c.assistant = fetch()
	}
	c.lowUser, c.lowAns = strings.ToLower(c.user), strings.ToLower(c.assistant)
}
