package openai

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// tokens is a stream of n tokens as OpenAI sends them, without its end.
func tokens(n int) []byte {
	var b strings.Builder
	words := []string{" the", " *quick*", " brown", " fox", "\n\n", " jümps", " over", "`code`"}
	for i := range n {
		b.WriteString(assistanttest.TextEvent(words[i%len(words)]))
	}
	return []byte(b.String())
}

// BenchmarkDecode reports CPU and allocations per streamed token. The pieces are
// of the size that the wire reads, or one token each.
func BenchmarkDecode(b *testing.B) {
	for _, total := range []int{5_000, 50_000} {
		body := tokens(total)
		for name, size := range map[string]int{"bursts": readSize, "tokens": len(body) / total} {
			b.Run(fmt.Sprintf("%s-%dk", name, total/1000), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					a := &answer{Client: &Client{}}
					for rest := body; len(rest) > 0; {
						n := min(size, len(rest))
						if _, _, err := a.write(rest[:n]); err != nil {
							b.Fatal(err)
						}
						rest = rest[n:]
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/token")
			})
		}
	}
}

// BenchmarkStream is the whole way over the loopback device.
func BenchmarkStream(b *testing.B) {
	const total = 20_000
	body := string(tokens(total)) + assistanttest.FinishEvent("stop") + assistanttest.Done
	s := assistanttest.NewServer(b, assistanttest.Pieces(body, 4096))
	c, err := New(Options{BaseURL: s.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N {
		var text strings.Builder
		for part, err := range c.Stream(b.Context(), hello) {
			if err != nil {
				b.Fatal(err)
			}
			if p, ok := part.(llm.Text); ok {
				text.WriteString(string(p.Text))
			}
		}
		if n := strings.Count(text.String(), " fox"); n != total/8 { // one of the eight words
			b.Fatalf("%d foxes, want %d", n, total/8)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/token")
}
