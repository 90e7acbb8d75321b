//go:build unix

package tui

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkAnEditOnServedScreens is the CPU time of the process from an edit by one user to
// the frames of all screens, with the terminals in memory that draw them. What the same
// screens cost meanwhile when nothing happens is subtracted.
func BenchmarkAnEditOnServedScreens(b *testing.B) {
	var models []string
	for i := range 500 {
		models = append(models, fmt.Sprintf("openai/gpt-%d-%d", i%20, i))
	}
	for _, screens := range []int{1, 50} {
		b.Run(fmt.Sprint(screens), func(b *testing.B) {
			g := newTeamOver(b, models)
			var all []*member
			for i := range screens {
				all = append(all, g.join(fmt.Sprint("user", i), 120, 32))
			}
			spent := func() time.Duration {
				time.Sleep(500 * time.Millisecond) // all have drawn
				var u syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no caller
				return time.Duration(u.Utime.Nano() + u.Stime.Nano())
			}
			var edits, rests time.Duration
			n := 0
			for b.Loop() {
				start := spent()
				rested := spent()
				if _, err := all[0].session.CallTool(b.Context(), "add_ignore_rule", json.RawMessage(fmt.Sprintf(`{"pattern":"gpt-%d-%d*"}`, n%20, n)), nil); err != nil {
					b.Fatal(err)
				}
				edits += spent() - rested
				rests += rested - start
				n++
			}
			perEdit := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
			b.ReportMetric(perEdit(edits-rests), "cpu-ms/edit")
			b.ReportMetric(perEdit(rests), "cpu-ms/rest")
		})
	}
}
