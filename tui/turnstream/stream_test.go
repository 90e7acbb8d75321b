package turnstream_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	"winnow/tui/turnstream"
)

// A burst of chunks costs about 30 messages a second, whatever is in it; other
// events are messages of their own, in their order.
func TestABurstOfChunksIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan assistant.Event, 16)
		go func() {
			defer close(events)
			for i := range 1000 {
				time.Sleep(time.Millisecond)
				events <- assistant.TextDelta{Text: "x"}
				if i == 500 {
					events <- assistant.ToolStart{}
					events <- assistant.ReasoningDelta{Text: "hm"}
					events <- assistant.ToolComplete{}
				}
			}
			events <- assistant.Complete{}
		}()
		s := turnstream.New(1, events)
		text, thought, chunks := 0, "", 0
		var others []string
		for msg := s.Wait(); msg != nil; msg = s.Wait() {
			switch msg := msg.(type) {
			case turnstream.Chunk:
				chunks++
				if msg.Thought {
					thought += msg.Text
				} else {
					text += len(msg.Text)
				}
			case turnstream.Arrived:
				others = append(others, strings.TrimPrefix(fmt.Sprintf("%T", msg.Event), "assistant."))
			}
		}
		if text != 1000 || thought != "hm" || chunks > 40 {
			t.Errorf("%d characters and %q in %d messages, want 1000 and \"hm\" in about 32", text, thought, chunks)
		}
		if got := strings.Join(others, " "); got != "ToolStart ToolComplete Complete" {
			t.Errorf("the other messages are %s", got)
		}
	})
}
