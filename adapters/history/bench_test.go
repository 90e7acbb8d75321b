package history

import (
	"fmt"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

// large is a store of n pairs in sessions of fifty, with twenty topics.
func large(b *testing.B, n int) (history.Store, *Window) {
	b.Helper()
	s := newStore(b)
	for from := 0; from < n; from += 1000 {
		batch := make([]*assistant.Pair, 0, 1000)
		for i := from; i < min(n, from+1000); i++ {
			p := spoken(fmt.Sprint("session", i/50), fmt.Sprintf("Topic %d > Below %d", i/50%10, i%2), fmt.Sprint("what is pair ", i), "It is a pair of a benchmark.")
			p.Star, p.Flag = i%40/37, i%9 != 0
			p.Model = []string{"openai/gpt-5.1", "anthropic/claude", "x/y"}[i%3]
			batch = append(batch, p)
		}
		put(b, s, batch...)
	}
	return s, New(s, Options{Now: clock, Selected: func() Selected { return Selected{Line: "s>1 t'Topic 1...'"} }})
}

const manyPairs = 100_000

func BenchmarkContext(b *testing.B) {
	for _, n := range []int{100, manyPairs} {
		_, w := large(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				if _, err := w.Context(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(jsonChars(contextOf(b, w))), "characters")
		})
		b.Run(fmt.Sprint(n, "/State"), func(b *testing.B) {
			for range b.N {
				stateOf(b, w)
			}
			b.ReportMetric(float64(len(stateOf(b, w))), "bytes")
		})
		b.Run(fmt.Sprint(n, "/Star"), func(b *testing.B) {
			for i := range b.N {
				good(b, w, "star_pairs", fmt.Sprintf(`{"ids":[%d],"stars":%d}`, 1+i%n, i%4))
			}
		})
	}
}
