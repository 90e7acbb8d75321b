package markdown

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// texts are answers of about n tokens (four bytes each), by shape.
var texts = map[string]func(tokens int) string{
	"prose": func(n int) string {
		return fill(n, func(i int) string {
			return fmt.Sprintf("Paragraph %d has some **bold** words, a `code span` and [a link](https://example.com/%d), and then it goes on for a while until it ends.\n\n", i, i)
		})
	},
	"mixed": func(n int) string {
		return fill(n, func(i int) string {
			return fmt.Sprintf("## Part %d\n\nSome **bold** words and `code`.\n\n- one item\n- another *item*\n\n```go\nfunc f%d() error {\n\treturn nil // nothing\n}\n```\n\n| a | b |\n|---|---|\n| %d | cell |\n\n", i, i, i)
		})
	},
	"fence": func(n int) string {
		return "```go\n" + fill(n, func(i int) string { return fmt.Sprintf("func f%d(a int) string { return \"text\" } // %d\n", i, i) })
	},
	"list": func(n int) string {
		return fill(n, func(i int) string { return fmt.Sprintf("- item %d with some *words* in it\n", i) })
	},
	"table": func(n int) string {
		return "| name | value | note |\n|---|--:|---|\n" + fill(n, func(i int) string { return fmt.Sprintf("| row %d | %d | some *words* |\n", i, i*7%1000) })
	},
	"paragraph": func(n int) string {
		return fill(n, func(i int) string { return fmt.Sprintf("Sentence %d of one **very** long paragraph. ", i) })
	},
	"one item": func(n int) string {
		return "- " + fill(n, func(i int) string { return fmt.Sprintf("Sentence %d of **one** item.\n\n  ", i) })
	},
	"one quote": func(n int) string {
		return "> " + fill(n, func(i int) string { return fmt.Sprintf("Sentence %d of **one** quote.\n> ", i) })
	},
	"widening table": func(n int) string {
		return "| name | value | note |\n|---|--:|---|\n" + fill(n, func(i int) string {
			return fmt.Sprintf("| row %d | %d | %s |\n", i, i*7%1000, strings.Repeat("word ", 1+i/(n/40)))
		})
	},
	"open emphasis": func(n int) string {
		return fill(n, func(i int) string { return fmt.Sprintf("Sentence %d of *one [very** long `paragraph. ", i) })
	},
	"open comment": func(n int) string {
		return "```go\n/*\n" + fill(n, func(i int) string { return fmt.Sprintf("line %d of one comment\n", i) })
	},
	"list in quote in item": func(n int) string {
		return "- item\n\n" + fill(n, func(i int) string { return fmt.Sprintf("  > - item %d with some *words* in it\n", i) })
	},
	"fence in item": func(n int) string {
		return "1. item\n\n   ```go\n" + fill(n, func(i int) string { return fmt.Sprintf("   func f%d(a int) string { return \"text\" } // %d\n", i, i) })
	},
	"line in item in quote": func(n int) string {
		return "> - " + fill(n, func(i int) string { return fmt.Sprintf("Sentence %d of **one** line. ", i) })
	},
	"one line of code": func(n int) string {
		return "```json\n" + fill(n, func(i int) string { return fmt.Sprintf(`{"n":%d},`, i) })
	},
}

const tokenBytes = 4

// mostFence is what a token of code may cost: its line and the one before it,
// coloured and laid out once a frame.
const mostFence = 300

func fill(tokens int, part func(int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < tokens*tokenBytes; i++ {
		b.WriteString(part(i))
	}
	return b.String()
}

// frameTokens is how many tokens a frame shows: 200 a second at 30 frames a second.
const frameTokens = 6

// stream appends src token by token and draws every sixth; each, when it is not
// nil, is told how long that frame took, with the tokens it took in, and the text
// is finished in the last one.
func stream(src string, each func(i int, took time.Duration)) *Doc {
	var d *Doc
	streamTo(src, &d, each)
	return d
}

// streamTo streams to a new document.
func streamTo(src string, to **Doc, each func(i int, took time.Duration)) {
	d := New(look)
	*to = d
	began := time.Now()
	frame := func(i int) {
		d.Lines(100)
		if each != nil {
			each(i, time.Since(began))
		}
		began = time.Now()
	}
	i := 0
	for ; src != ""; i++ {
		n := min(tokenBytes, len(src))
		d.Append(src[:n])
		src = src[n:]
		if i%frameTokens == 0 {
			frame(i / frameTokens)
		}
	}
	if each != nil {
		d.Finish()
	}
	frame(i/frameTokens + 1)
}

// A frame without a change costs nothing.
func TestUnchangedFrameCostsNothing(t *testing.T) {
	d := stream(texts["mixed"](2000), nil)
	d.Finish()
	d.Lines(100)
	d.work = work{}
	d.Lines(100)
	if d.work.total() != 0 {
		t.Errorf("%+v of work in a frame without a change", d.work)
	}
}

// TestNothingJumpsWhenATextEnds at the end of a line: what was drawn of the
// growing text is what is drawn of the whole one. Only the colours of a comment
// that never ends are put right by the last look at a fence.
func TestNothingJumpsWhenATextEnds(t *testing.T) {
	for name, text := range texts {
		for _, tokens := range []int{40, 400, 4000} {
			src := text(tokens)
			if i := strings.LastIndexByte(src, '\n'); i >= 0 {
				src = src[:i+1]
			}
			for _, width := range []int{24, 40, 79, 120} {
				d := New(look)
				d.Append(src)
				drawn := func() []string {
					lines := slices.Clone(d.Lines(width))
					for i := range lines {
						if name == "open comment" {
							lines[i] = ansi.Strip(lines[i])
						}
					}
					return lines
				}
				before := drawn()
				d.Finish()
				if after := drawn(); !slices.Equal(before, after) {
					at := 0
					for at < min(len(before), len(after)) && before[at] == after[at] {
						at++
					}
					t.Errorf("%s of %d tokens at %d cells: line %d of %d and %d differs:\n%q\n%q", name, tokens, width, at,
						len(before), len(after), before[min(at, len(before)-1)], after[min(at, len(after)-1)])
				}
			}
		}
	}
}

// Another width breaks lines anew and neither parses nor colours.
func TestResizeDoesNotParse(t *testing.T) {
	d := stream(texts["mixed"](2000), nil)
	d.Finish()
	d.Lines(100)
	d.work = work{}
	d.Lines(60)
	if d.work.parsed != 0 || d.work.highlighted != 0 || d.work.laid == 0 {
		t.Errorf("%+v of work for another width", d.work)
	}
}

// leastRuns is how often a benchmark streams an answer at least: the time of a
// frame is the shortest of its runs, what others on the machine take left out.
const leastRuns = 4

// BenchmarkStream streams an answer, drawing every sixth token, and reports the
// time a token takes and the longest frame, the last one included.
func BenchmarkStream(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, tokens := range []int{5_000, 50_000} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "-"), tokens), func(b *testing.B) {
				src := texts[name](tokens)
				least := map[int]time.Duration{}
				each := func(i int, took time.Duration) {
					if t, ok := least[i]; !ok || took < t {
						least[i] = took
					}
				}
				runs := 0
				for b.Loop() {
					stream(src, each)
					runs++
				}
				for ; runs < leastRuns; runs++ {
					stream(src, each)
				}
				worst, sum := time.Duration(0), time.Duration(0)
				for _, t := range least {
					worst, sum = max(worst, t), sum+t
				}
				b.ReportMetric(float64(worst.Microseconds())/1000, "ms/worst-frame")
				b.ReportMetric(float64(sum.Microseconds())/float64(tokens), "µs/token")
			})
		}
	}
}

// BenchmarkFrame is the frame of one more token at the end of a long answer.
func BenchmarkFrame(b *testing.B) {
	for _, name := range []string{"mixed", "fence", "list", "table", "paragraph"} {
		b.Run(name, func(b *testing.B) {
			d := stream(texts[name](50_000), nil)
			for b.Loop() {
				d.Append("a ")
				d.Lines(100)
			}
		})
	}
}
