//go:build unix && !race

// What is measured here is wrong under the race detector, which allocates more.

package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"winnow/assistant"
)

// units are what long texts are repeated of.
var units = map[string]string{
	"prose": "some **words** of an answer\n\n", "lines": "a\n", "no line break": "word ", "one word": "w", "wide": "日本語", "marks": "e\u0301\u0301 ", "blanks": " ", "line breaks": "\n",
	"tabs": "\t", "fences": "```\na\n```\n", "named fences": "``` zz\na\n```\n", "code": "```c\n\n\n\n\nx = \"\n```\n", "quotes": "> > ", "fences in quotes": "> ```\n> a\n\n", "items": "- a\n  - b\n",
	"tables": "| a | b |\n|---|---|\n| c | d |\n\n", "definitions": "[a]: http://e.x\n[a] ", "brackets": "[![", "think": "<think>a</think>", "escapes": "\x1b[31m\r\u202e", "markers": "[[tool:0]]",
}

// places are where in a pair a long text may stand.
var places = map[string]func(p *assistant.Pair, text string){
	"answer":    func(p *assistant.Pair, text string) { p.AssistantText = text },
	"reasoning": func(p *assistant.Pair, text string) { p.Reasoning = text },
	"message":   func(p *assistant.Pair, text string) { p.UserText = text },
	"notice":    func(p *assistant.Pair, text string) { p.Notice = text },
	"error":     func(p *assistant.Pair, text string) { p.State, p.ErrorMessage = assistant.PairError, text },
	"output":    func(p *assistant.Pair, text string) { call(p).Result.Message = text },
	"arguments": func(p *assistant.Pair, text string) {
		call(p).Arguments, _ = json.Marshal(map[string]string{"a": text})
	},
	"name": func(p *assistant.Pair, text string) { call(p).Name = text },
	"payload": func(p *assistant.Pair, text string) {
		data, _ := json.Marshal(map[string]string{"a": text})
		p.Payloads = []assistant.Payload{{ID: "p", Type: "t", Data: data, Summary: text}}
	},
	"topic": func(p *assistant.Pair, text string) { p.Topic, p.Author, p.Model = text, text, text },
}

func call(p *assistant.Pair) *assistant.ToolCall {
	p.ToolCalls = []assistant.ToolCall{{ID: "c", Name: "f", Arguments: json.RawMessage(`{}`), Result: &assistant.ToolResult{Success: true}}}
	return &p.ToolCalls[0]
}

// use is what a long pair costs: CPU time and allocated bytes, of all, of the frame that
// allocates most, and what stays in memory.
type use struct {
	cpu         time.Duration
	all, frame  uint64
	stays       int64
	frames      int
	description string
}

// useOf draws a pair in all its forms: rendered, as source, unfolded, at another width, and
// copies it.
func useOf(p assistant.Pair) (u use) {
	v := view()
	var before, frame, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processTime()
	do := func(what string, f func()) {
		f()
		for more := true; more; {
			runtime.ReadMemStats(&frame)
			more = v.LayOut()
			v.View(80, 30)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - frame.TotalAlloc; n > u.frame {
				u.frame, u.description = n, what
			}
			u.frames++
		}
	}
	do("drawn", func() { show(v, p); v.View(80, 30) })
	do("unfolded", func() { v.FocusLast(); v.ToggleAll() })
	do("raw", v.ToggleRaw)
	do("at the top", v.Top)
	do("narrower", func() { v.View(50, 30) })
	do("rendered", v.ToggleRaw)
	v.Answer()
	v.Markdown()
	v.Code()
	u.cpu = processTime() - began
	runtime.ReadMemStats(&after)
	u.all = after.TotalAlloc - before.TotalAlloc
	runtime.GC()
	runtime.ReadMemStats(&after)
	u.stays = int64(after.HeapAlloc) - int64(before.HeapAlloc)
	runtime.KeepAlive(v)
	return u
}

// processTime is the CPU time of this process: other processes do not count.
func processTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no caller
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Whatever a pair holds, and wherever: drawing, unfolding, its source and copying take time
// and memory in proportion to it, no frame more than its share, and little stays.
func TestALongPairCostsWhatItsLengthCosts(t *testing.T) {
	const size = 64 << 10
	pairOf := func(place, unit string, size int) assistant.Pair {
		p := pair(1, "q", "a")
		places[place](&p, strings.Repeat(unit, size/len(unit)))
		return p
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		for _, name := range slices.Sorted(maps.Keys(units)) {
			if place != "answer" && strings.ContainsAny(units[name], "`|>[") {
				continue // Markdown is drawn in answers only
			}
			what := fmt.Sprintf("%s of %s", place, name)
			small, large := useOf(pairOf(place, units[name], size)), useOf(pairOf(place, units[name], 4*size))
			for range 5 { // of a busy machine the best counts
				if large.cpu <= 8*small.cpu+50*time.Millisecond {
					break
				}
				small.cpu, large.cpu = min(small.cpu, useOf(pairOf(place, units[name], size)).cpu), min(large.cpu, useOf(pairOf(place, units[name], 4*size)).cpu)
			}
			if large.cpu > 8*small.cpu+50*time.Millisecond || large.all > 6*small.all+4<<20 {
				t.Errorf("%s: %v and %d KiB for %d KiB of text, %v and %d KiB for four times as much", what, small.cpu, small.all>>10, size>>10, large.cpu, large.all>>10)
			}
			if most := uint64(32 << 20); large.frame > most {
				t.Errorf("%s: a frame (%s) allocates %d KiB, want at most %d", what, large.description, large.frame>>10, most>>10)
			}
			if most := int64(64<<20 + 8*4*size); large.stays > most {
				t.Errorf("%s: %d KiB stay in memory, want at most %d", what, large.stays>>10, most>>10)
			}
			t.Logf("%s: %v, %d KiB, frame %d KiB (%s) of %d, stays %d KiB", what, large.cpu, large.all>>10, large.frame>>10, large.description, large.frames, large.stays>>10)
		}
	}
}
