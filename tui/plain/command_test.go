package plain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

func TestRollbackAndBack(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil)
	r.say("add a cat")
	r.wait("In context: 1 of 1 messages.")
	r.say("/rollback 2")
	r.wait("Rolled back to before “added cat”")
	r.wait("The message was: add a cat")
	r.wait("In context: 0 of 0 messages.")
	r.wait("There are no unsaved changes.")
	if got := r.window.Words(); slices.Contains(got, "cat") {
		t.Errorf("words %q", got)
	}
	r.say("/undo rollback")
	r.wait("In context: 1 of 1 messages.")
	r.wait("There are unsaved changes")
	r.say("/rollback 2 rules")
	r.wait("There are no unsaved changes.")
	if n := len(r.session.Visible()); n != 1 {
		t.Errorf("%d pairs: the conversation was cut", n)
	}
	r.say("/rollback 9")
	r.wait("/rollback lists the checkpoints")
	r.say("/rollback 2 everything")
	r.wait("/rollback lists the checkpoints")
}

func TestUndoAsksAndOnlyYesCuts(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil)
	r.say("add a cat")
	r.wait("Well.")
	r.say("/undo")
	r.answer("undo only the change: ", "what?")
	r.wait("/retry sends it as a message.")
	r.wait("Nothing was done.")
	if got := r.window.Words(); !slices.Contains(got, "cat") {
		t.Errorf("words %q", got)
	}
	r.say("/undo")
	r.answer("undo only the change: ", "yes")
	r.wait("The message was: add a cat")
	if got := r.window.Words(); slices.Contains(got, "cat") {
		t.Errorf("words %q", got)
	}
}

func TestChoices(t *testing.T) {
	suggest := at.Say(`Well. SUGGESTED_VALUES: {"values":[{"label":"A dog","value":"add a dog"},{"label":"None","value":"stop"}]}`)
	script := at.NewScript(at.Answer{suggest})
	r := start(t, script, nil)
	r.say("/1")
	r.wait("You: add a cat") // the example
	r.wait("/2 None")
	r.say("/3")
	r.wait("There is no choice 3; choices offered: 2.")
	r.say("1") // a message
	r.wait("/2 None")
	r.say("/2")
	r.wait("You: stop")
	r.wait("/2 None")
	var sent []string
	for _, req := range script.Requests() {
		sent = append(sent, req.Messages[len(req.Messages)-1].Content)
	}
	if want := []string{"add a cat", "1", "stop"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestProposals(t *testing.T) {
	for choice, c := range map[string]struct {
		said string
		done bool
	}{
		"/1": {"Tool: add_word dog, done: added dog", true},
		"/2": {"Rejected; the assistant learns of it", false},
	} {
		t.Run(choice, func(t *testing.T) {
			pages := &assistant.Pages{}
			err := pages.AddPayload(assistant.PayloadType{
				Name: pane.RuleProposal, Source: assistant.FromLLM, Marker: "RULE_PROPOSAL:", Global: true,
				Summarize: func(json.RawMessage) string { return "add a dog" },
				Calls: func(json.RawMessage) ([]llm.Call, error) {
					return []llm.Call{{ID: "1", Name: "add_word", Arguments: `{"word":"dog"}`}}, nil
				},
			})
			if err == nil {
				err = pages.AddPage(assistant.Page{Name: "words"})
			}
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, at.NewScript(at.Answer{at.Say(`I propose. RULE_PROPOSAL: {"add":"dog"}`)}), nil,
				func(o *assistant.Options) { o.Pages = pages })
			r.say("go")
			r.wait("Rule proposal: add a dog")
			r.wait("/1 Accept: add a dog")
			r.say(choice)
			r.wait(c.said)
			r.wait("You: ")
			if got := slices.Contains(r.window.Words(), "dog"); got != c.done {
				t.Errorf("words %q", r.window.Words())
			}
		})
	}
}

// What an answer suggests to open is a command here; /rules stands in for a list
// that only a screen has.
func TestActionsOfAnAnswer(t *testing.T) {
	pages := &assistant.Pages{}
	actions := []assistant.ClientAction{{Action: "show_changes"}, {Action: "open_save"}, {Action: "find_models"}}
	if err := pages.AddPage(assistant.Page{Name: "words", ClientActions: actions}); err != nil {
		t.Fatal(err)
	}
	suggest := at.Say(`Well. SUGGESTED_ACTIONS: {"actions":[{"label":"Changes","action":"show_changes"},{"label":"Save","action":"open_save"},{"label":"Find","action":"find_models"}]}`)
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{suggest}), nil, func(o *assistant.Options) { o.Pages = pages })
	r.say("go")
	r.wait("/3 Find")
	r.say("/1")
	r.wait("+ ant cat")
	r.answer("Type yes to save: ", "no")
	r.say("/3")
	r.wait("word cat")
	r.say("/2")
	r.answer("Type yes to save: ", "yes")
	r.wait("Saved: 2 words")
}

func TestSaveAndDiscardAsk(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil)
	r.say("/save")
	r.wait("Nothing to save")
	r.say("go")
	r.wait("Well.")
	r.say("/save")
	r.answer("Type yes to save: ", "y")
	r.wait("y is not enough: only the whole word yes confirms.")
	r.wait("Nothing was done.")
	r.say("/discard")
	r.answer("Type yes to discard these changes: ", "no")
	r.wait("Nothing was done.")
	if got := r.window.Words(); !slices.Contains(got, "cat") || slices.Contains(r.window.Saved(), "cat") {
		t.Errorf("words %q, saved %q", got, r.window.Saved())
	}
	r.say("/save")
	r.answer("Type yes to save: ", "/status") // another action declines
	r.wait("Nothing was done.")
	r.wait("Window: words")
	r.say("/discard")
	r.answer("Type yes to discard these changes: ", "yes")
	r.wait("Discarded 1 unsaved change. /undo undoes it.")
	r.say("/undo")
	r.wait("There are unsaved changes")
	r.say("/save")
	r.answer("Type yes to save: ", "yes")
	r.wait("Saved: 2 words in the file.")
}

func TestQuitAsksWhenUnsaved(t *testing.T) {
	for answer, c := range map[string]struct {
		saved, words, ends bool
	}{
		"keep": {false, true, true}, "discard": {false, false, true},
		"stay": {false, true, false}, "": {false, true, false}, "yes": {false, true, false},
	} {
		t.Run("answer "+answer, func(t *testing.T) {
			r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil)
			r.say("go")
			r.wait("Well.")
			r.say("/quit")
			r.answer("Type save, keep, discard or stay: ", answer)
			if c.ends {
				r.end()
			} else {
				r.wait("Not quitting.")
			}
			if got := slices.Contains(r.window.Words(), "cat"); got != c.words {
				t.Errorf("words %q", r.window.Words())
			}
			if got := slices.Contains(r.window.Saved(), "cat"); got != c.saved {
				t.Errorf("saved %q", r.window.Saved())
			}
		})
	}
}

// Lines that are typed while the assistant works come after its answer.
func TestCommandsWhileItWorks(t *testing.T) {
	gate := at.NewGate()
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Half. "), at.Stop{At: gate}}), nil)
	r.say("go")
	r.wait("Half.")
	r.blind("/status")
	r.blind("/quit")
	gate.Open()
	r.wait("You: /status\nWindow: words\n")
	r.answer("Type save, keep, discard or stay: ", "save")
	r.answer("Type yes to save: ", "yes")
	r.wait("Saved: 2 words")
	if status := r.end(); status != exitOK {
		t.Errorf("status %d", status)
	}
}

func TestModels(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), nil)
	r.say("/model 1")
	r.wait("There is no model with that number")
	r.say("/model")
	r.wait("1 other/one\n")
	r.wait("2 test/one, chosen\n")
	r.say("/model 1")
	r.wait("Model other/one is now in use.")
	r.say("/model one")
	r.wait("1 other/one, chosen\n  2 test/one\n")
	r.say("/model nothing")
	r.wait("No model is known by that name.")
	r.say("/model TEST")
	r.wait("Model test/one")
	r.say("/model nowhere/x")
	r.wait(`Error: model: there is no provider "nowhere".`)
}

// A model that its endpoint no longer lists is marked, is not sent to, and the text can
// be sent to another. A list of an earlier run says its age.
func TestAVanishedModel(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), nil)
	registry, listed := r.session.Registry(), time.Now().Add(-49*time.Hour)
	list := []llm.ModelInfo{{ID: "far/stays", Source: "cache", Retrieved: listed}, {ID: "far/leaves", Source: "cache", Retrieved: listed}}
	if err := registry.Add(llm.Provider{Name: "far", Model: at.NewScript()}); err != nil {
		t.Fatal(err)
	}
	registry.Learn(list...)
	r.say("/model far/leaves")
	r.wait("Model far/leaves is now in use.")
	r.say("/model far")
	r.wait("1 far/leaves, chosen\n")
	r.wait("The models of far were listed 2 days ago.")
	registry.Replace("far", list[:1])
	r.say("/model far")
	r.wait("1 far/leaves, gone, last seen " + listed.Format("2006-01-02") + ", chosen\n")
	r.say("hello")
	r.wait("far/leaves is no longer listed by its endpoint (last seen " + listed.Format("2006-01-02 15:04"))
	r.wait("/model chooses another")
	registry.LearnLimit("test/one", 5000, listed)
	r.say("/model test/one")
	r.wait("Model test/one")
	r.say("/status")
	r.wait("5000 tokens (an overflow error, " + listed.Format("2006-01-02") + ")")
	r.say("/retry")
	r.wait("Hm.")
}

func TestNewAndUnknown(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), nil)
	r.say("hello")
	r.wait("In context: 1 of 1 messages.")
	r.say("/message 2")
	r.wait("There is no such message")
	before := r.session.ID()
	r.say("/session new")
	r.wait("This is a new session.")
	if r.session.ID() == before {
		t.Error("the session is the old one")
	}
	r.say("/rolback 1")
	r.wait("There is no command /rolback. Did you mean 'rollback'?")
	r.say("/help")
	known := commands()
	for _, cmd := range keymap.CommandTable() {
		if cmd.Console == "" {
			continue // of the screen
		}
		r.wait("/" + cmd.Name)
		if known[cmd.Name] == nil {
			t.Errorf("/%s does nothing", cmd.Name)
		}
		delete(known, cmd.Name)
	}
	if len(known) > 0 {
		t.Errorf("%v are not in the help", known)
	}
}

func TestFilter(t *testing.T) {
	h := store(t)
	dir := t.TempDir()
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), func(o *testOptions) { o.History = h })
	for _, m := range []string{"about cats", "about dogs"} {
		r.say(m)
		r.wait("In context: ")
	}
	r.say("/filter c'cats'")
	r.wait("1 message. In context: 1 of 1 messages.")
	r.say("/messages")
	r.wait("Message 1 of 1:\n  1 about cats\n")
	r.say("/filter c'")
	r.wait("Filter: ")
	r.say("/filter")
	r.wait("Filter: c'cats'")
	r.say("/filter all")
	r.wait("2 messages. In context: 2 of 2 messages.")
	r.say("/filter c'dogs' :star 2")
	r.wait("1 message now has 2 stars.")
	r.say("/messages")
	r.wait("2 about dogs (2 stars)")
	r.say("/filter c'dogs' :star 1 --dry-run")
	r.wait("Would give 1 message 1 star.")
	r.say("/undo messages")
	r.wait("Undone: 1 message restored.")
	r.say("/messages")
	r.wait("2 about dogs\n")
	r.say("/undo messages")
	r.wait("There is no filter-line command")
	path := filepath.Join(dir, "out.md")
	r.say("/filter c'cats' :export md " + path)
	r.wait("1 message exported to ")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "about cats") || strings.Contains(string(text), "about dogs") {
		t.Errorf("exported %q, %v", text, err)
	}
	r.say("/filter c'cats' :export md " + path)
	r.wait("--force overwrites it")
	r.say("/filter c'cats' :delete")
	r.wait("“about cats”")
	r.answer("Type yes to do it: ", "yes")
	r.wait("1 message deleted.")
	r.wait("In context: 1 of 1 messages.")
	if sent, err := h.Sent(t.Context(), 10); err != nil || len(sent) != 2 {
		t.Errorf("sent messages %q, %v", sent, err)
	}
}

func TestSavedFilters(t *testing.T) {
	h := store(t)
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), func(o *testOptions) { o.History = h })
	r.say("about cats")
	r.wait("In context: ")
	r.say("/filter c'cats' :save aa")
	r.wait("Saved as @aa.")
	r.say("/filter @aa :save bb")
	r.wait("Saved as @bb.")
	r.say("/filter @bb :save aa")
	r.wait("a cycle: @bb → @aa → @bb")
	r.say("/filter :filters")
	r.wait("  @aa: c'cats'\n  @bb: @aa\n")
	r.say("/filter @bb")
	r.wait("1 message.")
	r.say("/filter :forget aa")
	r.wait("@aa is forgotten; the view is unchanged.")
	r.say("/filter")
	r.wait("Filter: c'cats'")
	r.say("/filter x :topic Cats")
	r.wait("Question: There is no topic Cats. Create it?")
	r.answer("Type yes to do it: ", "no")
	r.say("/filter x :star 3")
	r.wait("1 message now has 3 stars.")
	if lines, err := h.FilterLines(t.Context()); err != nil || slices.ContainsFunc(lines, func(l string) bool { return l == "@bb :save aa" || l == "x :topic Cats" }) {
		t.Errorf("lines that did nothing are kept: %q, %v", lines, err)
	}
}

func TestRecovery(t *testing.T) {
	for answer, dropped := range map[string]bool{"discard": true, "yes": false, "": false} {
		t.Run("answer "+answer, func(t *testing.T) {
			var window *at.Window
			r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), func(o *testOptions) { o.Recovery = []safetext.Text{"2 rules are unsaved."} },
				func(o *assistant.Options) {
					window = o.Window.(savedWords).Window
					if err := window.Type("bee"); err != nil {
						t.Fatal(err)
					}
				})
			r.wait("2 rules are unsaved.")
			r.answer("anything else keeps them: ", answer)
			r.say("/status")
			r.wait("Checkpoints: ")
			if got := !slices.Contains(window.Words(), "bee"); got != dropped {
				t.Errorf("discarded: %v", got)
			}
		})
	}
}

func TestMessageStartedAtTheEnd(t *testing.T) {
	h := store(t)
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), func(o *testOptions) { o.History = h })
	r.say(`"""`)
	r.blind("half of it")
	r.keys.Close()
	r.wait("The unfinished message was not sent.")
	r.end()
	if sent, err := h.Sent(t.Context(), 1); err != nil || !slices.Equal(sent, []string{"half of it"}) {
		t.Errorf("kept %q, %v", sent, err)
	}
}

// What was changed while a question was open is shown, and asked about again.
func TestAChangedPlanIsAskedAgain(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil)
	meanwhile := func(word string) {
		if err := r.session.Edit("add "+word, func() error { return r.window.Type(word) }); err != nil {
			t.Error(err)
		}
	}
	r.say("go")
	r.wait("Well.")
	r.say("/save")
	r.wait("+ ant cat")
	meanwhile("dog")
	r.answer("Type yes to save: ", "yes")
	r.wait("changed this after it was shown. This is what would be done now:")
	r.wait("+ ant cat dog")
	r.answer("Type yes to save: ", "yes")
	r.wait("Saved: 3 words")
	r.say("/rollback")
	r.wait("added cat")
	meanwhile("cow")
	r.say("/rollback 2")
	r.wait("changed this after it was shown")
	r.wait("add cow")
	r.answer("Type yes to undo all of these: ", "no")
	r.wait("Nothing was done.")
	r.say("/undo")
	r.wait("Rolled back to before “add cow”")
	meanwhile("fox")
	r.say("/undo rollback")
	r.wait("Undoing the rollback loses these later steps:")
	r.wait("add fox")
	meanwhile("hen")
	r.answer("Type yes to undo the rollback: ", "yes")
	r.wait("there have been changes since this question was shown")
	r.wait("add hen")
	r.answer("Type yes to undo the rollback: ", "yes")
	r.wait("The rollback is undone.")
	r.say("/discard")
	r.wait("would be lost")
	meanwhile("pig")
	r.answer("Type yes to discard these changes: ", "yes")
	r.wait("pig")
	r.answer("Type yes to discard these changes: ", "yes")
	r.wait("Discarded 2 unsaved changes")
	if got := r.window.Words(); !slices.Equal(got, []string{"ant", "cat", "dog"}) {
		t.Errorf("words %q", got)
	}
}

// What went wrong after a save, a rollback or its undo was done is shown.
func TestWarnings(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil, func(o *assistant.Options) {
		w := o.Window.(savedWords)
		w.saved = "The words were saved, but not yet durably."
		o.Window = w
	})
	r.say("go")
	r.wait("Well.")
	r.say("/save")
	r.answer("Type yes to save: ", "yes")
	r.wait("Saved: 2 words in the file.\nWarning: The words were saved, but not yet durably.\n")

	breaks := false
	r = start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil, func(o *assistant.Options) {
		w, journal := o.Window.(savedWords), o.Journal
		w.applied = func() {
			if breaks {
				_ = os.Remove(journal.Path()) // its later records fail
			}
		}
		o.Window = w
	})
	r.say("go")
	r.wait("Well.")
	r.wait("You: ")
	breaks = true
	r.blind("/rollback 2 rules")
	r.wait("Warning: the rollback was done, but could not be recorded")
	if words := r.window.Words(); slices.Contains(words, "cat") {
		t.Errorf("words %q", words)
	}
}
