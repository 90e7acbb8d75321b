//go:build !race

// What is measured here is wrong under the race detector, which allocates more.

package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// A key and its frame cost the same with 3,000 pairs beside the box as with 100, and
// closed the HUD loads no pairs.
func TestTypingBesideManyPairs(t *testing.T) {
	allocs := func(pairs int, docked bool) float64 {
		s := newStill(t, style.Options{Unicode: true}, 120, 40)
		many := make([]assistant.Pair, pairs)
		for i := range many {
			many[i] = assistant.Pair{UserText: safetext.Text(fmt.Sprint("question ", i)), AssistantText: "an answer"}
		}
		s.pairs(many...)
		if docked {
			s.keys("f5")
			s.View()
		}
		i := 0
		return testing.AllocsPerRun(50, func() {
			k := tea.KeyPressMsg{Code: 'a', Text: "a"}
			if i++; i%2 == 0 {
				k = tea.KeyPressMsg{Code: tea.KeyBackspace}
			}
			s.Update(k)
			s.View()
		})
	}
	few, many, closed := allocs(100, true), allocs(3_000, true), allocs(3_000, false)
	if many > 1.1*few || closed > many {
		t.Errorf("a key allocates %.0f times beside 100 pairs, %.0f beside 3,000 and %.0f with the HUD closed", few, many, closed)
	}
}
