package budget

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		p    Params
		text string
		want int
	}{
		{Params{}, "", 0},
		{Params{}, "a", 1},
		{Params{}, "1234567", 2},
		{Params{}, "12345678", 3},
		{Params{}, "日本語日本語日", 2}, // characters, not bytes
		{Params{CharsPerToken: 2}, "12345", 3},
		{Params{CharsPerToken: -1}, "1234567", 2},
		{Params{CharsPerToken: math.NaN()}, "1234567", 2},
		{Params{CharsPerToken: math.Inf(1)}, "1234567", 2},
	} {
		if got := c.p.Estimate(c.text); got != c.want {
			t.Errorf("%+v.Estimate(%q) = %d, want %d", c.p, c.text, got, c.want)
		}
	}
	if Estimate("12345678") != 3 {
		t.Error("the package functions differ from the default settings")
	}
}

func TestParamsDefaults(t *testing.T) {
	if p := (Params{}); p.CPT() != 3.5 || p.URA() != 100 || p.NTA() != 10 {
		t.Errorf("defaults are %v %d %d, want 3.5 100 10", p.CPT(), p.URA(), p.NTA())
	}
	if p := (Params{UserRequestAllowance: -1, MaxTrimAttempts: -1}); p.URA() != 0 || p.NTA() != 0 {
		t.Errorf("negative settings give %d %d, want none", p.URA(), p.NTA())
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		l    Limit
		want int
	}{
		{Limit{}, 32_768},
		{Limit{Context: 8000}, 8000},
		{Limit{Context: 8000, TPM: 3000, Known: true}, 3000},
		{Limit{Context: 8000, TPM: 30_000, Known: true}, 8000},
		{Limit{TPM: 1000}, 1000},
	} {
		if got := c.l.ML(); got != c.want {
			t.Errorf("%+v.ML() = %d, want %d", c.l, got, c.want)
		}
	}
}

// pairs makes contributing pairs of the given sizes; below zero stands for a
// pair that gives no message.
func pairs(sizes ...int) []Cost {
	costs := make([]Cost, len(sizes))
	for i, n := range sizes {
		costs[i] = Cost{Tokens: n, Contributes: n >= 0}
	}
	return costs
}

func TestPredict(t *testing.T) {
	limit := Limit{Context: 1000, Known: true}
	for name, c := range map[string]struct {
		sizes            []int
		sys              int
		first, x, tokens int
	}{
		"empty":                     {nil, 0, 0, 0, 0},
		"all fit":                   {[]int{300, 300, 300}, 0, 0, 3, 900},
		"exactly":                   {[]int{301, 300, 300, 300}, 0, 1, 3, 900},
		"one too many by a token":   {[]int{300, 300, 301}, 0, 1, 2, 601},
		"a gap is not jumped over":  {[]int{10, 1000, 10}, 0, 2, 1, 10},
		"system prompt takes room":  {[]int{300, 300, 300}, 1, 1, 2, 600},
		"silent pairs count in Y":   {[]int{400, -1, 400, -1}, 0, 0, 2, 800},
		"silent pair at the edge":   {[]int{900, -1, 100}, 0, 1, 1, 100},
		"nothing fits":              {[]int{5, 5}, 950, 2, 0, 0},
		"system prompt alone is ML": {[]int{0, -1}, 2000, 2, 0, 0},
	} {
		b := Predict(pairs(c.sizes...), limit, c.sys, Params{})
		want := Boundary{
			First: c.first, X: c.x, Y: len(c.sizes), HistoryTokens: c.tokens,
			Usable: 1000 - c.sys, ML: 1000, SYS: c.sys, URA: 100, Known: true,
		}
		if b != want {
			t.Errorf("%s: Predict = %+v, want %+v", name, b, want)
		}
	}
}

func TestBoundaryAnswers(t *testing.T) {
	b := Boundary{First: 2, X: 3, Y: 5}
	if b.Includes(1) || !b.Includes(2) || !b.Includes(4) || b.Includes(5) || b.All() {
		t.Errorf("%+v includes the wrong pairs", b)
	}
	if b.Counter(0) != "3/5" || b.Counter(1) != "[3-1]/5" {
		t.Errorf("counters %q %q, want 3/5 and [3-1]/5", b.Counter(0), b.Counter(1))
	}
}

// bySuffix computes the boundary in the slowest and plainest way: the longest
// run of newest pairs of which every shorter one fits as well.
func bySuffix(costs []Cost, limit Limit, sys int, p Params) (first, x, history int) {
	first = len(costs)
	for from := len(costs) - 1; from >= 0; from-- {
		sum, n := 0, 0
		for _, c := range costs[from:] {
			if c.Contributes {
				sum += c.Tokens
				n++
			}
		}
		if sum+p.URA() > limit.ML()-sys {
			break
		}
		first, x, history = from, n, sum
	}
	return first, x, history
}

func TestTrackerAgreesWithTheDefinition(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		tr := NewTracker(Params{}, Limit{Context: 500})
		sys := 0
		for step := range 60 {
			n := len(tr.costs)
			cost := Cost{Tokens: rnd.IntN(120), Contributes: rnd.IntN(4) > 0}
			switch op := rnd.IntN(8); {
			case op == 0:
				tr.SetLimit(Limit{Context: 1 + rnd.IntN(900)})
			case op == 1:
				sys = rnd.IntN(300)
				tr.SetSystem(sys)
				tr.Dirty()
			case op == 2 && n > 0:
				tr.Remove(rnd.IntN(n))
			case op == 3 && n > 0:
				tr.Set(rnd.IntN(n), cost)
			case op == 4 && step%20 == 0:
				tr.Replace(pairs(50, 60, -1, 70, 80))
			case op == 5:
				tr.SetParams(Params{UserRequestAllowance: rnd.IntN(200)})
			default:
				tr.Append(cost)
			}
			if rnd.IntN(3) == 0 {
				continue // several changes before the next look
			}
			tr.Dirty()
			b := tr.Boundary()
			first, x, history := bySuffix(tr.costs, tr.limit, sys, tr.params)
			if b.First != first || b.X != x || b.HistoryTokens != history || b.Y != len(tr.costs) {
				t.Fatalf("boundary %+v, want first %d X %d history %d of %v", b, first, x, history, tr.costs)
			}
			if b != Predict(tr.costs, tr.limit, sys, tr.params) {
				t.Fatalf("Tracker and Predict differ: %+v", b)
			}
		}
	}
}

func TestTrackerRecomputesOnTriggersOnly(t *testing.T) {
	tr := NewTracker(Params{}, Limit{Context: 1000, Known: true})
	tr.Replace(pairs(100, 100, 100))
	before := tr.Boundary()
	for range 50 { // keystrokes, scrolls, frames, a new system prompt
		tr.SetSystem(400)
		tr.SetLimit(Limit{Context: 1000, Known: true})
		tr.SetParams(Params{UserRequestAllowance: 100, MaxTrimAttempts: 3})
		if b := tr.Boundary(); b != before {
			t.Fatalf("the boundary moved without a trigger: %+v", b)
		}
	}
	if tr.Recomputes() != 1 {
		t.Errorf("%d recomputations, want 1", tr.Recomputes())
	}
	for n := 1; n <= 3; n++ { // pairs that are being answered
		tr.Append(Cost{})
		if b := tr.Boundary(); b.Y != before.Y+n || b.First != before.First || b.X != before.X || tr.Recomputes() != 1 {
			t.Fatalf("a silent pair moved the boundary: %+v after %d computations", b, tr.Recomputes())
		}
	}
	for i, c := range []struct {
		name string
		do   func()
	}{
		{"filter executed", func() { tr.Replace(pairs(10, 20, 30)) }},
		{"model changed", func() { tr.SetLimit(Limit{Context: 600}) }},
		{"allowance changed", func() { tr.SetParams(Params{UserRequestAllowance: 50}) }},
		{"characters per token changed", func() { tr.SetParams(Params{UserRequestAllowance: 50, CharsPerToken: 4}) }},
		{"reply arrived", func() { tr.Set(2, Cost{70, true}) }},
		{"pair deleted", func() { tr.Remove(0) }},
		{"something else", func() { tr.Dirty() }},
	} {
		c.do()
		tr.Boundary()
		b := tr.Boundary()
		if tr.Recomputes() != i+2 {
			t.Errorf("%s: %d recomputations, want %d", c.name, tr.Recomputes(), i+2)
		}
		if b.SYS != 400 || b.Y != len(tr.costs) {
			t.Errorf("%s: boundary %+v, want SYS 400 and Y %d", c.name, b, len(tr.costs))
		}
	}
}

// loaded returns a tracker of n pairs of ten tokens, with limit and one look.
func loaded(n int, limit Limit) *Tracker {
	costs := make([]Cost, n)
	for i := range costs {
		costs[i] = Cost{10, true}
	}
	tr := NewTracker(Params{}, limit)
	tr.Replace(costs)
	tr.Boundary()
	return tr
}

func TestTrackerLooksAtFewPairs(t *testing.T) {
	for _, n := range []int{100, 100_000} {
		tr := loaded(n, Limit{Context: 600})
		tr.examined = 0
		for range 50 {
			tr.Append(Cost{10, true})
			tr.Boundary()
		}
		if tr.examined > 50*2 {
			t.Errorf("%d pairs: 50 appends examined %d pairs, want at most 2 each", n, tr.examined)
		}
		tr.examined = 0
		tr.SetLimit(Limit{Context: 400})
		if b := tr.Boundary(); tr.examined > 21 || b.X != 30 {
			t.Errorf("%d pairs: a model change examined %d pairs for %+v, want 21", n, tr.examined, b)
		}
	}
}

func BenchmarkAppend100k(b *testing.B) {
	tr := loaded(100_000, Limit{Context: 200_000})
	for b.Loop() {
		tr.Append(Cost{10, true})
		tr.Boundary()
	}
}

func BenchmarkModelChange100k(b *testing.B) {
	tr := loaded(100_000, Limit{Context: 2_000_000})
	small := false
	for b.Loop() {
		small = !small
		limit := Limit{Context: 2_000_000}
		if small {
			limit.Context = 8000
		}
		tr.SetLimit(limit)
		tr.Boundary()
	}
}

func BenchmarkReplace100k(b *testing.B) {
	tr := loaded(100_000, Limit{Context: 2_000_000})
	costs := append([]Cost(nil), tr.costs...)
	for b.Loop() {
		tr.Replace(costs)
		tr.Boundary()
	}
}
