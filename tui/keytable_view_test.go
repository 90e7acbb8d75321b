package tui

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// longAnswer fills more than a screen.
func longAnswer(name string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%s line %d\n\n", name, i)
	}
	return b.String()
}

func proveBoundaryKey(t *testing.T) {
	t.Helper()
	for _, key := range []string{"O", "o"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			var pairs []assistant.Pair
			for i := range 12 {
				p := told(fmt.Sprintf("question %d", i), "[[tool:0]]answer")
				p.ToolCalls = []assistant.ToolCall{heavyCall()} // some of them fit 64,000 tokens
				pairs = append(pairs, p)
			}
			d := startProgram(t, setup{pairs: pairs})
			d.Wait("/12")
			d.Type(tuitest.Tab, key)
			d.says("the request starts here")
			d.Until(func(frame string) bool {
				for y, line := range strings.Split(frame, "\n") {
					if strings.Contains(line, "sent from here on") {
						const top, bottom, lines = 1, 26, 6 // of the chat, and of the pair
						middle := (top+bottom)/2 - lines/2
						return y >= middle-1 && y <= middle+1
					}
				}
				return false
			})
		})
	}
	t.Run("all included", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "an answer")}})
		d.Wait("1/1")
		d.Type(tuitest.Tab, "O")
		d.says("the only message is sent")
	})
}

// heavyCall weighs about 6,000 tokens and is one line on the screen.
func heavyCall() assistant.ToolCall {
	return assistant.ToolCall{
		ID: "c", Name: "explain_model_status", Arguments: []byte(`{"model":"o3"}`),
		Result: &assistant.ToolResult{Success: true, Message: strings.Repeat("word ", 4200)},
	}
}

func proveMoving(t *testing.T) {
	t.Helper()
	t.Parallel()
	pairs := []assistant.Pair{
		told("message 0", longAnswer("zero")), told("message 1", "needle one"), told("message 2", longAnswer("two")),
		told("message 3", "another needle"), told("message 4", longAnswer("four")),
	}
	d := startProgram(t, setup{pairs: pairs, answers: []at.Answer{
		{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-5*"}`}},
		say("a rule"),
		say("talk"),
		{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"o4*"}`}},
		say("another rule"),
	}})
	d.Wait("5/5")
	for i, shown := range []string{"a rule", "talk", "another rule"} {
		d.ask(fmt.Sprintf("message %d", 5+i), shown)
	}
	d.Type(tuitest.Tab)
	d.focused("message 7")
	for _, c := range []struct {
		keys []any
		at   string // of the focus
	}{
		{[]any{"g"}, "message 0"},
		{[]any{"j"}, "zero line 0"},
		{[]any{"k"}, "message 0"},
		{[]any{tuitest.Down}, "zero line 0"}, // longer than the screen: from here on down goes line by line
		{[]any{tuitest.Up}, "message 0"},
		{[]any{"J"}, "message 1"},
		{[]any{"j"}, "needle one"},
		{[]any{"j"}, "message 2"},
		{[]any{"k", "k"}, "message 1"},
		{[]any{"J"}, "message 2"},
		{[]any{"K"}, "message 1"},
		{[]any{"G"}, "message 7"},
		{[]any{"g", "/", "needle", tuitest.Enter}, "needle one"},
		{[]any{"n"}, "another needle"},
		{[]any{"N"}, "needle one"},
		{[]any{"G", "{"}, "message 5"},
		{[]any{"}"}, "message 7"},
	} {
		d.Type(c.keys...)
		d.focused(c.at)
	}
	for _, step := range [][2]tuitest.Key{{"ctrl+u", "ctrl+d"}, {"pgup", "pgdown"}} {
		d.Type("G")
		d.Wait("another rule")
		end := chatColumns(d.Frame())
		d.Type(step[0])
		d.Until(func(frame string) bool { return chatColumns(frame) != end })
		up := chatColumns(d.Frame())
		d.Type(step[0])
		d.Until(func(frame string) bool { return chatColumns(frame) != up })
		d.Type(step[1])
		d.Until(func(frame string) bool { return chatColumns(frame) == up })
	}
}

// chatColumns are the rows of the chat.
func chatColumns(frame string) string {
	lines := strings.Split(frame, "\n")
	for i, line := range lines {
		if at := strings.Index(line, "│"); at >= 0 {
			lines[i] = line[:at]
		}
	}
	return strings.Join(lines[2:len(lines)-7], "\n")
}

func proveEnter(t *testing.T) {
	t.Helper()
	t.Run("VIEW: a chip", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{answers: []at.Answer{say(`Which? SUGGESTED_VALUES: {"values":[{"label":"A","value":"take a"}]}`), say("a it is")}})
		d.ask("hello", "[alt+1 A: take a]")
		d.Type(tuitest.Tab, "j", "j")
		d.focused("›alt+1 A: take a]")
		d.Type(tuitest.Enter)
		d.Wait("a it is")
		if got := lastUser(d.script); got != "take a" {
			t.Errorf("enter on the chip sends %q", got)
		}
	})
	t.Run("VIEW: else", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("hello", "an answer")}})
		d.Wait("1/1")
		d.Type(tuitest.Tab)
		d.in("VIEW")
		d.Type(tuitest.Enter)
		d.in("INPUT")
	})
	t.Run("COMMAND", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples"), told("pears?", "about pears")}})
		d.Wait("2/2")
		d.goTo("COMMAND")
		d.Type(tuitest.Key("ctrl+u"), "c'apples'", tuitest.Enter)
		d.in("VIEW")
		d.WaitGone("about pears")
		d.Wait("about apples")
		d.Wait("1/1")
	})
	t.Run("PANE", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.goTo("PANE")
		d.Type("j", tuitest.Enter) // the second rule; its models are picked out
		d.on("o3*")
		d.Type("]")
		d.Wait("›Models")
		d.on("o3")
	})
}

// paneRow is the line of the pane with this text.
func paneRow(frame, text string) string {
	for _, line := range strings.Split(frame, "\n") {
		if r := []rune(line); len(r) > 72 && strings.Contains(string(r[72:]), text) {
			return string(r[72:])
		}
	}
	return ""
}

func proveFolding(t *testing.T) {
	t.Helper()
	t.Parallel()
	d := startProgram(t, setup{w: 120, h: 60, answers: []at.Answer{
		{at.Think("deep thought"), at.Say("Adding."), at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-5*"}`}},
		say("Added."),
	}})
	d.ask("do it", "Added.")
	d.Wait("▸ thinking")
	d.Type(tuitest.Tab, "j")
	d.focused("▸ thinking")
	d.Type(tuitest.Space)
	d.Wait("▾ thinking")
	d.Wait("deep thought")
	d.Wait("▸ ✓ ")
	d.Type(tuitest.Space)
	d.Wait("▸ thinking")
	d.WaitGone("deep thought")
	d.Type("j", "j")
	d.focused("▸ ✓ ")
	d.Type(tuitest.Space)
	d.Wait(`"pattern": "gpt-5*"`)
	d.Type(tuitest.Space)
	d.WaitGone(`"pattern": "gpt-5*"`)
	d.Type("z")
	d.Wait("deep thought")
	d.Wait(`"pattern": "gpt-5*"`)
	d.Type("z")
	d.Wait("▸ thinking")
	d.Wait("▸ ✓ ")
}

func proveErrorPair(t *testing.T) {
	t.Helper()
	two := []assistant.Pair{told("good", "fine"), failed("bad")}
	begin := func(t *testing.T) *fixture {
		t.Helper()
		t.Parallel()
		d := startProgram(t, setup{pairs: two, answers: []at.Answer{say("better now")}})
		d.Wait("[error: net] the line is dead")
		d.Type(tuitest.Tab)
		d.focused("bad")
		return d
	}
	check := func(t *testing.T, d *fixture, want string) {
		t.Helper()
		if got := d.texts(); got != want {
			t.Errorf("the pairs are %q, want %q", got, want)
		}
	}
	t.Run("r", func(t *testing.T) {
		d := begin(t)
		d.Type("r")
		d.Wait("better now")
		d.rest()
		d.WaitGone("[error")
		check(t, d, "good=fine bad=better now")
	})
	t.Run("e", func(t *testing.T) {
		d := begin(t)
		d.Type("e")
		d.in("INPUT")
		d.box("bad")
		d.Type(" idea", tuitest.Send)
		d.Wait("better now")
		d.rest()
		d.WaitGone("[error")
		check(t, d, "good=fine bad idea=better now")
	})
	t.Run("e and esc", func(t *testing.T) {
		d := begin(t)
		d.Type("e", tuitest.Esc)
		d.box("Type a message…")
		d.Type("other", tuitest.Send)
		d.Wait("better now")
		d.rest()
		check(t, d, "good=fine bad!net other=better now")
	})
	t.Run("d", func(t *testing.T) {
		d := begin(t)
		d.Type("d") // unasked
		d.WaitGone("[error")
		d.Wait("1/1")
		check(t, d, "good=fine")
	})
}

func proveGoodPair(t *testing.T) {
	t.Helper()
	begin := func(t *testing.T) *fixture {
		t.Helper()
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "old one"), told("two", "old two")}, answers: []at.Answer{say("new answer")}})
		d.Wait("old two")
		d.Type(tuitest.Tab)
		d.focused("two")
		return d
	}
	check := func(t *testing.T, d *fixture, want string) {
		t.Helper()
		if got := d.texts(); got != want {
			t.Errorf("the pairs are %q, want %q", got, want)
		}
	}
	t.Run("r on the last", func(t *testing.T) {
		d := begin(t)
		d.Type("r")
		d.Wait("new answer")
		d.rest()
		d.WaitGone("old two")
		check(t, d, "one=old one two=new answer")
	})
	t.Run("r that fails keeps the old answer", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("two", "old two")}, answers: []at.Answer{{at.Say("half of it"), at.Cut{}}}})
		d.Wait("old two")
		d.Type(tuitest.Tab, "r")
		d.says("the old answer stays")
		d.Wait("old two")
		d.Wait("‹1/2›")
		check(t, d, "two=old two")
	})
	t.Run("r on an old one", func(t *testing.T) {
		d := begin(t)
		d.Type("K", "r")
		d.says("only the last answer")
		check(t, d, "one=old one two=old two")
	})
	t.Run("r asks when rules were changed", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{answers: []at.Answer{{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-5*"}`}}, say("Added."), say("new answer")}})
		d.ask("hide five", "Added.")
		d.Type(tuitest.Tab, "r")
		d.Wait("Regenerate?")
		d.Type(tuitest.Esc)
		d.says("nothing was changed")
		check(t, d, "hide five=[[tool:0]]\n\nAdded.")
		d.Type("r")
		d.Wait("Regenerate?")
		d.clock.Advance(overlayGuard)
		d.Type("y")
		d.hold("a new answer", func() bool { return d.texts() == "hide five=new answer" })
	})
	t.Run("e", func(t *testing.T) {
		d := begin(t)
		d.Type("K", "e")
		d.box("one")
		d.Type(" more", tuitest.Send)
		d.Wait("new answer")
		d.rest()
		check(t, d, "one=old one two=old two one more=new answer")
	})
	t.Run("d asks", func(t *testing.T) {
		d := begin(t)
		d.Type("d")
		d.Wait("Delete this message and its answer for good?")
		d.clock.Advance(overlayGuard)
		d.Type("n")
		d.WaitGone("Delete this message and its answer for good?")
		check(t, d, "one=old one two=old two")
		d.Type("d")
		d.Wait("Delete this message and its answer for good?")
		d.clock.Advance(overlayGuard)
		d.Type("y")
		d.WaitGone("old two")
		d.Wait("1/1")
		check(t, d, "one=old one")
	})
}

func proveCopying(t *testing.T) {
	t.Helper()
	t.Parallel()
	p := told("how?", "**Two**:\n\n```go\nx := 1\n```\n\n```sh\nls -l\n```")
	d := startProgram(t, setup{h: 40, w: 120, pairs: []assistant.Pair{told("before", "nothing"), p, told("after", "all")}})
	d.Wait("3/3")
	d.Type(tuitest.Tab, "K")
	d.focused("how?")
	for _, c := range []struct{ keys, said, want string }{
		{"y", "copied the answer", string(p.AssistantText)},
		{"c2", "copied code block 2", "ls -l"},
		{"c1", "copied code block 1", "x := 1"},
	} {
		d.copied = nil
		d.Type(c.keys)
		d.says(c.said)
		d.says("to the clipboard · OSC 52 sent")
		if len(d.copied) != 1 || strings.TrimSpace(d.copied[0]) != c.want {
			t.Errorf("%s copies %q, want %q", c.keys, d.copied, c.want)
		}
	}
	d.Type("c")
	d.Wait("Copy which code block?")
	d.Wait(" 2  ls -l")
	d.Wait("sh  1 line")
	d.Type(tuitest.Down, tuitest.Enter)
	d.says("copied code block 2")
	d.copied = nil
	d.Type("Y")
	d.says("copied the message and its answer")
	if len(d.copied) != 1 || !strings.Contains(d.copied[0], "how?") || !strings.Contains(d.copied[0], string(p.AssistantText)) {
		t.Errorf("Y copies %q", d.copied)
	}
	d.Type("v")
	d.Wait("**Two**:")
	d.Type("v")
	d.WaitGone("**Two**:")
	d.Type("x")
	d.Wait("the request that")
	d.Wait("▸ user  ~2  before")
	d.Type("r")
	d.Wait(`"Messages": [`)
	d.Type(tuitest.Esc)
	d.WaitGone("the request that")
	d.in("VIEW")
}

func proveMarking(t *testing.T) {
	t.Helper()
	t.Parallel()
	d := startProgram(t, setup{pairs: []assistant.Pair{told("hello", "an answer")}})
	d.Wait("1/1")
	d.Type(tuitest.Tab)
	d.focused("hello")
	for _, c := range []struct{ key, stars string }{
		{"*", "★"}, {"*", "★★"}, {"*", "★★★"}, {"*", ""}, {"2", "★★"}, {"3", "★★★"}, {"1", "★"}, {"0", ""},
	} {
		d.Type(c.key)
		d.Until(func(frame string) bool { return strings.Count(frame, "★") == len([]rune(c.stars)) })
	}
	d.Type("a")
	d.Wait("grey")
	d.Type("a")
	d.WaitGone("grey")
	d.Type("t", "AI > Agents", tuitest.Key("alt+n"))
	d.Until(func(frame string) bool {
		head, _, _ := strings.Cut(frame, "hello")
		return strings.Contains(head, "AI > Agents")
	})
}

// proveAnswersAndBranch shows < and > on the answers of a message, and B.
func proveAnswersAndBranch(t *testing.T) {
	t.Helper()
	t.Run("< and >", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "old one"), told("two", "old two")}, answers: []at.Answer{say("new answer")}})
		d.Wait("old two")
		check := func(want string) {
			t.Helper()
			if got := d.texts(); got != want {
				t.Errorf("the pairs are %q, want %q", got, want)
			}
		}
		d.Type(tuitest.Tab, "g<") // r would refuse the older message
		d.says("one answer · e edits and asks again")
		d.Type("G<")
		d.says("one answer · r asks for another")
		d.Type("r")
		d.Wait("‹2/2›")
		d.rest()
		d.Type("<")
		d.says("answer 1 of 2")
		d.Wait("old two")
		d.Wait("‹1/2›")
		check("one=old one two=old two")
		d.Type("<")
		d.says("this is answer 1 of 2")
		d.Type(">")
		d.Wait("‹2/2›")
		d.WaitGone("old two")
		check("one=old one two=new answer")
	})
	t.Run("B", proveBranch)
}
