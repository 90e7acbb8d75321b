package plain

import (
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
)

func TestSessionsAreListedAndGoneOnWith(t *testing.T) {
	h := store(t)
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), func(o *testOptions) { o.History = h })
	first := r.session.ID()
	if err := h.Touch(t.Context(), history.Session{ID: first, Folder: "/somewhere"}); err != nil {
		t.Fatal(err)
	}
	r.say("/session")
	r.wait("No session has messages yet.")
	r.say("about cats")
	r.wait("In context: 1 of 1 messages.")
	r.say("/session new")
	r.wait("This is a new session.")
	second := r.session.ID()
	if s, found, err := h.Session(t.Context(), second); err != nil || !found || s.Folder != "/somewhere" {
		t.Errorf("the new session is in %q, found %v, %v; want the folder of the one before", s.Folder, found, err)
	}
	r.say("about dogs")
	r.wait("In context: 1 of 1 messages.")
	r.say("/session")
	r.wait("  1 about dogs (1 message, ")
	r.wait(", /somewhere, this one)\n  2 about cats (1 message, ")
	r.say("/session CATS")
	r.wait("  1 about cats (1 message, ")
	r.say("/session 2")
	r.wait("There is no session with that number; /session lists and numbers them.")
	r.say("/session 1")
	r.wait("The session continues")
	if r.session.ID() != first {
		t.Errorf("the session is %s, want %s", r.session.ID(), first)
	}
	r.say("/messages")
	r.wait("  1 about cats\n")
	r.say("/session 1")
	r.wait("That is the current session.")
}

func TestMarksOfAPair(t *testing.T) {
	h := store(t)
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), func(o *testOptions) { o.History = h })
	r.say("about cats")
	r.wait("In context: 1 of 1 messages.")
	r.say("/filter x :topic Animals>Cats")
	r.answer("Type yes to do it: ", "yes")
	r.wait("1 message ")
	r.say("/filter x :star 2")
	r.wait("1 message now has 2 stars.")
	r.say("/filter x :unflag")
	r.wait("1 message ")
	r.say("/filter x :flag")
	r.wait("1 message ")
	r.wait("You: ")
	pairs, err := r.session.Pairs(t.Context(), []int64{r.session.Visible()[0].Seq})
	if err != nil || len(pairs) != 1 || pairs[0].Star != 2 || !pairs[0].Flag || pairs[0].Topic != "Animals > Cats" {
		t.Errorf("the pair is %+v, %v", pairs, err)
	}
}
