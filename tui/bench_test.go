package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// benched is a program at 160×50 with a finished answer of so many tokens, not
// running: a benchmark drives it.
func benched(b *testing.B, tokens int) *Model {
	b.Helper()
	var answer strings.Builder
	for i := 0; answer.Len() < tokens*4; i++ {
		fmt.Fprintf(&answer, "## Part %d\n\nSome **bold** words and `code`.\n\n- one item\n- another *item*\n\n```go\nfunc f%d() error { return nil }\n```\n\n", i, i)
	}
	m, _ := newProgram(b, setup{pairs: []assistant.Pair{told("question", answer.String())}})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
	m.Update(loadStart(m.opts.Parts)())
	if missing := m.loadMissing(); missing != nil {
		m.Update(missing())
	}
	m.View()
	return m
}

// BenchmarkKey is a key's way to the frame, under answers of two lengths.
func BenchmarkKey(b *testing.B) {
	for _, tokens := range []int{100, 20_000} {
		b.Run(fmt.Sprint(tokens, " tokens"), func(b *testing.B) {
			m := benched(b, tokens)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				k := tea.KeyPressMsg{Code: 'a', Text: "a"}
				if i%2 == 1 {
					k = tea.KeyPressMsg{Code: tea.KeyBackspace}
				}
				m.Update(k)
				m.View()
			}
		})
	}
}

// BenchmarkStreamedFrame is a frame with six new tokens, early and late in an
// answer.
func BenchmarkStreamedFrame(b *testing.B) {
	for _, tokens := range []int{1_000, 20_000} {
		b.Run(fmt.Sprint("after ", tokens, " tokens"), func(b *testing.B) {
			m := benched(b, 100)
			m.conv.chat.StartTurn(assistant.Pair{Seq: 2, UserText: "go on", State: assistant.PairSending})
			m.conv.chat.Bottom()
			m.conv.chat.Apply(assistant.TextDelta{Text: safetext.Clean(strings.Repeat("Some words of a **paragraph**.\n\n", tokens/8))})
			m.View()
			b.ReportAllocs()
			for b.Loop() {
				m.conv.chat.Apply(assistant.TextDelta{Text: "six more tokens of text "})
				m.View()
			}
		})
	}
}
