//go:build unix && !race

// The race detector distorts the measurements.

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/checkpoint/privatefile"
)

// TestForeignBytesCostLinearly reads data from other programs: four times the bytes must cost about four times the
// CPU time and memory. Answers, errors and model lists (assistant/openai), texts (safetext) and Markdown
// (tui/markdown) have their own tests.
//
//nolint:thelper // the functions of the table are the test, not helpers of it
func TestForeignBytesCostLinearly(t *testing.T) {
	env := func(unit string) func(*testing.T, int) func() {
		return func(_ *testing.T, n int) func() {
			text := []byte(strings.Repeat(unit, n/len(unit)))
			return func() {
				f := dotenv.Parse(text)
				dotenv.Diff(f, f)
				dotenv.Changes(dotenv.Parse(nil), f)
			}
		}
	}
	line := func(before, unit, after string) func(*testing.T, int) func() {
		return func(_ *testing.T, n int) func() {
			text := before + strings.Repeat(unit, n/len(unit)) + after
			return func() {
				if q, err := filter.Parse(text); err == nil {
					filter.Print(q)
				}
				filter.Complete(text, len(text), filter.Sources{})
			}
		}
	}
	cached := func(list func(n int) any) func(*testing.T, int) func() {
		return func(t *testing.T, n int) func() {
			path := filepath.Join(t.TempDir(), "list")
			if err := privatefile.WriteDocument(path, list(n)); err != nil {
				t.Fatal(err)
			}
			return func() {
				var ids any
				if err := privatefile.ReadDocument(path, &ids); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		size int // in bytes or pieces
		read func(*testing.T, int) func()
	}{
		".env: many keys":             {1 << 16, func(t *testing.T, n int) func() { return env(manyKeys(n/16))(t, n) }},
		".env: one key again":         {1 << 15, env("KEY=value\n")},
		".env: a long value":          {1 << 16, func(t *testing.T, n int) func() { return env("K="+strings.Repeat("a,", n/2)+"\n")(t, n+3) }},
		".env: an open quote":         {1 << 14, env("K='a\n")},
		".env: open braces":           {1 << 14, env("K=${a\n")},
		".env: nested braces":         {1 << 14, func(t *testing.T, n int) func() { return env("K="+strings.Repeat("${", n/2))(t, n+2) }},
		"filter: words":               {1 << 12, line("", "word ", "")},
		"filter: brackets":            {1 << 12, line("", "(", "")},
		"filter: negations":           {1 << 12, line("", "not ", "x")},
		"filter: an open quote":       {1 << 12, line(`"`, `\"`, "")},
		"filter: a pattern":           {1 << 12, line("/", "(a*)*", "/")},
		"model lists: names":          {1 << 12, cached(func(n int) any { return strings.Split(manyKeys(n), "\n") })},
		"history import: pairs":       {100, importPairs},
		"history import: a long pair": {1 << 17, func(t *testing.T, n int) func() { return importPairsOf(t, 1, strings.Repeat("word ", n/5)) }},
		"history import: nested": {1 << 14, func(t *testing.T, n int) func() {
			return importing(t, []byte(`{"version":`+strings.Repeat("[", n)))
		}},
		"journal: checkpoints": {50, journalOf},
		"journal: junk":        {1 << 16, func(t *testing.T, n int) func() { return openingJournal(t, []byte(strings.Repeat("{\"x\":", n/5))) }},
		"journal: junk lines":  {1 << 14, func(t *testing.T, n int) func() { return openingJournal(t, []byte(strings.Repeat("{}\n", n/3))) }},
	} {
		t.Run(name, func(t *testing.T) { checkLinear(t, c.read(t, c.size), c.read(t, 4*c.size)) })
	}
}

// checkLinear compares the cost of reading with that of reading four times as much, which would be sixteen times as
// high if the cost were quadratic.
func checkLinear(t *testing.T, small, large func()) {
	t.Helper()
	cpu, cpu4 := time.Duration(1<<62), time.Duration(1<<62)
	memory, memory4 := uint64(1<<62), uint64(1<<62)
	for range 100 { // on a busy machine, the best run counts
		c, m := costOf(small)
		c4, m4 := costOf(large)
		cpu, cpu4, memory, memory4 = min(cpu, c), min(cpu4, c4), min(memory, m), min(memory4, m4)
		if cpu4 < 9*cpu+5*time.Millisecond && memory4 <= 6*memory+1<<20 {
			return
		}
	}
	t.Errorf("it takes %v and %d KiB, four times as much takes %v and %d KiB", cpu, memory>>10, cpu4, memory4>>10)
}

// costOf returns the CPU time that read uses and the bytes that it allocates.
func costOf(read func()) (cpu time.Duration, allocated uint64) {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := used()
	read()
	cpu = used() - began
	runtime.ReadMemStats(&after)
	return cpu, after.TotalAlloc - before.TotalAlloc
}

// manyKeys returns n lines of 16 bytes.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "KEY_%06d=abcd\n", i)
	}
	return b.String()
}

func openedHistory(t *testing.T) history.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// importing returns a function that imports text, which may be invalid, into an empty history.
func importing(t *testing.T, text []byte) func() {
	t.Helper()
	next := openedHistory(t)
	return func() {
		_, _ = transfer.Import(t.Context(), next, bytes.NewReader(text), nil)
		next = openedHistory(t)
	}
}

func importPairs(t *testing.T, n int) func() {
	t.Helper()
	return importPairsOf(t, n, "an answer")
}

func importPairsOf(t *testing.T, n int, answer string) func() {
	t.Helper()
	from, batch := openedHistory(t), &assistant.Batch{}
	for i := range n {
		batch.Put = append(batch.Put, &assistant.Pair{
			ID: fmt.Sprint("p", i), Session: "s", UserText: "a question", AssistantText: safetext.Text(answer), Model: "a/b", State: assistant.PairComplete, CreatedAt: time.Unix(int64(i), 0),
		})
	}
	if err := from.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := transfer.Export(t.Context(), from, &text, "json", transfer.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	return importing(t, text.Bytes())
}

// journalOf returns a function that opens a journal with n checkpoints.
func journalOf(t *testing.T, n int) func() {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	j, err := checkpoint.Open(path, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := j.Start(fmt.Sprint("session ", i), []byte(fmt.Sprintf(`{"n":%d}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return openingJournal(t, text)
}

// openingJournal returns a function that opens a journal file with this content read-only.
func openingJournal(t *testing.T, text []byte) func() {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if j, err := checkpoint.Open(path, checkpoint.Options{ReadOnly: true}); err == nil {
			_ = j.Close()
		}
	}
}
