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

	"winnow/assistant/assistanttest"
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
	size := assistanttest.Rounds(8<<10, 16<<10)
	small, work := cost(source(size))
	large, workLarge := cost(source(4 * size))
	if large > uint64(6*int(small)+64*size) || workLarge > 6*work+4*size {
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

// mostFrame is the work of the longest frame, in bytes: a piece of code coloured
// twice and laid out, with the sequences of its colours, in an item.
const mostFrame = 48_000

// streamed is the work for a text that is streamed: in all frames but the last, which
// finishes it, and in the longest frame.
type streamed struct{ total, worst, at int }

func workOf(src string) (w streamed) {
	var d *Doc
	streamTo(src, &d, func(i int, _ time.Duration) {
		last := w.total
		w.total = d.work.total()
		if n := w.total - last; n > w.worst {
			w.worst, w.at = n, i
		}
		if d.Size() == len(src) {
			w.total = last
		}
	})
	return w
}

// The work per token must not depend on the length of the answer. No frame may take in more
// than a screen or two, however long the answer is, nor may the last one.
func TestCostOfATokenIsFlat(t *testing.T) {
	short := assistanttest.Rounds(1_500, 3_000)
	long := 4 * short
	for name, text := range texts {
		a, b := workOf(text(short)), workOf(text(long))
		perShort, perLong := float64(a.total)/float64(short), float64(b.total)/float64(long)
		t.Logf("%s: %.0f bytes of work a token at %d, %.0f at %d; %d in frame %d", name, perShort, short, perLong, long, b.worst, b.at)
		if perLong > perShort*1.3 {
			t.Errorf("%s: %.0f bytes of work a token at %d, but %.0f at %d", name, perShort, short, perLong, long)
		}
		if name == "fence" && perLong > mostFence {
			t.Errorf("%.0f bytes of work for a token of code, want at most %d", perLong, mostFence)
		}
		if b.worst > mostFrame {
			t.Errorf("%s: %d bytes of work in frame %d, want at most %d", name, b.worst, b.at, mostFrame)
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
		src := texts[name](assistanttest.Rounds(10_000, 20_000))
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
