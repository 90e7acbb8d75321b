//go:build !race

// Memory is measured wrong under the race detector: a sync.Pool drops a part of what
// it is given, so that more is allocated. The work is counted on one goroutine: the
// race detector would only take minutes for it.

package markdown

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are units of which a small answer is made to cost as much as possible.
var hostile = []string{
	">", "- ", "* a\n", "1. ", "> - ", "> a\n\n", "[", "![", "[a](b) ", "[a]: b\n", "*a **b ", "`", "``` ", "_", "~~", "|", "| a ", "|-",
	"&", "\\", "<", "# ", "\t", " ", "\n", "- - ", "  - a\n", "www.a.b ", "**", "a\n-\n", "日", "a\u0301", "```\n", "> ```\n", "*-a",
}

// cost is what a text costs that is given at once and drawn: bytes allocated and
// bytes that go through the stages.
func cost(src string) (allocated uint64, worked int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := New(look)
	d.Append(src)
	d.Finish()
	d.drawn(100)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, d.work.total()
}

// drawn draws the lines that a screen shows of the document, its last ones.
func (d *Doc) drawn(width int) {
	d.Lines(width)
	if rest := d.Rest(); rest != nil {
		rest.LayOut(width, math.MaxInt)
		for i := max(0, rest.Len()-200); i < rest.Len(); i++ {
			rest.Line(i)
		}
	}
}

// linear fails when four times the text costs clearly more than four times.
func linear(t *testing.T, name string, source func(size int) string) {
	t.Helper()
	const size = 16 << 10
	small, work := cost(source(size))
	large, workLarge := cost(source(4 * size))
	if large > 6*small+1<<20 || workLarge > 6*work+1<<16 {
		t.Errorf("%s: %d bytes allocated and %d of work for %d, but %d and %d for four times as much", name, small, work, size, large, workLarge)
	}
}

func TestHostileTextCostsWhatItsLengthCosts(t *testing.T) {
	for _, unit := range hostile {
		linear(t, fmt.Sprintf("%q", unit), func(size int) string { return strings.Repeat(unit, size/len(unit)) })
	}
	linear(t, "columns", func(size int) string {
		return strings.Repeat("|a", 250) + "\n" + strings.Repeat("|-", 250) + "\n" + strings.Repeat("b\n", size/2)
	})
	linear(t, "deep fence", func(size int) string {
		return strings.Repeat("> ", 60) + "```\n" + strings.Repeat(strings.Repeat("> ", 60)+"x\n", size/122)
	})
}

// The texts that froze or killed the program, drawn in full.
func TestHostileTextIsBounded(t *testing.T) {
	for name, src := range map[string]string{
		"quotes": strings.Repeat(">", 20_000) + " text", "items": strings.Repeat("- ", 32_000), "list": strings.Repeat("* a\n", 262_144),
		"a line of 4 MiB": strings.Repeat("words ", 700_000), "4 MiB of prose": strings.Repeat("some **words** of it\n\n", 200_000),
		"a line of code of 4 MiB": "```\n" + strings.Repeat("words ", 700_000),
		"quotes of items":         strings.Repeat("> - ", 16_000) + "\n" + strings.Repeat("text ", 2000),
	} {
		allocated, _ := cost(src)
		if most := uint64(128*len(src) + 64<<20); allocated > most {
			t.Errorf("%s: %d bytes allocated for %d, want at most %d", name, allocated, len(src), most)
		}
	}
}

// The work per token must not depend on the length of the answer.
func TestCostOfATokenIsFlat(t *testing.T) {
	const short, long = 2_000, 8_000
	for name, text := range texts {
		a, b := stream(text(short), nil).work.total(), stream(text(long), nil).work.total()
		perShort, perLong := float64(a)/short, float64(b)/long
		t.Logf("%s: %.0f bytes of work a token at %d, %.0f at %d", name, perShort, short, perLong, long)
		if perLong > perShort*1.3 {
			t.Errorf("%s: %.0f bytes of work a token at %d, but %.0f at %d", name, perShort, short, perLong, long)
		}
		if name == "fence" && perLong > mostFence {
			t.Errorf("%.0f bytes of work for a token of code, want at most %d", perLong, mostFence)
		}
	}
}

// mostFrame is the work of the longest frame, in bytes: a piece of code coloured
// twice and laid out, with the sequences of its colours, in an item.
const mostFrame = 48_000

// No frame may take in more than a screen or two, however long the answer is, nor
// may the last one.
func TestLongestFrameIsBounded(t *testing.T) {
	const tokens = 12_000
	for name, text := range texts {
		d, before, worst, at := (*Doc)(nil), 0, 0, 0
		streamTo(text(tokens), &d, func(i int, _ time.Duration) {
			if n := d.work.total() - before; n > worst {
				worst, at = n, i
			}
			before = d.work.total()
		})
		t.Logf("%s: %d bytes of work in frame %d", name, worst, at)
		if worst > mostFrame {
			t.Errorf("%s: %d bytes of work in frame %d, want at most %d", name, worst, at, mostFrame)
		}
	}
}

// FuzzCost repeats a unit: whatever it is, cost is linear in the length.
func FuzzCost(f *testing.F) {
	f.Add("", "> - a\n")
	f.Add("- > ", "[a](b) *c ")
	f.Fuzz(func(t *testing.T, start, unit string) {
		if len(unit) == 0 || len(unit) > 64 || len(start) > 256 {
			t.Skip()
		}
		linear(t, fmt.Sprintf("%q then %q", start, unit), func(size int) string { return start + strings.Repeat(unit, size/len(unit)) })
	})
}

// What an answer leaves in memory, and what is thrown away to draw it, is in
// proportion to its length: the heap grows while it is streamed by twice the former,
// and the latter is how often it is collected.
func TestMemoryOfAnAnswer(t *testing.T) {
	for name, most := range map[string]struct{ live, garbage float64 }{
		"prose": {live: 15, garbage: 200},
		"list":  {live: 28, garbage: 320},
		"mixed": {live: 40, garbage: 700},
		"fence": {live: 24, garbage: 2000},
	} {
		src := texts[name](20_000)
		answer := func() *Doc {
			d := New(look)
			const chunk = 2 << 10 // the chunks of a frame at full speed
			for at := 0; at < len(src); at += chunk {
				d.Append(src[at:min(at+chunk, len(src))])
				d.Lines(100)
			}
			d.Finish()
			d.Lines(100)
			return d
		}
		answer() // lexers are loaded, and all tables have grown
		start, kept := collected(), make([]*Doc, 4)
		for i := range kept {
			kept[i] = answer()
		}
		var drawn runtime.MemStats
		runtime.ReadMemStats(&drawn)
		end := collected()
		text := float64(len(kept) * len(src))
		live := float64(int64(end.HeapAlloc-start.HeapAlloc)) / text
		garbage := float64(drawn.TotalAlloc-start.TotalAlloc)/text - live
		t.Logf("%s: a byte of text is %.1f bytes of memory and %.0f of garbage", name, live, garbage)
		if live > most.live || garbage > most.garbage {
			t.Errorf("%s: a byte of text is %.1f bytes of memory and %.0f of garbage, want at most %.0f and %.0f", name, live, garbage, most.live, most.garbage)
		}
		runtime.KeepAlive(kept)
	}
}

// collected is the heap without garbage. It takes two collections: what lies in a
// sync.Pool goes with the second.
func collected() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}
