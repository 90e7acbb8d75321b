package tui

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/tui/tuitest"
)

// What is not on the screen is not loaded; a search finds it all the same.
func TestSearchFindsPairsThatAreNotLoaded(t *testing.T) {
	r := start(t, 100, 24)
	r.Wait("What shall be done?")
	var put []*assistant.Pair
	for i := range 200 {
		p := assistant.Pair{
			Session: r.session.ID(), State: assistant.PairComplete, Flag: true, CreatedAt: r.clock.Now(),
			UserText: fmt.Sprintf("question %d", i), AssistantText: strings.Repeat("some words\n\n", 5),
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
	r.Type(tuitest.Esc, tuitest.Esc, tuitest.Enter)
	r.Wait("question 199")
	r.Type("/platypus", tuitest.Enter)
	r.Wait("question 3 ")
	r.Type("n")
	r.Wait("question 120")
	r.Type("N")
	r.Wait("question 3 ")
	r.Type("/", tuitest.Esc, "wombat", tuitest.Enter)
	r.Wait("is in no pair that is shown")
}
