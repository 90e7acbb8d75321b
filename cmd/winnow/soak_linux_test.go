package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// soakTurns is the number of measured turns, after a third as many that open everything that stays open.
const soakTurns = 60

// heapPerTurn is the number of bytes that a turn may leave in memory. Its index entry, telemetry and checkpoint take
// about six thousand.
const heapPerTurn = 24 << 10

// TestTurnsLeaveNothingBehind checks that a turn leaves no goroutine, no open file, and little memory.
func TestTurnsLeaveNothingBehind(t *testing.T) {
	ownFolder(t)
	t.Setenv("WINNOW_CONFIRM", "never")
	if err := os.WriteFile(".env", []byte("IGNORE_MODELS_OPENAI=gpt-3.5*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := opened(t)
	says := []string{"block all preview models", "which models are hidden?", "undo", "explain gpt-4o"}
	speak := func(turns int) (s spent) {
		for i := range turns {
			events, err := at.Send(t.Context(), p.session, assistant.Prompt{Text: says[i%len(says)]})
			if err != nil {
				t.Fatal(err)
			}
			var end assistant.Event
			for end = range events {
			}
			if _, whole := end.(assistant.Complete); !whole {
				t.Fatalf("%q ends with %#v", says[i%len(says)], end)
			}
		}
		return spentNow(t)
	}
	before := speak(soakTurns / 3)
	after := speak(soakTurns)
	// Goroutines of the last turn may still be ending.
	for patience := time.Now().Add(time.Minute); after.goroutines > before.goroutines || after.files > before.files; after = spentNow(t) {
		if time.Now().After(patience) {
			t.Fatalf("%d turns leave %d goroutines and %d files open, before there were %d and %d",
				soakTurns, after.goroutines, after.files, before.goroutines, before.files)
		}
		runtime.Gosched()
	}
	if grown := (after.heap - before.heap) / soakTurns; grown > heapPerTurn {
		t.Errorf("a turn leaves %d bytes in memory, at most %d are due", grown, heapPerTurn)
	}
}

// spent is what the process uses.
type spent struct {
	goroutines, files int
	heap              int64 // bytes in use
}

func spentNow(t *testing.T) spent {
	t.Helper()
	runtime.GC()
	runtime.GC() // frees what the first run has finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return spent{runtime.NumGoroutine(), len(files), int64(m.HeapAlloc)}
}
