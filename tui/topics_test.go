package tui

import (
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// topicsOf are the paths of the tree.
func topicsOf(t *testing.T, r *rig) []string {
	t.Helper()
	all, err := r.store.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, topic := range all {
		paths = append(paths, topic.Path)
	}
	return paths
}

func TestTopicTree(t *testing.T) {
	r := start(t, 100, 30, say("about agents"))
	r.Type(tuitest.Key("ctrl+t"))
	r.Wait("alt+n new")
	r.Type("AI>Agents", tuitest.Key("alt+n"))
	r.Wait("new messages go to AI > Agents")
	r.Type("hello", tuitest.Send)
	r.Wait("about agents")
	r.Wait("1/1")

	r.Type(tuitest.Key("ctrl+t")) // opens on the selected one
	r.Wait("Topic of new messages")
	r.Type(tuitest.Key("alt+r"))
	r.Wait("Rename AI > Agents")
	r.Type(tuitest.Key("ctrl+u"), "Bots", tuitest.Enter)
	r.Wait("AI > Agents is now AI > Bots")
	if got := r.session.Topic(); got != "AI > Bots" {
		t.Errorf("new messages go to %q, want the renamed topic", got)
	}
	if got := topicsOf(t, r); !slices.Equal(got, []string{"AI", "AI > Bots"}) {
		t.Errorf("the tree is %q", got)
	}

	r.Type(tuitest.Key("ctrl+t"), tuitest.Up)
	r.Wait("›   AI")
	r.Type(tuitest.Key("alt+d"))
	r.Wait("Delete the topic AI?")
	r.clock.Advance(overlayGuard)
	r.Type("y")
	r.Wait("AI is deleted")
	if got := topicsOf(t, r); !slices.Equal(got, []string{"Bots"}) {
		t.Errorf("the tree is %q", got)
	}
	if got := r.session.Topic(); got != "Bots" {
		t.Errorf("new messages go to %q, want what lay below", got)
	}
	refs, _ := r.store.Refs(t.Context(), "", 3.5)
	pairs, err := r.store.Load(t.Context(), []int64{refs[0].Seq})
	if err != nil || pairs[0].Topic != "Bots" {
		t.Errorf("the pair is in %q (%v), want Bots", pairs[0].Topic, err)
	}
}

func TestPairGetsANewTopic(t *testing.T) {
	r := start(t, 100, 30, say("ok"))
	r.Type("hello", tuitest.Send)
	r.Wait("1/1")
	r.WaitGone("working") // else esc would cancel
	r.Type(tuitest.Esc, "t")
	r.Wait("Topic of this message")
	r.Type("Fresh > Start", tuitest.Key("alt+n"))
	r.Wait("topic: Fresh > Start")
	if got := topicsOf(t, r); !slices.Equal(got, []string{"Fresh", "Fresh > Start"}) {
		t.Errorf("the tree is %q", got)
	}
}

// Enter creates the typed topic if there is none like it.
func TestEnterCreatesATopicThatNothingMatches(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{told("apples?", "green")}})
	d.Wait("apples?")
	d.goTo("VIEW")
	d.Type("t")
	d.Wait("Topic of this message")
	d.Type("100% Tests")
	d.Wait("nothing matches: enter creates “100% Tests”")
	d.Wait("enter creates it · esc closes")
	d.Type(tuitest.Enter)
	d.says("topic: 100% Tests")
	d.Type("t", "Tests")
	d.Wait("enter selects · esc closes")
	d.Type(tuitest.Esc, tuitest.Key("ctrl+t"), "Fresh", tuitest.Enter)
	d.says("new messages go to Fresh")
}

func TestTopicIsNotDeletedUnasked(t *testing.T) {
	r := start(t, 100, 30)
	r.Type(tuitest.Key("ctrl+t"), "Work", tuitest.Key("alt+n"))
	r.Wait("new messages go to Work")
	r.Type(tuitest.Key("ctrl+t"), tuitest.Key("alt+d"))
	r.Wait("Delete the topic Work?")
	r.Type(tuitest.Esc)
	r.WaitGone("Delete the topic")
	if got := topicsOf(t, r); !slices.Equal(got, []string{"Work"}) {
		t.Errorf("the tree is %q", got)
	}
}

func TestTopicThatExistsIsNotTaken(t *testing.T) {
	r := start(t, 100, 30)
	for _, name := range []string{"One", "Two"} {
		r.Type(tuitest.Key("ctrl+t"), name, tuitest.Key("alt+n"))
		r.Wait("new messages go to " + name)
	}
	r.Type(tuitest.Key("ctrl+t"), tuitest.Key("alt+r"))
	r.Wait("Rename Two")
	r.Type(tuitest.Key("ctrl+u"), "One", tuitest.Enter)
	r.Wait("already exists")
	if got := r.session.Topic(); got != "Two" {
		t.Errorf("new messages go to %q, want what was", got)
	}
}

func TestColonTopicAsksBeforeItMakesOne(t *testing.T) {
	r := start(t, 100, 30, say("ok"))
	r.Type("hello", tuitest.Send)
	r.Wait("1/1")
	r.WaitGone("working") // else esc would cancel
	line := func(text string) {
		r.Type(tuitest.Esc)
		r.Wait("VIEW")
		r.Type("f", tuitest.Key("ctrl+u"), text, tuitest.Enter)
	}
	line("x :topic New")
	r.Wait("There is no topic New")
	r.clock.Advance(overlayGuard)
	r.Type("n")
	r.Wait("nothing was changed")
	if got := topicsOf(t, r); len(got) != 0 {
		t.Fatalf("the tree is %q, want nothing made", got)
	}
	r.Type("f", tuitest.Key("ctrl+u"), "x :topic New", tuitest.Enter)
	r.Wait("There is no topic New")
	r.clock.Advance(overlayGuard)
	r.Type("y")
	r.Wait("1 message moved to New · u undoes it")
	if got := topicsOf(t, r); !slices.Equal(got, []string{"New"}) {
		t.Errorf("the tree is %q", got)
	}
}

func TestFavouriteModelsComeFirst(t *testing.T) {
	r := start(t, 100, 30)
	r.Type(tuitest.Key("ctrl+l"), tuitest.Up)
	r.Wait("›   other")
	r.Type(tuitest.Key("alt+f"))
	r.Wait("favourites")
	for n := 0; ; n++ { // it is kept in the background, which no frame tells
		kept, err := r.store.Get(t.Context(), "favourite models")
		if err == nil && kept == "test/other" {
			break
		}
		if n == 1000 {
			t.Fatalf("kept is %q, %v", kept, err)
		}
		r.Type(tuitest.Down, tuitest.Up)
	}
	r.Type(tuitest.Key("home"), tuitest.Enter)
	r.Wait("test/other is now in use") // the recent models are read then
	r.Type(tuitest.Key("ctrl+l"))
	r.Until(func(f string) bool {
		return strings.Contains(f, "favourites") && strings.Count(f, "test/other") == 1 && !strings.Contains(f, "recent") // each model once
	})
	if msg, ok := loadStart(r.model.opts.Parts)().(startLoadedMsg); !ok || !slices.Equal(msg.Favourites, []string{"test/other"}) {
		t.Errorf("the next start knows the favourites %q", msg.Favourites)
	}
	r.Type(tuitest.Key("alt+f"))
	r.WaitGone("favourites")
}

// The question before a topic is deleted tells topics apart that look alike.
func TestDeletingATopicHidesNothing(t *testing.T) {
	at.CheckConfirmation(t, func(name string) string {
		return string(deleteTopic(name).(question).title)
	})
}
