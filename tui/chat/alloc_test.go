//go:build !race

// What is measured here is wrong under the race detector, which allocates more.

package chat

import (
	"runtime"
	"strings"
	"testing"
)

// While an answer of 4 MiB is shown, a key costs what it costs under a short one.
func TestAKeyUnderALongAnswerCostsWhatItCostsUnderAShortOne(t *testing.T) {
	for name, unit := range map[string]string{"prose": "some **words** of an answer\n\n", "quotes": "> > ", "items": "- a\n  - b\n", "one line": "words "} {
		cost := func(size int) uint64 {
			v := view()
			show(v, pair(1, "q", strings.Repeat(unit, size/len(unit))), pair(2, "q", "short"))
			v.SetActive(true)
			v.View(100, 40)
			v.FocusLast()
			for v.LayOut() {
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 20 {
				v.PrevPart()
				v.ScrollBy(-3)
				v.View(100, 40)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if short, long := cost(64<<10), cost(4<<20); long > 2*short+1<<20 {
			t.Errorf("%s: 20 keys allocate %d bytes under 4 MiB, %d under 64 KiB", name, long, short)
		}
	}
}

// A frame of a streaming answer copies no lines: a long answer makes no more garbage.
func TestAFrameCopiesNoLongAnswer(t *testing.T) {
	const frames = 100
	garbage := func(before int) uint64 {
		v, _ := streaming()
		for i := range before {
			v.Apply(token(i))
			if i%200 == 0 {
				v.View(100, 50)
			}
		}
		v.View(100, 50)
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		for i := range frames {
			v.Apply(token(before + i))
			v.View(100, 50)
		}
		runtime.ReadMemStats(&end)
		return (end.TotalAlloc - start.TotalAlloc) / frames
	}
	early, late := garbage(2_000), garbage(20_000)
	t.Logf("%d bytes a frame after 2,000 tokens, %d after 20,000", early, late)
	if late > early*3/2 {
		t.Errorf("%d bytes a frame after 2,000 tokens, but %d after 20,000", early, late)
	}
}
