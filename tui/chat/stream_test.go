package chat

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// TestMain collects garbage less often: a tenth of the time went into it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// streaming is a view with a pair that runs.
func streaming() (*View, *item) {
	v := view()
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	v.StartTurn(assistant.Pair{Seq: 1, UserText: "go on", CreatedAt: noon, Flag: true})
	return v, v.src.item(1)
}

// lines are all lines of the pair at a width.
func (it *item) lines(width int) (all []string) {
	it.rc.budget = math.MaxInt
	it.layOut(width)
	for y := range it.height {
		all = append(all, it.line(y))
	}
	return all
}

// What stays of the frame before must be what a new drawing would give, whatever
// comes and whatever is done to the view.
func TestAFrameKeepsWhatHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, it := streaming()
		width, calls := 40, 0
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"text", "text", "text", "thought", "tool", "done", "width", "raw", "fold"}).Draw(t, "step") {
			case "text":
				v.Apply(assistant.TextDelta{Text: rapid.SampledFrom([]safetext.Text{
					"word ", "\n\n", "- item\n", "```go\nx := 1\n", "```\n", "| a | b |\n|---|---|\n", "| c | d |\n", "> q\n", "[l]: http://e.x\n", "[l] ", "*",
				}).Draw(t, "text")})
			case "thought":
				v.Apply(assistant.ReasoningDelta{Text: "hm\n"})
			case "tool":
				v.Apply(assistant.ToolStart{Index: calls, Tool: "f", Input: json.RawMessage(`{}`)})
				calls++
			case "done":
				if calls > 0 {
					v.Apply(assistant.ToolComplete{Index: calls - 1, Tool: "f", Success: true, Message: fmt.Sprint(i)})
				}
			case "width":
				width = rapid.IntRange(10, 60).Draw(t, "width")
			case "raw":
				for _, p := range it.parts {
					if text, ok := p.(*textPart); ok {
						text.raw, text.dirty = !text.raw, true
					}
				}
				it.changed()
			case "fold":
				for _, p := range it.parts {
					p.state().setOpen(i%2 == 1)
				}
				it.changed()
			}
			got := it.lines(width)
			if rapid.Bool().Draw(t, "again") {
				it.redraw()
				if want := it.lines(width); !slices.Equal(got, want) {
					t.Fatalf("step %d, width %d:\n%q\ndrawn anew:\n%q", i, width, got, want)
				}
			}
		}
	})
}

// A running answer can be copied as far as it has come, without what is no text of it.
func TestARunningAnswerIsCopiedAsFarAsItHasCome(t *testing.T) {
	v, _ := streaming()
	v.Apply(assistant.ReasoningDelta{Text: "hm"})
	v.Apply(assistant.TextDelta{Text: "One **word**,\n"})
	v.Apply(assistant.ToolStart{Tool: "f", Input: json.RawMessage(`{}`)})
	v.Apply(assistant.TextDelta{Text: "and"})
	v.View(80, 20)
	v.FocusLast()
	if got, ok := v.Answer(); got != "One **word**,\n\nand" || !ok {
		t.Errorf("the answer is %q, %v", got, ok)
	}
	if got, ok := v.Markdown(); !strings.HasSuffix(got, "\n\nOne **word**,\n\n> `f {}`: \n\nand\n") || !ok {
		t.Errorf("the pair is %q, %v", got, ok)
	}
}

// A running answer goes on where it was resumed: it is drawn and copied as one that was
// followed from its beginning, wherever it was cut.
func TestAResumedAnswerGoesOnWhereItWasCut(t *testing.T) {
	const answer safetext.Text = "One *two* three,\nfour.\n\n- a list\n- `of` two\n\n```go\nx := 1\n```\nthe end"
	end := func(v *View, it *item) string {
		v.View(30, 40)
		v.FocusLast()
		running, _ := v.Answer()
		v.Load([]assistant.Pair{{Seq: 1, UserText: "go on", CreatedAt: noon, Flag: true, AssistantText: answer, State: assistant.PairComplete}})
		stored, _ := v.Answer()
		return plain(it.lines(30)) + "\n" + running + "\n" + stored
	}
	v, it := streaming()
	v.Apply(assistant.TextDelta{Text: answer})
	want := end(v, it)
	for cut := range len(answer) + 1 {
		v, it := streaming()
		v.ResumeTurn(assistant.Pair{Seq: 1, UserText: "go on", CreatedAt: noon, Flag: true, AssistantText: answer[:cut]})
		if cut%2 == 0 {
			it.lines(30) // it was drawn before it went on
		}
		v.Apply(assistant.TextDelta{Text: answer[cut:]})
		if got := end(v, it); got != want {
			t.Fatalf("cut after %q it is\n%s\nand not\n%s", answer[:cut], got, want)
		}
	}
}

// Reasoning that was incomplete when its turn was resumed continues after what had been
// received. It is open, and its duration is not counted from the year 1.
func TestResumedReasoningGoesOnWhereItWasCut(t *testing.T) {
	for _, drawn := range []bool{false, true} {
		v, it := streaming()
		v.ResumeTurn(assistant.Pair{Seq: 1, UserText: "go on", CreatedAt: noon, Flag: true, Reasoning: "First this, "})
		if drawn {
			it.lines(30)
		}
		v.Apply(assistant.ReasoningDelta{Text: "then that."})
		if got := plain(it.lines(30)); !strings.Contains(got, "First this, then that.") {
			t.Errorf("drawn %v: the reasoning is\n%s", drawn, got)
		}
		v.Apply(assistant.TextDelta{Text: "Done."})
		if got := plain(it.lines(30)); !strings.Contains(got, "thinking") {
			t.Errorf("drawn %v: the reasoning took no time that is known, but is shown as\n%s", drawn, got)
		}
	}
}
