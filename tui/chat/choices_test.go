package chat

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/tui/keymap"
)

// suggesting is a pair whose answer offers two messages.
func suggesting(seq int64) assistant.Pair {
	p := pair(seq, "question", "answer")
	p.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "one", Value: "one"}, {Label: "two", Value: "two"}}}
	return p
}

// A button with the number of a choice is on the screen exactly while that number chooses.
func TestAButtonIsDrawnWhileItsKeyWorks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := view()
		v.SetKeys(func(a keymap.Action) string {
			for n := 1; n <= 2; n++ {
				if a == keymap.Choose(n) {
					return fmt.Sprint("alt+", n)
				}
			}
			return ""
		})
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			last := rapid.Int64Range(1, 5).Draw(t, "last")
			switch rapid.SampledFrom([]string{"refs", "load", "start", "resume", "text", "end", "remove", "saved", "busy"}).Draw(t, "step") {
			case "refs":
				refs := make([]assistant.Ref, last-1)
				for i := range refs {
					refs[i] = assistant.Ref{Seq: int64(i + 1), Contributes: true}
				}
				v.SetRefs(refs, 0)
			case "load":
				v.Load([]assistant.Pair{suggesting(last)})
			case "start":
				v.EndTurn()
				v.StartTurn(assistant.Pair{Seq: last, UserText: "question", State: assistant.PairSending})
			case "resume":
				v.EndTurn()
				turn := suggesting(last)
				turn.State = assistant.PairSending
				v.ResumeTurn(turn)
			case "text":
				v.Apply(assistant.TextDelta{Text: "more"})
			case "end":
				v.EndTurn()
			case "remove":
				v.Remove(last)
			case "busy":
				v.SetBusy(last > 2)
			case "saved":
				v.SetUnsaved(last > 2)
			}
			frame := plain(v.View(60, 60))
			for n := 1; n <= 2; n++ {
				want := 0
				if n <= len(v.Choices()) {
					want = 1
				}
				if drawn := strings.Count(frame, fmt.Sprintf("[alt+%d ", n)); drawn != want {
					t.Fatalf("%d buttons with alt+%d, %d choices:\n%s", drawn, n, len(v.Choices()), strings.TrimSpace(frame))
				}
			}
		}
	})
}
