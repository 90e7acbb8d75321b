//go:build !race

// What is measured here is wrong under the race detector, which allocates more.

package status

import (
	"testing"

	"winnow/assistant"
)

// A frame costs what its rows cost, and not what the pairs do; a keystroke that changes
// the draft costs the same.
func TestAFrameCostsItsRows(t *testing.T) {
	allocs := func(pairs int) float64 {
		p := newPanel(20, pairs, pairs)
		draft := assistant.DraftCost{AUT: 1}
		return testing.AllocsPerRun(50, func() {
			draft.AUT++
			p.Lines(60, p.height, "1/2", draft)
		})
	}
	if few, many := allocs(100), allocs(10_000); many > 1.1*few+2 {
		t.Errorf("a frame allocates %.0f times with 100 pairs and %.0f with 10,000", few, many)
	}
}

// Pairs, a boundary and keys cost nothing while the panel is closed.
func TestAClosedPanelCostsNothing(t *testing.T) {
	p := newPanel(20, 10_000, 10)
	refs, at := p.refs, p.at
	p.Resize(0, false)
	if n := testing.AllocsPerRun(50, func() {
		p.Show(refs, at)
		p.Load(assistant.Pair{Seq: 1, UserText: "a question"})
		p.Missing()
	}); n != 0 {
		t.Errorf("it allocates %.0f times", n)
	}
}
