//go:build unix && !race

// The race detector multiplies what is measured here, and not evenly.

package safetext

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processTime is the CPU time of this process: other processes do not count.
func processTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no caller
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cost measures f, which must not depend on earlier calls.
func cost(f func()) (cpu time.Duration, allocated uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processTime()
	f()
	cpu = processTime() - began
	runtime.ReadMemStats(&after)
	return cpu, after.TotalAlloc - before.TotalAlloc
}

// checkLinear compares the cost of f with that of four times the bytes.
func checkLinear(t *testing.T, what string, small, large func()) {
	t.Helper()
	cpu, cpu4 := time.Duration(1<<62), time.Duration(1<<62)
	for range 20 { // of a busy machine the best counts
		c, memory := cost(small)
		c4, memory4 := cost(large)
		if memory4 > 6*memory+1<<20 {
			t.Errorf("%s: 64 KiB take %d KiB, 256 KiB take %d KiB", what, memory>>10, memory4>>10)
			return
		}
		if cpu, cpu4 = min(cpu, c), min(cpu4, c4); cpu4 < 10*cpu+10*time.Millisecond {
			return
		}
	}
	t.Errorf("%s: 64 KiB take %v, 256 KiB take %v", what, cpu, cpu4)
}

// Four times the bytes may take little more than four times the memory, and not
// the sixteen times the time that a quadratic function takes.
func TestCostIsLinearInTheBytes(t *testing.T) {
	r := NewRedactor([]string{secret, strings.Repeat("a", 40)})
	functions := map[string]func(string){
		"Clean": func(s string) { Clean(s) }, "Visible": func(s string) { Visible(s) },
		"Line": func(s string) { Line(s, 80) }, "Redact": func(s string) { r.Redact(s) },
		"Cleaner": func(s string) {
			var c Cleaner
			for ; s != ""; s = s[min(len(s), 100):] {
				c.Write(s[:min(len(s), 100)])
			}
			c.Flush()
		},
	}
	for name, unit := range map[string]string{
		"prose": "The quick brown fox. ", "unterminated sequences": "\x1b]0;aaaa", "escapes": `\u0061`, "percent": "%61",
		"marks": "a\u0301\u0301\u0301", "joiners": "\u200d\u200c", "broken": "\xe2\x9b\xf0", "look-alikes": "g\u043ft",
		"nearly the secret": strings.Repeat("a", 39) + "b", "the secret": strings.Repeat("a", 40), "backslashes": `\`,
	} {
		const size = 1 << 16
		small, large := strings.Repeat(unit, size/len(unit)), strings.Repeat(unit, 4*size/len(unit))
		for what, f := range functions {
			checkLinear(t, what+" of "+name, func() { f(small) }, func() { f(large) })
		}
	}
}
