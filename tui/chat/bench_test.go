package chat

import (
	"fmt"
	"testing"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// BenchmarkStreamFrame is one frame of a streaming answer: eight chunks taken,
// one View drawn, at the beginning of the answer and after 50,000 tokens.
func BenchmarkStreamFrame(b *testing.B) {
	for _, before := range []int{1_000, 50_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			v := view()
			v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
			v.StartTurn(assistant.Pair{Seq: 1, UserText: "go on", CreatedAt: noon, Flag: true})
			for i := range before {
				v.Apply(token(i))
				if i%200 == 0 {
					v.View(160, 50)
				}
			}
			v.Bottom()
			v.View(160, 50)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for n := range 8 {
					v.Apply(token(before + i*8 + n))
				}
				v.View(160, 50)
			}
		})
	}
}

// token is a word of mixed Markdown: paragraphs, lists, headings and code.
func token(i int) assistant.Event {
	switch {
	case i%400 == 0:
		return assistant.TextDelta{Text: "\n\n## Part\n\n"}
	case i%400 == 200:
		return assistant.TextDelta{Text: "\n\n```go\nx := 1\n```\n\n"}
	case i%100 == 50:
		return assistant.TextDelta{Text: "\n- item "}
	case i%100 == 70:
		return assistant.TextDelta{Text: "\n\n"}
	}
	return assistant.TextDelta{Text: safetext.Sprintf("word%d ", i%7)}
}

// BenchmarkFrameUnderHistory is a frame with nothing new, under 100 and 1,000,000 pairs.
func BenchmarkFrameUnderHistory(b *testing.B) {
	for _, n := range []int{100, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v := view()
			refs := make([]assistant.Ref, n)
			for i := range refs {
				refs[i].Seq = int64(i + 1)
			}
			v.SetRefs(refs, 0)
			v.View(160, 50)
			var loaded []assistant.Pair
			for _, seq := range v.Missing() {
				loaded = append(loaded, pair(seq, "question", "an answer of a line"))
			}
			v.Load(loaded)
			b.ReportAllocs()
			for b.Loop() {
				v.View(160, 50)
			}
		})
	}
}
