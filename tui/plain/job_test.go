package plain

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
)

// TestWholeMainJob asks, sees what was done, is asked, saves, and goes back;
// all of it is in the transcript.
func TestWholeMainJob(t *testing.T) {
	script := at.NewScript(
		at.Answer{at.Think("The user wants a cat."), at.Say("I add one word. "), at.Say("It takes a moment."), add("cat")},
		at.Answer{at.Say("Done. Nothing is saved yet.\nSUGGESTED_VALUES: {\"values\":[{\"label\":\"Save\",\"value\":\"save it\"}]}")},
		at.Answer{save},
		at.Answer{at.Say("Saved.")},
	)
	r := start(t, script, nil)
	r.say("add a cat")
	r.wait("/1 Save")
	r.say("/rules")
	r.say("/1")
	r.answer("Type yes to do it: ", "yes")
	r.say("/rollback")
	r.say("/undo")
	r.answer("rules to undo only the change: ", "rules")
	r.say("/save")
	r.answer("Type yes to save: ", "yes")
	r.say("/undo rollback")
	r.say("/status")
	r.say("/quit")
	r.answer("Type save, keep, discard or stay: ", "keep")
	if status := r.end(); status != exitOK {
		t.Errorf("status %d", status)
	}
	golden(t, "main-job.txt", steady(r.all()))
}

// steady takes out of a transcript what depends on the place and on prompts.
func steady(text string) string {
	text = regexp.MustCompile(`\d+ are for the system prompt`).ReplaceAllString(text, "N are for the system prompt")
	return strings.ReplaceAll(text, newClock().Now().Local().Format("15:04"), "HH:MM")
}

func TestConfirmOnlyYes(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		saved  bool
		queued bool
	}{
		"yes":       {"yes", true, false},
		"Yes":       {" Yes ", true, false},
		"y":         {"y", false, false},
		"empty":     {"", false, false},
		"no":        {"no", false, false},
		"a message": {"rather add a dog", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			gate := at.NewGate() // the turn runs on until what was typed is handled
			r := start(t, at.NewScript(at.Answer{add("cat"), save}, at.Answer{at.Stop{At: gate}, at.Say("Well.")}), nil)
			r.say("go")
			r.answer("Type yes to do it: ", c.answer)
			r.wait("Tool: save_words")
			gate.Open()
			if c.queued {
				r.wait("You: rather add a dog\n")
			}
			r.wait("Assistant: Well.")
			r.wait("You: ")
			if got := slices.Contains(r.window.Saved(), "cat"); got != c.saved {
				t.Errorf("saved %v, want %v", got, c.saved)
			}
		})
	}
}

// TestConfirmTypedEarly types the answer before the question is there, and too
// soon after it for anyone to have read it.
func TestConfirmTypedEarly(t *testing.T) {
	gate := at.NewGate()
	r := start(t, at.NewScript(at.Answer{at.Say("Wait. "), at.Stop{At: gate}, add("cat"), save}, at.Answer{at.Say("Well.")}), nil)
	r.say("go")
	r.wait("Wait.")
	r.blind("yes")
	gate.Open()
	r.wait("Type yes to do it: ")
	r.wait("does not count as an answer.")
	r.wait("Type yes to do it: ")
	r.blind("yes") // the clock has not moved
	r.wait("does not count as an answer.")
	if slices.Contains(r.window.Saved(), "cat") {
		t.Fatal("saved by a line that was typed before the question")
	}
	r.answer("Type yes to do it: ", "yes")
	r.wait("Tool: save_words, done: saved")
}

// TestConfirmNobodyThere is the console of a script: what lasts is not done.
func TestConfirmNobodyThere(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat"), save}, at.Answer{at.Say("Well.")}), func(o *testOptions) {
		o.Interactive, o.In = false, strings.NewReader("go\nyes\n/save\nyes")
	})
	if status := r.end(); status != exitOK {
		t.Errorf("status %d", status)
	}
	if got := r.window.Saved(); slices.Contains(got, "cat") {
		t.Errorf("saved: %q", got)
	}
	golden(t, "script.txt", r.all())
}

func TestEveryWayToWriteAMessage(t *testing.T) {
	for name, c := range map[string]struct{ typed, sent string }{
		"line":               {"hello", "hello"},
		"continued":          {"one\\\ntwo\\\nthree", "one\ntwo\nthree"},
		"backslash at end":   {`C:\\`, `C:\`},
		"block":              {"\"\"\"\n/help\n\ntwo\\\n\"\"\"", "/help\n\ntwo\\"},
		"block in one line":  {`"""a "b" c"""`, `a "b" c`},
		"block from a line":  {"\"\"\"one\ntwo\"\"\"", "one\ntwo"},
		"two slashes":        {"//help", "/help"},
		"a number":           {"1", "1"},
		"escape sequences":   {"a\x1b[31mb\x07c", "abc"},
		"carriage returns":   {"one\r", "one"},
		"after empty lines":  {"\n\n  \nhello", "hello"},
		"no line end at all": {"hello", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			script := at.NewScript(at.Answer{at.Say("Hm.")})
			r := start(t, script, nil)
			r.wait("You: ")
			for l := range strings.SplitSeq(c.typed, "\n") {
				r.blind(l)
			}
			r.wait("Assistant: Hm.")
			all := script.Requests()[0].Messages
			if got := all[len(all)-1].Content; got != c.sent {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
		})
	}
}
