package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/markup"
)

// What a turn has done stands line below line; what it says stands apart, and
// so does what is open.
func TestFoldedWorkStandsTogether(t *testing.T) {
	v := view()
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	v.StartTurn(assistant.Pair{Seq: 1, UserText: "hide", CreatedAt: noon, Flag: true})
	v.Apply(assistant.TextDelta{Text: "I'll do it.\n\n"})
	stored := pair(1, "hide", "I'll do it.\n\n[[tool:0]][[tool:1]][[tool:2]]\n\nDone.")
	for i := range 3 {
		name, args := fmt.Sprintf("tool_%d", i), json.RawMessage(`{}`)
		stored.ToolCalls = append(stored.ToolCalls, assistant.ToolCall{
			ID: name, Name: name, Arguments: args, Result: &assistant.ToolResult{Success: true, Message: fmt.Sprint("did ", i)},
		})
		v.Apply(assistant.ToolStart{Tool: name, Input: args, Index: i})
		v.View(60, 30) // as it runs
		v.Apply(assistant.ToolComplete{Tool: name, Index: i, Success: true, Message: fmt.Sprint("did ", i)})
		v.Apply(assistant.TextDelta{Text: markup.CardMarker(i)})
		v.View(60, 30)
	}
	v.Apply(assistant.TextDelta{Text: "\n\nDone."})
	want := "  I'll do it.\n\n  ▸ ✓ did 0\n  ▸ ✓ did 1\n  ▸ ✓ did 2\n\n  Done.\n"
	if got := plain(v.View(60, 30)); !strings.Contains(got, want) {
		t.Errorf("streamed:\n%s", got)
	}
	v.Load([]assistant.Pair{stored})
	if got := plain(v.View(60, 30)); !strings.Contains(got, want) {
		t.Errorf("stored:\n%s", got)
	}
	v.FocusLast()
	v.NextPart() // the text
	v.NextPart() // the first card
	for range 2 {
		v.ToggleFold()
		open := plain(v.View(60, 30))
		if !strings.Contains(open, "output  did 0\n\n  ▸ ✓ did 1\n") && !strings.Contains(open, "output  did 0\n\n▌ ▸ ✓ did 1\n") {
			t.Errorf("open:\n%s", open)
		}
		v.ToggleFold()
		if got := strings.ReplaceAll(plain(v.View(60, 30)), "▌", " "); !strings.Contains(got, want) {
			t.Errorf("closed again:\n%s", got)
		}
	}
}
