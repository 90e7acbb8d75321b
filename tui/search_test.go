package tui

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/tuitest"
)

// What is not on the screen is not loaded; a search finds it all the same.
func TestSearchFindsPairsThatAreNotLoaded(t *testing.T) {
	r := start(t, 100, 24)
	r.Wait("What would you like to change?")
	var put []*assistant.Pair
	for i := range 200 {
		p := assistant.Pair{
			Session: r.session.ID(), State: assistant.PairComplete, Flag: true, CreatedAt: r.clock.Now(),
			UserText: safetext.Text(fmt.Sprintf("question %d", i)), AssistantText: safetext.Text(strings.Repeat("some words\n\n", 5)),
		}
		if i == 3 || i == 120 {
			p.AssistantText += "It was the Platypus."
		}
		put = append(put, &p)
	}
	put[60].Session = "another" // out of view: no hit
	put[60].AssistantText = "platypus"
	if err := r.store.Commit(t.Context(), &assistant.Batch{Put: put}); err != nil {
		t.Fatal(err)
	}
	r.Type(tuitest.Esc, "f", tuitest.Enter)
	r.Wait("question 199")
	r.Type("/platypus", tuitest.Enter)
	r.Wait("match 1 of 1 in message 1 of 2") // once it is loaded
	r.Wait("question 4")                     // the one after the hit
	r.Type("n")
	r.Wait("match 1 of 1 in message 2 of 2")
	r.Wait("question 121")
	r.Type("N")
	r.Wait("question 4")
	r.Type("/wombat", tuitest.Enter)
	r.Wait("no shown message contains")
}

// A long answer is searched line by line, and read line by line.
func TestSearchAndWalkInsideALongAnswer(t *testing.T) {
	var long strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, "line %d. NEEDLE is %d\n\n", i, i%50)
	}
	r := start(t, 80, 24, say(long.String()), say("short"))
	r.Type("talk", tuitest.Send)
	r.Wait("line 199.") // who reads at the end stays there
	r.WaitGone("working")
	r.Type(tuitest.Esc, "g/needle is 42", tuitest.Enter)
	for _, want := range []string{"line 42.", "line 92.", "line 142.", "line 192.", "line 42."} {
		r.Wait(want)
		r.Type("n")
	}
	r.Type("/", tuitest.Up)
	r.Wait("needle is 42")
	r.Type(tuitest.Esc, tuitest.Esc)
	r.WaitGone("needle is 42 ")

	r.Type("gj") // from the message to the answer
	r.Wait("line 0.")
	r.Type(strings.Repeat("j", 4))
	r.WaitGone("line 0.")
	r.Wait("line 2.")
	r.Type(strings.Repeat("k", 4))
	r.Wait("line 0.")
	r.Type("i", "more", tuitest.Send)
	r.Wait("short")
	r.WaitGone("working")
	r.Type(tuitest.Esc, "Gk")
	r.Wait("line 199.") // from below one comes to its end
}

// A card that opens at the end shows its head, and as much of what is in it as
// there is room for.
func TestOpeningACardLeavesItsHeadOnTheScreen(t *testing.T) {
	r := start(t, 80, 14, at.Answer{call("add_word", `{"word":"three"}`)}, say("added"))
	r.Type("go on", tuitest.Send)
	r.Wait("added")
	r.WaitGone("working")
	r.Type(tuitest.Esc, "gj")
	r.Wait("▌ ▸ ✓ added three")
	r.Type("G", "j", tuitest.Space)
	r.Wait("▾ ✓ added three")
	r.Wait(`"word": "three"`)
	r.Type(tuitest.Space)
	r.Wait("▸ ✓ added three")
	r.Wait("added ")
}
