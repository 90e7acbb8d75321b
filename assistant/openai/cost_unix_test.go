//go:build unix && !race

// The race detector multiplies what is measured here, and not evenly.

package openai

import (
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"winnow/assistant/assistanttest"
)

// processTime is the CPU time of this process: other processes do not count.
func processTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no caller
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// feed decodes body, arriving in pieces of a read.
func feed(t *testing.T, body []byte) {
	t.Helper()
	a := &answer{Client: &Client{}}
	for piece := range slices.Chunk(body, readSize) {
		if _, _, err := a.write(piece); err != nil {
			t.Fatal(err)
		}
	}
}

// cost measures f.
func cost(f func()) (cpu time.Duration, allocated uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processTime()
	f()
	cpu = processTime() - began
	runtime.ReadMemStats(&after)
	return cpu, after.TotalAlloc - before.TotalAlloc
}

func TestCostIsLinearInTheBytes(t *testing.T) {
	for name, body := range map[string]func(n int) string{
		"one giant event": func(n int) string { return assistanttest.TextEvent(strings.Repeat("word ", n/5)) },
		"escapes": func(n int) string {
			return assistanttest.Delta(`{"content":"` + strings.Repeat(`\u00e4\n`, n/8) + `"}`)
		},
		"many events":         func(n int) string { return strings.Repeat(assistanttest.TextEvent("word "), n/170) },
		"a giant event name":  func(n int) string { return "event: " + strings.Repeat("x", n) + "\n\n" },
		"a giant comment":     func(n int) string { return ": " + strings.Repeat("x", n) + "\n\n" },
		"many empty lines":    func(n int) string { return strings.Repeat("\r\n", n/2) },
		"one call in pieces":  func(n int) string { return strings.Repeat(assistanttest.CallEvent(0, "a", "f", "word "), n/250) },
		"data in many lines":  func(n int) string { return "data: {\"x\":[1\n" + strings.Repeat("data: ,1\n", n/9) + "data: ]}\n\n" },
		"an unreadable event": func(n int) string { return "data: " + strings.Repeat("[", n) + "\n\n" },
		"half tags":           func(n int) string { return assistanttest.TextEvent(strings.Repeat(" <thin", n/6)) },
	} {
		t.Run(name, func(t *testing.T) {
			checkLinear(t, 1<<18, func(n int) func() {
				text := []byte(body(n))
				return func() { feed(t, text) }
			})
		})
	}
}

// Errors and lists of models come from the endpoint, too.
func TestCostOfOtherBodiesIsLinear(t *testing.T) {
	c, err := New(Options{BaseURL: "https://example.com/v1"})
	if err != nil {
		t.Fatal(err)
	}
	list := func(item string, n int) []byte {
		return []byte("[" + strings.Repeat(item+",", n/(len(item)+1)) + item + "]")
	}
	for name, read := range map[string]func(n int) func(){
		"an error of many words": func(n int) func() {
			body := list(`"word"`, n)
			return func() { parseFailure(body) }
		},
		"an error of many long words": func(n int) func() {
			body := []byte(`["` + strings.Repeat("x", 2000) + `",` + strings.Repeat(`"x",`, n/4) + `"y"]`)
			return func() { parseFailure(body) }
		},
		"an error that is nested": func(n int) func() {
			body := []byte(strings.Repeat(`{"error":`, n/9) + `"x"` + strings.Repeat("}", n/9))
			return func() { parseFailure(body) }
		},
		"a page": func(n int) func() {
			body := []byte(strings.Repeat("<title ", n/7))
			return func() { parseFailure(body) }
		},
		"a message": func(n int) func() {
			text := strings.Repeat("context length context ", n/23)
			return func() { Classify(400, "", text); contextLimit(text); c.displayable(text) }
		},
		"models": func(n int) func() {
			body := list(`{"id":"a","pricing":{"prompt":"0.1"},"capabilities":{"tools":true}}`, n)
			return func() { _, _ = c.parseModels(body) }
		},
		"models that are none": func(n int) func() {
			body := list(`null`, n)
			return func() { _, _ = c.parseModels(body) }
		},
	} {
		t.Run(name, func(t *testing.T) { checkLinear(t, 1<<17, read) })
	}
}

// checkLinear compares the cost of n bytes with that of four times as many: it may
// be little more than four times the memory, and not the sixteen times the time
// that something quadratic takes.
func checkLinear(t *testing.T, n int, read func(n int) func()) {
	t.Helper()
	small, large := read(n), read(4*n)
	cpu, cpu4 := time.Duration(1<<62), time.Duration(1<<62)
	for range 20 { // of a busy machine the best counts
		c, memory := cost(small)
		c4, memory4 := cost(large)
		if memory4 > 6*memory+1<<20 || memory4 > uint64(24*4*n) {
			t.Fatalf("%d KiB take %d KiB, four times as many take %d KiB", n>>10, memory>>10, memory4>>10)
		}
		if cpu, cpu4 = min(cpu, c), min(cpu4, c4); cpu4 < 10*cpu+10*time.Millisecond {
			return
		}
	}
	t.Errorf("%d KiB take %v, four times as many take %v", n>>10, cpu, cpu4)
}

func TestANameOfAnEventIsBounded(t *testing.T) {
	body := []byte("event: " + strings.Repeat("x", 24<<20) + "\n\n")
	if _, memory := cost(func() { feed(t, body) }); memory > 1<<20 {
		t.Errorf("a name of 24 MiB takes %d KiB", memory>>10)
	}
}
