package tui

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"

	"winnow/assistant/assistanttest"
)

// TestMain starts the clock of the matcher behind code highlighting before any
// bubble of time does: a goroutine that a bubble starts must end with it, and
// that one does not. Times on the screen are those of the user's place; here
// it is Greenwich, wherever the tests run.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	assistanttest.UseMemory()
	debug.SetGCPercent(400) // frames are many and short-lived: a tenth of the time went into collecting them
	warm := regexp2.MustCompile("a")
	warm.MatchTimeout = time.Hour // longer than any run of the tests
	if _, err := warm.MatchString("a"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
