package assistant_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// pieces is an answer of n pieces of text and reasoning, in runs of random lengths.
func pieces(random *rand.Rand, n int) (answer at.Answer) {
	for thinks := false; n > 0; thinks = !thinks {
		for range min(n, 1+random.IntN(200)) {
			piece := string(rune('a' + random.IntN(26)))
			if n--; thinks {
				answer = append(answer, at.Think(piece))
			} else {
				answer = append(answer, at.Say(piece))
			}
		}
	}
	return answer
}

// joined are events with neighbouring pieces of text, and of reasoning, as one.
func joined(events []assistant.Event) (all []assistant.Event) {
	for _, e := range events {
		var last assistant.Event
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		switch e := e.(type) {
		case assistant.TextDelta:
			if l, ok := last.(assistant.TextDelta); ok {
				all[len(all)-1] = assistant.TextDelta{Text: l.Text + e.Text}
				continue
			}
		case assistant.ReasoningDelta:
			if l, ok := last.(assistant.ReasoningDelta); ok {
				all[len(all)-1] = assistant.ReasoningDelta{Text: l.Text + e.Text}
				continue
			}
		default:
		}
		all = append(all, e)
	}
	return all
}

// A reader that reads nothing holds neither the turn nor the window, and gets everything
// in order when it reads.
func TestATurnDoesNotWaitForItsReader(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 33)) //nolint:gosec // the same answers in each run
		first := pieces(random, 10_000)
		again := slices.Clone(first)
		r := newRig(t, at.NewScript(append(first, addWord("two")), at.Answer{at.Say(" End.")}, append(again, addWord("three")), at.Answer{at.Say(" End.")}))
		events := r.begin(assistant.Prompt{Text: "hi"})
		for deadline := time.Now().Add(time.Minute); r.session.Busy(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the turn waits for its reader")
			}
		}
		if err := r.session.Edit("add four", func() error { return r.window.Type("four") }); err != nil {
			t.Errorf("the window after the turn: %v", err)
		}
		late := r.checked(at.Events(t, events))
		if len(late) > 2000 {
			t.Errorf("%d events of %d pieces were stored", len(late), len(first))
		}
		var told, thought strings.Builder
		for _, e := range late {
			switch e := e.(type) {
			case assistant.TextDelta:
				told.WriteString(string(e.Text))
			case assistant.ReasoningDelta:
				thought.WriteString(string(e.Text))
			default:
			}
		}
		if p := r.last(); told.String() != string(p.AssistantText) || thought.String() != string(p.Reasoning) || len(p.AssistantText) < 1000 {
			t.Errorf("seed %d: a part of the answer is lost", seed)
		}
		atOnce := r.turn(assistant.Prompt{Text: "hi"})
		if kinds(joined(late)) != kinds(joined(atOnce)) {
			t.Errorf("seed %d: read late\n%s\nread at once\n%s", seed, kinds(joined(late)), kinds(joined(atOnce)))
		}
	}
}

// kinds are the kinds of events, with the lengths of texts.
func kinds(events []assistant.Event) string {
	var b strings.Builder
	for _, e := range events {
		raw, _ := assistant.EncodeEvent(e)
		kind, _, _ := strings.Cut(string(raw), ",")
		b.WriteString(kind)
		switch e := e.(type) {
		case assistant.TextDelta:
			b.WriteString(string(e.Text))
		case assistant.ReasoningDelta:
			b.WriteString(string(e.Text))
		default:
		}
		b.WriteByte('\n')
	}
	return b.String()
}
