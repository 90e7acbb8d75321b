package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

func proveChoosing(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"INPUT", "VIEW", "COMMAND", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{answers: []at.Answer{
				say(`Which? SUGGESTED_VALUES: {"values":[{"label":"A","value":"take a"},{"label":"B","value":"take b"}]}`), say("b it is"),
			}})
			d.ask("hello", "[alt+2 B: take b]")
			d.goTo(mode)
			d.Type(tuitest.Alt(9))
			if mode != "COMMAND" { // whose line stands in the footer
				d.says("there is no suggestion 9")
			}
			d.Type(tuitest.Alt(2))
			d.Wait("b it is")
			if got := lastUser(d.script); got != "take b" {
				t.Errorf("alt+2 sends %q", got)
			}
		})
	}
}

func proveHistories(t *testing.T) {
	t.Helper()
	t.Run("COMMAND", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples")}})
		d.Wait("1/1")
		d.goTo("COMMAND")
		d.Type(tuitest.Key("ctrl+u"), "s0", tuitest.Enter)
		d.in("VIEW")
		d.Wait("only s0 ")
		d.Type("f", tuitest.Key("ctrl+u"), "b", tuitest.Enter)
		d.in("VIEW")
		d.Wait("only b ")
		d.Type("f", tuitest.Key("ctrl+u"), "new")
		for _, c := range []struct {
			key  tuitest.Key
			line string
		}{{"ctrl+p", "b"}, {"up", "s0"}, {"ctrl+n", "b"}, {"down", "new"}} {
			d.Type(c.key)
			d.Until(func(frame string) bool { return strings.HasPrefix(footerOf(frame)+" ", " COMMAND  : "+c.line+" ") })
		}
	})
	t.Run("INPUT", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{answers: []at.Answer{say("answer one"), say("answer two")}})
		d.ask("one", "answer one")
		d.ask("two", "answer two")
		d.Type("first line", tuitest.Enter, "second line", tuitest.Up)
		d.box("first line|second line") // inside the text it moves the cursor
		for _, c := range []struct {
			key tuitest.Key
			box string
		}{{"up", "two"}, {"up", "one"}, {"down", "two"}, {"down", "first line|second line"}} {
			d.Type(c.key)
			d.box(c.box)
		}
	})
}

func proveRegions(t *testing.T) {
	t.Helper()
	t.Run("wide", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		for _, mode := range []string{"VIEW", "PANE", "INPUT"} {
			d.Type(tuitest.Tab)
			d.in(mode)
		}
		for _, mode := range []string{"PANE", "VIEW", "INPUT"} {
			d.Type(tuitest.ShiftTab)
			d.in(mode)
		}
	})
	t.Run("below 100 columns", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{w: 99, h: 30})
		d.WaitGone("Rules   Models")
		d.Type(tuitest.Tab)
		d.in("VIEW")
		d.Wait("What would you like")
		d.Type(tuitest.Tab)
		d.in("PANE")
		d.Wait("Rules   Models")
		d.WaitGone("What would you like")
		d.Type(tuitest.Tab)
		d.in("INPUT")
		d.Wait("What would you like")
		d.WaitGone("Rules   Models")
	})
	t.Run("COMMAND: the word", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.goTo("COMMAND")
		d.Type(tuitest.Key("ctrl+u"), "m'test/o", tuitest.Tab)
		d.Wait("m'test/other'")
		d.in("COMMAND")
	})
	t.Run("completion list", func(t *testing.T) { // not parallel: it changes the folder
		folder(t, map[string]string{"plan.txt": "the plan"})
		d := startProgram(t, setup{})
		d.Type("see @")
		d.Wait("› plan.txt")
		d.Type(tuitest.Tab)
		d.box("see @plan.txt")
		d.in("INPUT")
	})
}

func provePane(t *testing.T) {
	t.Helper()
	begin := func(t *testing.T) *fixture {
		t.Helper()
		t.Parallel()
		d := startProgram(t, setup{env: strings.Replace(testEnv, "gpt-3.5*,o3*", "gpt-3.5*,o3*,o4*", 1)})
		d.goTo("PANE")
		d.on("gpt-3.5*")
		return d
	}
	check := func(t *testing.T, d *fixture, want string) {
		t.Helper()
		if got := d.rules(); got != want {
			t.Errorf("the rules are %s, want %s", got, want)
		}
	}
	t.Run("j k g G", func(t *testing.T) {
		d := begin(t)
		for _, c := range [][2]string{{"j", "o3*"}, {"j", "o4*"}, {"k", "o3*"}, {"G", "o4*"}, {"g", "gpt-3.5*"}} {
			d.Type(c[0])
			d.on(c[1])
		}
	})
	t.Run("space, x", func(t *testing.T) {
		d := begin(t)
		d.Type(tuitest.Space) // selects and goes on
		d.on("o3*")
		d.Type("j", tuitest.Space, "x")
		d.says("deleted 2 rules")
		check(t, d, "ignore o3*")
	})
	t.Run("i", func(t *testing.T) { // and what was meant as a message is one
		d := begin(t)
		d.Type("i", "allow gpt-5.1")
		d.in("INPUT")
		d.box("allow gpt-5.1")
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*")
	})
	t.Run("f, F", func(t *testing.T) {
		d := begin(t)
		d.Type("f", tuitest.Key("ctrl+u"), "s3", tuitest.Enter)
		d.in("VIEW")
		d.Wait("s3")
		d.Type(tuitest.Tab)
		d.in("PANE")
		d.Type("F")
		d.WaitGone("s3")
	})
	t.Run("h", func(t *testing.T) {
		d := begin(t)
		d.Type("h", "gpt-5*")
		d.Wait("gpt-5*")
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*") // only previewed
		d.Type(tuitest.Enter)
		d.says("added ignore rule")
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*, ignore gpt-5*")
		d.Wait(" unsaved")
	})
	t.Run("a", func(t *testing.T) {
		d := begin(t)
		d.Type("a", "o3", tuitest.Enter)
		d.says("added allow rule")
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*, allow o3")
	})
	t.Run("w", func(t *testing.T) {
		d := begin(t)
		d.Type("w", "o3*")
		d.on("gpt-3.5*") // nothing is typed, and the cursor stays
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*")
	})
	t.Run("h, a pattern with blanks", func(t *testing.T) {
		d := begin(t)
		d.Type("h", "allow gpt-5.1 please", tuitest.Enter)
		d.Wait("Add a rule with spaces in it?")
		d.clock.Advance(overlayGuard)
		d.Type("n")
		d.WaitGone("Add a rule with spaces in it?")
		d.Wait("allow gpt-5.1 please") // it stays in the line
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*")
		d.Type(tuitest.Enter)
		d.Wait("Add a rule with spaces in it?")
		d.clock.Advance(overlayGuard)
		d.Type("y")
		d.says("added ignore rule")
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*, ignore allow gpt-5.1 please")
	})
	t.Run("x", func(t *testing.T) {
		d := begin(t)
		d.Type("j", "x")
		d.says("deleted ignore rule")
		check(t, d, "ignore gpt-3.5*, ignore o4*")
	})
	t.Run("p", func(t *testing.T) {
		d := begin(t)
		d.Type("p")
		d.Wait("─ Provider ─")
		d.Type("anth", tuitest.Enter)
		d.Wait("model filter · anthropic")
	})
	t.Run("/", func(t *testing.T) {
		d := begin(t)
		d.Type("]", "/", "preview")
		d.Until(func(frame string) bool {
			return paneRow(frame, "gpt-5-preview") != "" && paneRow(frame, "o4-mini") == ""
		})
	})
	t.Run("[ ] and arrows", func(t *testing.T) {
		d := begin(t)
		for _, c := range []struct {
			key tuitest.Key
			tab string
		}{{"]", "›Models"}, {tuitest.Right, "›Changes"}, {"]", "›All"}, {tuitest.Right, "›Rules"}, {"[", "›All"}, {tuitest.Left, "›Changes"}} {
			d.Type(c.key)
			d.Wait(c.tab)
		}
	})
	t.Run("ctrl+r", func(t *testing.T) {
		d := begin(t)
		d.Type(tuitest.Key("ctrl+r"))
		d.says("the network is down") // it was asked
		d.Wait("of 7 shown")
	})
	t.Run("D asks", func(t *testing.T) {
		d := begin(t)
		d.Type("x")
		d.Wait(" unsaved")
		for _, answer := range []string{"n", "y"} {
			d.Type("D")
			d.Until(func(frame string) bool { return strings.Contains(frame, "─ Discard") })
			d.clock.Advance(overlayGuard)
			d.Type(answer)
			d.WaitGone("─ Discard")
			if answer == "n" {
				check(t, d, "ignore o3*, ignore o4*")
			}
		}
		d.Wait("   saved")
		check(t, d, "ignore gpt-3.5*, ignore o3*, ignore o4*")
	})
}

// on waits until the cursor of the pane stands on a row with this text.
func (d *fixture) on(text string) {
	d.t.Helper()
	d.Until(func(frame string) bool {
		row := paneRow(frame, text)
		return strings.HasPrefix(strings.TrimLeft(row, "│ "), "›")
	})
}

func proveColonAndHelp(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"VIEW", "PANE"} {
		for key, title := range map[string]string{":": "─ Commands ─", "?": "─ Keys ─"} {
			t.Run(mode+" "+key, func(t *testing.T) {
				t.Parallel()
				d := startProgram(t, setup{})
				d.goTo(mode)
				d.Type(key)
				d.Wait(title)
				d.Type(tuitest.Esc)
				d.WaitGone(title)
				d.in(mode)
			})
		}
	}
	t.Run("INPUT: text", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.Type(":?")
		d.box(":?")
	})
}

func proveAnywhereButCommand(t *testing.T) {
	t.Helper()
	titles := map[tuitest.Key]string{
		"ctrl+p": "─ Commands ─", "ctrl+l": "─ Model ─", "ctrl+g": "─ Checkpoints ─", "ctrl+t": "─ Topic of new messages ─",
	}
	for _, mode := range []string{"INPUT", "VIEW", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{pairs: []assistant.Pair{told("old", "an old answer")}})
			d.Wait("1/1")
			d.goTo(mode)
			for key, title := range titles {
				d.Type(key)
				d.Wait(title)
				d.Type(tuitest.Esc)
				d.WaitGone(title)
				d.in(mode)
			}
			d.Type(tuitest.Key("ctrl+o"))
			d.says("no editor")
			d.Type(tuitest.Key("ctrl+n"))
			d.WaitGone("an old answer")
			d.in("INPUT")
		})
	}
	t.Run("COMMAND", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("old", "an old answer")}})
		d.Wait("1/1")
		d.goTo("COMMAND")
		for _, key := range []tuitest.Key{"ctrl+l", "ctrl+g", "ctrl+t", "ctrl+n", "ctrl+o", "ctrl+p", "ctrl+n"} {
			d.Type(key)
			d.in("COMMAND")
			if strings.Contains(d.Frame(), "╭─ ") {
				t.Errorf("%s opens something:\n%s", key, d.Frame())
			}
		}
		d.Type("s1")
		d.Wait("x") // the line still takes text
		d.Wait("an old answer")
	})
	t.Run("ctrl+n asks when rules are unsaved", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{pairs: []assistant.Pair{told("old", "an old answer")}})
		d.Wait("1/1")
		d.goTo("PANE")
		d.Type("x")
		d.Wait(" unsaved")
		d.Type(tuitest.Key("ctrl+n"))
		d.Wait("Start a new session?")
		d.clock.Advance(overlayGuard)
		d.Type("n")
		d.WaitGone("Start a new session?")
		d.Wait("an old answer")
		d.Type(tuitest.Esc, tuitest.Key("ctrl+n"))
		d.Wait("Start a new session?")
		d.clock.Advance(overlayGuard)
		d.Type("y")
		d.WaitGone("an old answer")
		d.Wait(" unsaved") // the rules stay as they are
	})
}

func proveAnywhere(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"INPUT", "VIEW", "COMMAND", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x")
			d.Wait(" unsaved")
			d.Type(tuitest.Tab)
			d.in("INPUT")
			d.goTo(mode)
			for key, title := range map[tuitest.Key]string{"f1": "─ Keys ─", "f2": "─ Context ─"} {
				d.Type(key)
				d.Wait(title)
				d.Type(key) // and closes
				d.WaitGone(title)
				d.in(mode)
			}
			d.Type(tuitest.F3)
			d.output("\x1b[?1002h")
			d.Type(tuitest.F3)
			d.output("\x1b[?1002l")
			d.Type(tuitest.CtrlS)
			d.Wait("Save these changes?")
			d.Wait("IGNORE_MODELS_OPENAI=o3*")
			d.clock.Advance(overlayGuard)
			d.Type("y")
			d.WaitGone(" unsaved")
			d.in(mode)
			if want := strings.Replace(testEnv, "gpt-3.5*,o3*", "o3*", 1); d.env() != want {
				t.Errorf("the file says %q, want %q", d.env(), want)
			}
		})
	}
}

func proveFunctionKeys(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"INPUT", "VIEW", "COMMAND", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{change: func(o *Options) { o.Connect = &connector{} }})
			d.goTo(mode)
			d.Type(tuitest.F3, tuitest.F3) // a notice to list
			for key, title := range map[tuitest.Key]string{"f4": "─ Notices ─", "f6": "─ Connect a model ─"} {
				d.Type(key)
				d.Wait(title)
				d.Type(key) // and closes
				d.WaitGone(title)
				d.in(mode)
			}
			d.Type(tuitest.Key("f5"))
			d.Wait(" of 64000 tokens")
			d.Type(tuitest.Key("f5"))
			d.WaitGone(" of 64000 tokens")
			d.in(mode)
			d.Type(tuitest.Key("f7"))
			d.in("PANE")
			d.WaitGone("│")
			d.Type(tuitest.Key("f7"))
			d.WaitGone("›Rules")
			d.Type(tuitest.Key("f7"))
			d.Wait(" Models ")
		})
	}
}

func proveFilterKeys(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"VIEW", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples"), told("pears?", "about pears")}})
			d.Wait("about pears")
			d.goTo(mode)
			d.Type("f", tuitest.Key("ctrl+u"), "c'apples'", tuitest.Enter)
			d.in("VIEW")
			d.WaitGone("about pears")
			if mode == "PANE" {
				d.Type(tuitest.Tab)
			}
			d.in(mode)
			d.Type("F")
			d.Wait("about pears")
			if got := d.session.Filter(); got != "x" {
				t.Errorf("the filter is %q", got)
			}
		})
	}
	t.Run("INPUT: text", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.Type("fF")
		d.box("fF")
	})
}

// output waits until the program has written this.
func (d *fixture) output(text string) {
	d.t.Helper()
	d.Until(func(string) bool { return strings.Contains(string(d.Output()), text) })
}

func proveUndo(t *testing.T) {
	t.Helper()
	t.Run("INPUT: typing", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.Type("one", tuitest.Space, "two", tuitest.CtrlZ)
		d.box("one")
		d.Type(tuitest.CtrlZ)
		d.box("Type a message…")
	})
	for _, key := range []tuitest.Key{"ctrl+w", "ctrl+u", "alt+backspace"} {
		t.Run("INPUT: what "+string(key)+" took", func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{})
			d.Type("one", key)
			d.box("Type a message…")
			d.Type(tuitest.CtrlZ)
			d.box("one")
		})
	}
	for _, mode := range []string{"VIEW", "PANE"} {
		t.Run(mode+": the user's change", func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x")
			d.Wait(" unsaved")
			if mode == "VIEW" {
				d.Type(tuitest.Esc)
			}
			d.in(mode)
			d.Type(tuitest.CtrlZ)
			d.WaitGone(" unsaved")
			if got := d.rules(); got != "ignore gpt-3.5*, ignore o3*" {
				t.Errorf("the rules are %s", got)
			}
		})
	}
	t.Run("the assistant's change asks", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{answers: []at.Answer{{at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-5*"}`}}, say("Added.")}})
		d.ask("hide five", "Added.")
		for _, c := range []struct{ answer, rules string }{
			{"n", "ignore gpt-3.5*, ignore o3*, ignore gpt-5*"}, {"y", "ignore gpt-3.5*, ignore o3*"},
		} {
			d.goTo("VIEW")
			d.Type(tuitest.CtrlZ)
			d.Wait("Undo the assistant's change?")
			d.clock.Advance(overlayGuard)
			d.Type(c.answer)
			d.WaitGone("Undo the assistant's change?")
			if c.answer == "y" {
				d.WaitGone("Added.")
				d.box("hide five")
			}
			if got := d.rules(); got != c.rules {
				t.Errorf("after %s the rules are %s, want %s", c.answer, got, c.rules)
			}
			d.Type("i")
			d.in("INPUT")
		}
	})
}

func proveCtrlC(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"INPUT", "VIEW", "PANE"} {
		t.Run(mode+": cancels, then quits", func(t *testing.T) {
			t.Parallel()
			gate := at.NewGate()
			d := startProgram(t, setup{answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}}}})
			d.Type("first", tuitest.Send)
			gate.Wait(t)
			d.Wait("half")
			d.goTo(mode)
			d.Type(tuitest.CtrlC)
			d.WaitGone("half")
			d.rest()
			if mode == "INPUT" {
				d.box("first")
				d.Type(tuitest.CtrlC) // clears
				d.box("Type a message…")
			}
			d.Type(tuitest.CtrlC)
			d.says("press ctrl+c again to quit")
			d.clock.Advance(doublePress) // too late
			d.Type(tuitest.CtrlC)
			d.says("press ctrl+c again to quit")
			d.Type(tuitest.CtrlC)
			if err := d.WaitEnd(); err != nil {
				t.Errorf("the program ended with %v", err)
			}
		})
	}
	t.Run("clears a line", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.goTo("COMMAND")
		d.Type("s2")
		d.Wait("x s2")
		d.Type(tuitest.CtrlC)
		d.WaitGone("xs2")
		d.in("COMMAND")
	})
	t.Run("closes an overlay", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{})
		d.Type(tuitest.F1)
		d.Wait("─ Keys ─")
		d.Type(tuitest.CtrlC)
		d.WaitGone("─ Keys ─")
	})
}

func proveCtrlQ(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"INPUT", "VIEW", "COMMAND", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{})
			d.goTo(mode)
			d.Type(tuitest.CtrlQ)
			if err := d.WaitEnd(); err != nil {
				t.Errorf("the program ended with %v", err)
			}
		})
	}
	for answer, want := range map[string]struct{ env, rules string }{
		"s": {strings.Replace(testEnv, "gpt-3.5*,o3*", "o3*", 1), "ignore o3*"},
		"k": {testEnv, "ignore o3*"},
		"d": {testEnv, "ignore gpt-3.5*, ignore o3*"},
		"n": {testEnv, "ignore o3*"},
	} {
		t.Run("unsaved rules: "+answer, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x")
			d.Wait(" unsaved")
			d.Type(tuitest.CtrlQ)
			d.Wait("There are unsaved rules")
			d.clock.Advance(overlayGuard)
			d.Type(answer)
			switch answer {
			case "n":
				d.WaitGone("There are unsaved rules")
				d.in("PANE")
			case "s":
				d.Wait("Save these changes?")
				d.clock.Advance(overlayGuard)
				d.Type("y")
				fallthrough
			default:
				if err := d.WaitEnd(); err != nil {
					t.Errorf("the program ended with %v", err)
				}
			}
			if d.env() != want.env || d.rules() != want.rules {
				t.Errorf("the file says %q and the rules are %s; want %q and %s", d.env(), d.rules(), want.env, want.rules)
			}
		})
	}
}

func proveOverlayKeys(t *testing.T) {
	t.Helper()
	t.Parallel()
	d := startProgram(t, setup{})
	d.Type(tuitest.CtrlP)
	d.Wait("›   Save the rules")
	for _, c := range []struct {
		key  tuitest.Key
		line string
	}{
		{"down", "›   Undo the newest change to the rules"},
		{"ctrl+n", "›   Hide models: add an ignore rule"},
		{"ctrl+p", "›   Undo the newest change to the rules"},
		{"up", "›   Save the rules"},
	} {
		d.Type(c.key)
		d.Wait(c.line)
	}
	d.Type("settings", tuitest.Enter)
	d.Wait("─ Settings ─")
}
